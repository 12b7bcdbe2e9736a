// @ts-check
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { makeReady, root } from "./ready.mjs";

/**
 * Runs the script "start" of an example, or another one of its scripts: `npm run example -- NAME [SCRIPT]`. Installs and
 * builds missing parts.
 */
const [name = "", script = "start"] = process.argv.slice(2);
const folder = path.join(root, "examples", name);
const manifest = path.join(folder, "package.json");

/** @type {Record<string, string>} */
const scripts = name !== "" && existsSync(manifest) ? (JSON.parse(readFileSync(manifest, "utf8")).scripts ?? {}) : {};
const line = scripts[script];
if (line === undefined) {
  const names = readdirSync(path.join(root, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  console.error(`There is no example "${name}" with a script "${script}". Examples: ${names.join(", ")}.`);
  process.exitCode = 1;
} else run(line);

/** @param {string} line a script such as `tsx server.ts` */
function run(line) {
  makeReady();
  const bin = path.join(root, "node_modules/.bin");
  const [command = "", ...args] = line.split(" ");
  // Node itself, and not a shell or npm, so that the signals of the terminal reach the example.
  const program = command === "tsx" ? [path.join(root, "node_modules/tsx/dist/cli.mjs")] : [];
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(path.delimiter) };
  const child = spawn(process.execPath, [...program, ...args], { cwd: folder, env, stdio: "inherit" });
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code) => (process.exitCode = code ?? 1));
}
