// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { isGuide, pagesOfDocs } from "../../scripts/guides.mjs";
import { root } from "../../scripts/ready.mjs";
import { readmes } from "./read-readme.mjs";

/**
 * A step of a page: a file that the reader writes, or shell commands with the output that the page shows.
 *
 * @typedef {{ kind: "file"; name: string; code: string }} FileStep
 * @typedef {{ kind: "run"; lines: string[]; output: string[] }} RunStep
 */

/** The pages whose shell samples are run, relative to the repository: the READMEs, the home page of the site and the guides. */
export function pagesWithCommands() {
  const guides = pagesOfDocs().filter(isGuide);
  const pages = [...readmes(), "site/home.md", ...guides.map((name) => `docs/${name}`)];
  return pages.filter((page) => readSteps(page).some(({ kind }) => kind === "run"));
}

/**
 * Returns the steps of a page in their order. A file is a block that a paragraph such as "Write \`tsconfig.json\`:" introduces, or whose
 * first line is a comment with its name. Commands are a block \`shell\` or \`sh\`. The block \`text\` after it has lines of its output.
 *
 * @param {string} page
 * @returns {(FileStep | RunStep)[]}
 */
export function readSteps(page) {
  const text = readFileSync(path.join(root, page), "utf8");
  /** @type {(FileStep | RunStep)[]} */
  const steps = [];
  for (const [, before = "", language, mark, code = ""] of text.matchAll(
    /(.*)\n\n^```(\w*)(?: (\w+))?\n([\s\S]*?)^```$/gm,
  )) {
    const name = /^(?:.* )?Write `([\w./-]+)`:$/.exec(before)?.[1] ?? /^\/\/ ([\w.-]+\.ts)\n/.exec(code)?.[1];
    const last = steps.at(-1);
    if (name && mark !== "other" && mark !== "example") steps.push({ kind: "file", name, code });
    else if (language === "shell" || language === "sh")
      steps.push({ kind: "run", lines: code.replaceAll("\\\n", " ").trim().split("\n"), output: [] });
    else if (language === "text" && last?.kind === "run") last.output = code.trimEnd().split("\n");
  }
  return steps;
}
