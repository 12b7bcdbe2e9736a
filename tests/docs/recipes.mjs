// @ts-check
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { npm, spawnNpm } from "../../scripts/npm.mjs";
import { root } from "../../scripts/ready.mjs";

/**
 * Runs the programs of `docs/serve/runtimes.md` for CommonJS and Jest with the packed library: installs them in a project with Jest and TypeScript, and runs each as the page describes. If the packages cannot be installed, it reports that nothing was run and fails nothing.
 */
const project = path.join(root, "tests/types/.generated/recipes");
const bin = (/** @type {string} */ file) => path.join(project, "node_modules", file);
const jest = bin("jest/bin/jest.js");
const tsc = bin("typescript/bin/tsc");

/** `fails`: the text with which a program ends. @type {Record<string, { args: string[]; modules?: boolean; fails?: string }>} */
const recipes = {
  "require in CommonJS": { args: ["require.cjs"] },
  "dynamic import with module node16, types": {
    args: [tsc, ..."--module node16 --target es2022 --strict --types node dynamic.ts".split(" ")],
  },
  "dynamic import with module node16": { args: ["dynamic.js"] },
  "static import with module nodenext, types": { args: [tsc, "-p", ".", "--module", "nodenext", "--noEmit"] },
  "tsx without type: module": { args: [bin("tsx/dist/cli.mjs"), "tsx.ts"], fails: "mcparley was loaded twice" },
  "Jest, ES modules": { args: [jest, "-c", "jest.modules.cjs"], modules: true },
  "Jest, CommonJS": { args: [jest, "-c", "jest.commonjs.cjs"] },
  "ts-jest": { args: [jest, "-c", "jest.typescript.cjs"] },
};

rmSync(project, { recursive: true, force: true });
mkdirSync(project, { recursive: true });
for (const [file, code] of programs()) writeFileSync(path.join(project, file), code);
let failures = 0;
if (install()) {
  for (const [name, { args, modules, fails }] of Object.entries(recipes)) {
    const env = { ...process.env, ...(modules && { NODE_OPTIONS: "--experimental-vm-modules" }) };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8", env });
    const isRight = fails === undefined ? status === 0 : status !== 0 && stderr.includes(fails);
    console.log(`${isRight ? "ok     " : "failed "}  ${name}`);
    if (!isRight) console.log(`${stdout}${stderr}`);
    if (!isRight) failures++;
  }
} else console.log("not run  The packages cannot be installed.");
rmSync(project, { recursive: true, force: true });
process.exitCode = failures > 0 ? 1 : 0;

/** Returns the programs of the page by their file names, which are in their first lines. */
function programs() {
  const [, page = ""] = readFileSync(path.join(root, "docs/serve/runtimes.md"), "utf8").split(
    "\n## CommonJS and Jest\n",
  );
  return [...page.matchAll(/^```\w+\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, file = "", code = ""]) => /** @type {const} */ ([file, code]),
  );
}

/** Installs the packed library and the tools. Returns whether that is possible. */
function install() {
  const tools =
    "jest@30 @types/jest@30 ts-jest@29 @babel/core@7 @babel/preset-env@7 typescript@5.9.3 tsx@4 @types/node@20";
  npm(["pack", "--pack-destination", project], { cwd: path.join(root, "packages/mcparley"), quiet: true });
  const packed = readdirSync(project).filter((file) => file.endsWith(".tgz"));
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ private: true, name: "recipes" }));
  const words = [...packed.map((file) => `./${file}`), ...tools.split(" ")];
  return spawnNpm(["install", "--no-audit", "--no-fund", "--silent", ...words], { cwd: project }).status === 0;
}
