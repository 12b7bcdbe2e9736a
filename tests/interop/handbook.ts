import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The built command, run with this Node. */
export const command: string = path.join(root, "packages/cli/dist/main.js");
export const packages: string = path.join(root, "node_modules");

/** A copy of the handbook, which a test may change and write into. */
export async function copyHandbook(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(path.join(tmpdir(), "mcparley-handbook-"));
  const folder = path.join(parent, "handbook");
  await cp(path.join(root, "examples/handbook"), folder, {
    recursive: true,
    filter: (source) => !source.includes("node_modules") && !source.endsWith(`${path.sep}var`),
  });
  // So that the copy's tools find the packages that the original finds in the repository.
  await symlink(packages, path.join(parent, "node_modules"), "dir");
  return { folder, remove: () => rm(parent, { recursive: true, force: true }) };
}

export interface Running {
  url: string;
  /** All that the process wrote to stderr and stdout so far. */
  output: () => string;
  stop: () => Promise<void>;
}

/** Starts a program that serves HTTP, and waits until it names its URL. */
export async function startServer(
  args: readonly string[],
  pattern: RegExp,
  env: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        output += `${line}\n`;
        const match = pattern.exec(line);
        if (match) resolve(match[0]);
      });
    }
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}:\n${output}`)));
  });
  return { url, output: () => output, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

/** Serves a folder over HTTP with our command, on a port that the system assigns. */
export function serveFolder(folder: string, ...more: string[]): Promise<Running> {
  return startServer([command, "serve", folder, "--port", "0", ...more], /http:\/\/127\.0\.0\.1:\d+\/mcp/);
}
