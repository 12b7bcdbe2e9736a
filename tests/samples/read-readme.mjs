// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { publishedPackages } from "../../scripts/packages.mjs";
import { root } from "../../scripts/ready.mjs";

/**
 * A TypeScript sample of a README.
 *
 * @typedef {object} Sample
 * @property {string} file `client.ts`
 * @property {string} code
 * @property {boolean} compilesOnly marked as `ts compile`, because it needs a service
 * @property {string[]} printed the expected lines: comments such as `// → 3` behind `console.log`
 */

/** The READMEs that users see before they install anything, relative to the repository. */
export function readmes() {
  return ["README.md", ...publishedPackages().map(({ folder }) => `${folder}/README.md`)];
}

/** @param {string} readme @returns {Sample[]} */
export function typescriptSamples(readme) {
  return fences(readme, "ts").map(({ mark, code }, index) => ({
    file: /^\/\/ ([\w.-]+\.ts)\n/.exec(code)?.[1] ?? `sample-${index + 1}.ts`,
    code,
    compilesOnly: mark === "compile",
    printed: [...code.matchAll(/console\.log\(.*\);\s*\/\/ → (.*)$/gm)].map(([, text = ""]) => text),
  }));
}

/** The third-party packages that samples import. @param {readonly Sample[]} samples */
export function importedPackages(samples) {
  const names = samples.flatMap(({ code }) =>
    [...code.matchAll(/from "((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name = ""]) => name),
  );
  const own = publishedPackages().map(({ name }) => name);
  return [...new Set(names)].filter((name) => !own.includes(name) && name !== "node");
}

/** @param {string} readme @param {string} language */
function fences(readme, language) {
  const text = readFileSync(path.join(root, readme), "utf8");
  const pattern = new RegExp(`^\`\`\`${language}(?: (\\w+))?\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...text.matchAll(pattern)].map(([, mark, code = ""]) => ({ mark, code }));
}
