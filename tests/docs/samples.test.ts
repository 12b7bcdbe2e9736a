import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Server as HttpServer } from "node:http";
import { Server as NetServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "node:util";
import { build } from "esbuild";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { compilePrograms } from "../support/compile-programs.mjs";
import { type Sample, documents, extractSamples, generated } from "./extract-samples.ts";

const samples = documents().flatMap((document) => extractSamples(document));
const programs = samples.filter(({ compilesOnly }) => !compilesOnly);
const isOnStdio = ({ code }: Sample): boolean => code.includes("serveStdio(");
const isTestFile = ({ file }: Sample): boolean => file.endsWith(".test.ts");
const usesNode = ({ code }: Sample): boolean => code.includes('from "node:test"');
const testFiles = programs.filter(isTestFile);

afterEach(() => {
  vi.restoreAllMocks();
});

test("the documents have samples, and most of them are run", () => {
  expect(samples.length).toBeGreaterThan(60);
  expect(programs.length / samples.length).toBeGreaterThan(0.75);
});

describe("every sample of the documents", () => {
  let errorsOf: (file: string) => string[];

  beforeAll(() => {
    ({ errorsOf } = compilePrograms(generated));
  });

  test.each(samples)("$label compiles", ({ file }) => {
    expect(errorsOf(file)).toEqual([]);
  });
});

describe("every sample runs and prints the stated output", () => {
  test.each(programs.filter((sample) => !isOnStdio(sample) && !isTestFile(sample)))(
    "$label",
    async ({ file, printed, printsNothingElse }) => {
      const lines: string[] = [];
      vi.spyOn(console, "log").mockImplementation((...args: unknown[]) => void lines.push(format(...args)));
      const servers = listenOnFreePorts();
      await import(/* @vite-ignore */ file);
      await Promise.all([...servers].map(closeServer));
      const isExpected = (line: string): boolean => printsNothingElse || printed.includes(line);
      expect(lines.filter(isExpected)).toEqual(printed);
    },
  );

  test.each(programs.filter(isOnStdio))("$label ends with its input", async (sample) => {
    const { status, stdout } = await runAsProgram(sample);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });

  test.each(testFiles.filter(usesNode))("$label passes", async (sample) => {
    const { status, stdout } = await runAsProgram(sample);
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/^# pass [1-9]/m);
  });

  // All files of a document at once, because each start of Vitest costs seconds.
  const folders = new Set(testFiles.filter((sample) => !usesNode(sample)).map(({ file }) => path.dirname(file)));
  test.each([...folders].map((folder) => [path.relative(generated, folder), folder]))(
    "%s passes",
    async (_, folder = "") => {
      const files = testFiles.filter((sample) => !usesNode(sample) && path.dirname(sample.file) === folder);
      const { status, stdout } = await runVitest(folder, files);
      expect(status, stdout).toBe(0);
      expect(stdout).toMatch(new RegExp(`Test Files {2}${files.length} passed`));
    },
  );
});

/**
 * Makes servers listen on free ports of loopback in place of the ones in the sample, such as 3000. Returns the servers that
 * the sample opens.
 */
function listenOnFreePorts(): Set<NetServer> {
  const opened = new Set<NetServer>();
  // oxlint-disable-next-line typescript/unbound-method -- called with its server below
  const listen = NetServer.prototype.listen as (...args: unknown[]) => NetServer;
  vi.spyOn(NetServer.prototype, "listen").mockImplementation(function (this: NetServer, ...args: unknown[]) {
    opened.add(this);
    const onListening = args.findLast((argument) => typeof argument === "function");
    return listen.call(this, { port: 0, host: "127.0.0.1" }, onListening);
  });
  return opened;
}

/** Closes a server that a sample leaves open for its reader. */
async function closeServer(server: NetServer): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  if (server instanceof HttpServer) server.closeAllConnections();
  await closed;
}

async function runAsProgram({ file }: Sample): Promise<{ status: number; stdout: string }> {
  const outfile = `${file}.mjs`;
  await build({ entryPoints: [file], outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  return runNode([outfile], path.dirname(file));
}

/** The time limits of `vitest.config.ts`, because a busy machine can take longer than the 5 seconds that are the default. */
const timeLimits = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 120_000 } } };

/** Runs the tests of a document as their reader does, apart from the time limits: with the default settings of Vitest. */
async function runVitest(folder: string, files: readonly Sample[]): Promise<{ status: number; stdout: string }> {
  const config = path.join(folder, "vitest.config.mjs");
  writeFileSync(config, `export default ${JSON.stringify({ test: timeLimits })};`);
  const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
  const names = files.map(({ file }) => path.basename(file));
  return runNode([vitest, "run", "--root", folder, "--config", config, ...names], folder);
}

/** Runs Node in a new process, without the settings of the test runner of this process. */
async function runNode(args: string[], cwd: string): Promise<{ status: number; stdout: string }> {
  const own = ([name]: [string, unknown]): boolean => !/^(VITEST|NODE_TEST|NODE_OPTIONS|NODE_ENV|TEST$)/.test(name);
  const env = { ...Object.fromEntries(Object.entries(process.env).filter(own)), NO_COLOR: "1" };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const [status] = (await once(child, "close")) as [number];
  return { status, stdout };
}
