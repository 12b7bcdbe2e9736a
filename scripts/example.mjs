// @ts-check
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { makeReady, root } from "./ready.mjs";
import { runProgram } from "./run-program.mjs";

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
} else {
  makeReady();
  const [command, ...args] = line.split(" ");
  // Node itself, and not a shell or npm, so that the signals of the terminal reach the example.
  const program = command === "tsx" ? [path.join(root, "node_modules/tsx/dist/cli.mjs")] : [];
  const PATH = [path.join(root, "node_modules/.bin"), process.env.PATH].join(path.delimiter);
  process.exitCode = await runProgram([...program, ...args], { cwd: folder, env: { ...process.env, PATH } });
}
