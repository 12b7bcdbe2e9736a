import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Running, command, copyHandbook, serveFolder, startServer } from "../interop/handbook.ts";
import { commandSamples, documents } from "./extract-samples.ts";

/** Has the command as `mcparley`, for the programs after `--`. */
const commands = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));
const samples = [...documents(), "examples/handbook/README.md"].flatMap(commandSamples);

describe("every command line of the documents works", () => {
  let server: Running;
  let folder: string;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ folder, remove } = await copyHandbook());
    server = await serveFolder(folder);
  });
  afterAll(async () => {
    await server.stop();
    await remove();
  });

  test.each(samples.filter(({ command: line }) => !isServe(line)))("$label", async ({ command: line }) => {
    const words = wordsOf(line.replaceAll("http://127.0.0.1:3333/mcp", server.url));
    const { status, stderr } = await run(words, path.dirname(folder));
    expect(stderr).not.toMatch(/error/i);
    expect(status).toBe(0);
  });

  test.each(samples.filter(({ command: line }) => isServe(line) && line.includes("--stdio")))(
    "$label ends with its input",
    async ({ command: line }) => {
      expect(await run(wordsOf(line), path.dirname(folder))).toMatchObject({ status: 0, stdout: "" });
    },
  );

  test.each(samples.filter(({ command: line }) => isServe(line) && !line.includes("--stdio")))(
    "$label serves until it is stopped",
    async ({ command: line }) => {
      // Another process may use the port of the sample, or the default port.
      const words = [...wordsOf(line.replaceAll(/--port[ =]\d+/g, "")), "--port", "0"];
      const served = words.map((word) => (word === "handbook" ? folder : word));
      const running = await startServer([command, ...served], /http:\/\/127\.0\.0\.1:\d+\/mcp/);
      await running.stop();
      expect(running.output()).toContain("is served at");
    },
  );
});

function isServe(line: string): boolean {
  return /^(npx )?mcparley serve/.test(line);
}

/** The words of a command line: quotes hold words together, a comment ends it, and `node` is the Node that runs this test. */
function wordsOf(line: string): string[] {
  const [, ...words] = (line.replace(/\s+# .*$/, "").match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) =>
    word.replaceAll('"', ""),
  );
  return words.map((word) => (word === "node" ? process.execPath : word));
}

/** Runs the command in the folder that has the handbook. */
async function run(words: string[], cwd: string): Promise<{ status: number; stdout: string; stderr: string }> {
  const env = { ...process.env, PATH: `${commands}${path.delimiter}${process.env["PATH"]}` };
  const child = spawn(process.execPath, [command, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = (await once(child, "close")) as [number];
  return { status, stdout, stderr };
}
