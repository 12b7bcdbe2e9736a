import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "node:util";
import { build } from "esbuild";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type Sample, documents, extractSamples, generated } from "./extract-samples.ts";

const samples = documents().flatMap(extractSamples);
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

afterEach(() => {
  vi.restoreAllMocks();
});

test("the documents have samples", () => {
  expect(samples.length).toBeGreaterThan(20);
});

describe("every sample of the documents", () => {
  let complaints = "";

  beforeAll(() => {
    const compilerOptions = {
      target: "ES2022",
      lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
      module: "NodeNext",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: ["node"],
    };
    const config = path.join(generated, "tsconfig.json");
    writeFileSync(config, JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
    try {
      execFileSync(process.execPath, [tsc, "-p", config, "--pretty", "false"], { cwd: generated });
    } catch (error) {
      complaints = String((error as { stdout: Buffer }).stdout);
    }
  });

  test.each(samples)("$label compiles", ({ file }) => {
    const own = path.relative(generated, file).split(path.sep).join("/");
    expect(complaints.split("\n").filter((line) => line.startsWith(own))).toEqual([]);
  });
});

describe("every sample runs, and prints what it says", () => {
  test.each(samples.filter(({ code }) => !code.includes("serveStdio(")))("$label", async ({ file, printed }) => {
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((...args: unknown[]) => void lines.push(format(...args)));
    const exported = (await import(/* @vite-ignore */ file)) as Record<string, unknown>;
    for (const value of Object.values(exported)) await close(value);
    expect(lines).toEqual(printed);
  });

  test.each(samples.filter(({ code }) => code.includes("serveStdio(")))(
    "$label ends with its input",
    async (sample) => {
      const { status, stdout } = await runAsProgram(sample);
      expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    },
  );
});

/** Closes a server that a sample leaves open for its reader. */
async function close(value: unknown): Promise<void> {
  if (typeof value === "object" && value !== null && "url" in value && "close" in value) {
    await (value as { close(): Promise<void> }).close();
  }
}

async function runAsProgram({ file }: Sample): Promise<{ status: number; stdout: string }> {
  const outfile = `${file}.mjs`;
  await build({ entryPoints: [file], outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  const child = spawn(process.execPath, [outfile], { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const [status] = (await once(child, "close")) as [number];
  return { status, stdout };
}
