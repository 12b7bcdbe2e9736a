// @ts-check
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { publishedPackages } from "./packages.mjs";
import { root } from "./ready.mjs";
import { projectMembers, repository, withAddress } from "./release/project.mjs";

/**
 * Writes the address of the repository (`scripts/release/project.mjs`) into the manifests of the published packages, and into the
 * pages that name it. `--check` writes nothing and fails if a file differs.
 */
const isCheck = process.argv.includes("--check");
/** @type {string[]} */
const different = [];

for (const { folder } of publishedPackages()) {
  update(`${folder}/package.json`, (text) => withMembers(text, folder));
}
for (const page of pages()) update(page, (text) => withAddress(text));

process.stdout.write(`${different.length === 0 ? "ok" : isCheck ? "differ from" : "written for"}: ${repository}\n`);
for (const file of different) process.stdout.write(`  ${file}\n`);
if (isCheck && different.length > 0) process.exitCode = 1;

/** @param {string} file @param {(text: string) => string} change */
function update(file, change) {
  const text = readFileSync(path.join(root, file), "utf8");
  const changed = change(text);
  if (changed === text) return;
  different.push(file);
  if (!isCheck) writeFileSync(path.join(root, file), changed);
}

/** Sets the members that name the repository. `npm run format` puts new ones in their order. @param {string} text @param {string} folder */
function withMembers(text, folder) {
  return `${JSON.stringify({ ...JSON.parse(text), ...projectMembers(folder) }, undefined, 2)}\n`;
}

/** The pages that may name the repository: Markdown and YAML beside the source, and the configuration of the forge. */
function pages() {
  const folders = [".", ".github", "docs", ...publishedPackages().map(({ folder }) => folder)];
  return folders
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: folder === ".github", encoding: "utf8" })
        .map((name) => path.posix.join(folder, name.split(path.sep).join("/")))
        .filter((file) => /\.(md|ya?ml)$/.test(file) && statSync(path.join(root, file)).isFile()),
    );
}
