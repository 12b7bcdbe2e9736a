import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

/*
 * `npx mcparley` runs the only bin of the package `mcparley`. These tests replace the command with a program that prints its arguments.
 * `npm run check -- artifact` does the same with the packed packages and npm.
 */

const library = fileURLToPath(new URL("../../packages/mcparley", import.meta.url));
const source = path.join(library, "bin/mcparley-launcher.cjs");

let folder: string;
let launcher: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "mcparley-launcher-")));
  // Outside of the repository, whose `node_modules` has the command.
  launcher = path.join(folder, "library/bin/mcparley-launcher.cjs");
  write(launcher, readFileSync(source, "utf8"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

test("the package has one bin, with another name than that of the command", () => {
  const { bin } = JSON.parse(readFileSync(path.join(library, "package.json"), "utf8")) as { bin: object };
  expect(bin).toEqual({ "mcparley-launcher": "./bin/mcparley-launcher.cjs" });
});

test.each([
  ["of the project", "project", "project"],
  ["of a folder above", "project", "project/packages/a"],
  ["beside the library", "library", "elsewhere"],
])("runs the command %s with its arguments, input and exit code", async (_, place, cwd) => {
  installCommand(place);
  const { status, stdout } = await launch(["call", "a b", "--json"], { cwd, input: "text" });
  expect(stdout).toBe('["call","a b","--json"] text');
  expect(status).toBe(7);
});

test("prefers the command of the project to a global one", async () => {
  installCommand("global/lib", "global");
  installCommand("project");
  const { stdout } = await launch(["list"], { cwd: "project", env: { PATH: path.join(folder, "global/bin") } });
  expect(stdout).toBe('["list"] ');
});

test.each(["global/bin", "global/lib"])("runs a global command, if PATH has the folder %s", async (inPath) => {
  installCommand("global/lib", "global ");
  const { stdout } = await launch(["list"], { cwd: "project", env: { PATH: path.join(folder, inPath) } });
  expect(stdout).toBe('global ["list"] ');
});

test("names in one line the command that installs it, if it is not installed", async () => {
  const { status, stdout, stderr } = await launch(["list"], { cwd: "project" });
  expect(stderr).toMatch(
    /^[^\n]*\n {2}[^\n]*`npm install --save-dev @mcparley\/cli`[^\n]*\n {2}[^\n]*`npx @mcparley\/cli`[^\n]*\n$/,
  );
  for (const line of stderr.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(stdout).toBe("");
  expect(status).toBe(1);
});

test("ignores a command whose manifest names no program", async () => {
  write(path.join(folder, "project/node_modules/@mcparley/cli/package.json"), "{}");
  const { status, stderr } = await launch(["list"], { cwd: "project" });
  expect(stderr).toContain("npm install --save-dev @mcparley/cli");
  expect(status).toBe(1);
});

// Windows starts no scripts by their first line.
const onPosix = test.skipIf(process.platform === "win32");

onPosix("starts a mcparley in PATH with its arguments, input and exit code", async () => {
  const PATH = installProgram(printing(""));
  const { status, stdout } = await launch(["a b"], { cwd: "project", input: "text", env: { PATH } });
  expect(stdout).toBe('["a b"] text');
  expect(status).toBe(7);
});

onPosix.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "passes %s to a mcparley in PATH, and ends by it",
  async (signal) => {
    const child = start(["serve"], { cwd: "project", env: { PATH: installProgram(waiting) } });
    await once(child.stdout!, "data");
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([null, signal]);
  },
);

onPosix("waits for a mcparley in PATH that ends by itself after a signal", async () => {
  const handles = `process.on("SIGTERM", () => process.exit(3));\n${waiting}`;
  const child = start(["serve"], { cwd: "project", env: { PATH: installProgram(handles) } });
  await once(child.stdout!, "data");
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([3, null]);
});

/** A program that runs until a signal ends it. */
const waiting = `setInterval(() => {}, 60_000); process.stdout.write("ready");`;

/** A program that prints a text, its arguments and its input, and exits with code 7. */
function printing(prefix: string): string {
  return `process.stdout.write(${JSON.stringify(prefix)} + JSON.stringify(process.argv.slice(2)) + " " + require("node:fs").readFileSync(0)); process.exitCode = 7;`;
}

/** Writes a package @mcparley/cli below a folder. */
function installCommand(place: string, prefix = ""): void {
  const installed = path.join(folder, place, "node_modules/@mcparley/cli");
  write(path.join(installed, "package.json"), JSON.stringify({ bin: { mcparley: "./bin/mcparley.cjs" } }));
  write(path.join(installed, "bin/mcparley.cjs"), printing(prefix));
}

/** Writes a program `mcparley` into a folder, and returns the folder. */
function installProgram(code: string): string {
  const file = path.join(folder, "programs/mcparley");
  write(file, `#!${process.execPath}\n${code}`);
  chmodSync(file, 0o755);
  return path.dirname(file);
}

interface Run {
  /** Below the temporary folder. */
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

function start(args: string[], { cwd, env = {} }: Run): ChildProcess {
  mkdirSync(path.join(folder, cwd), { recursive: true });
  // An empty PATH, so that a `mcparley` of this machine is not found.
  return spawn(process.execPath, [launcher, ...args], { cwd: path.join(folder, cwd), env: { PATH: folder, ...env } });
}

async function launch(
  args: string[],
  { input = "", ...run }: Run & { input?: string },
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = start(args, run);
  child.stdin!.end(input);
  let [stdout, stderr] = ["", ""];
  child.stdout!.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, stdout, stderr };
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
