// @ts-check
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";

/**
 * Compiles all programs in a folder at once, with the settings of a strict project of ES modules. Writes a `tsconfig.json`
 * into the folder. Returns the lines of all errors, and a function that returns those of one file.
 *
 * Throws if the compiler reports an error that belongs to no program. Otherwise wrong settings would look like success.
 *
 * @param {string} folder
 */
export function compilePrograms(folder) {
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    module: "NodeNext",
    moduleDetection: "force",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ["node"],
  };
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", "tsconfig.json", "--pretty", "false"];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  const errors = stdout.split("\n").filter((line) => /\berror TS\d+:/.test(line));
  const others = errors.filter((line) => !/^[^(]+\.ts\(\d/.test(line));
  if (others.length > 0 || (status !== 0 && errors.length === 0)) {
    throw new Error(`The compiler failed with status ${status}. ${others.join("\n") || stdout}`);
  }
  const errorsOf = (/** @type {string} */ file) => {
    const name = path.relative(folder, file).split(path.sep).join("/");
    return errors.filter((line) => line.startsWith(`${name}(`));
  };
  return { errors, errorsOf };
}
