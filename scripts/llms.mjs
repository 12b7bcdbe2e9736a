// @ts-check
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { firstSentence, summaryOf, titleOf } from "../site/scripts/markdown.mjs";
import { filesOf, readNavigation } from "../site/scripts/navigation.mjs";
import { readManifest } from "./packages.mjs";
import { root } from "./ready.mjs";

/**
 * Returns `llms.txt` of a package: each guide, example and skill in it with a link and a sentence. The guides are in the order of
 * `docs/README.md`.
 *
 * @param {string} folder the folder of the package, such as `packages/host`
 * @param {ReadonlyMap<string, string>} texts the guides and examples, by their path in the package
 */
export function indexOf(folder, texts) {
  const { name, version, description } = readManifest(folder);
  const line = (/** @type {string} */ file, text = texts.get(file)) =>
    text === undefined ? [] : [`- [${titleOf(text)}](${file}): ${firstSentence(summaryOf(text))}`];
  const sections = readNavigation(readFileSync(path.join(root, "docs/README.md"), "utf8")).map((section) => ({
    title: section.title,
    lines: filesOf(section).flatMap((file) => line(file)),
  }));
  const examples = [...texts.keys()].filter((file) => /^examples\/.*\/README\.md$/.test(file));
  return [
    `# ${name}`,
    "",
    `> ${description}`,
    "",
    `The links are files of this package, and describe its version ${version}. Begin with [README.md](README.md).`,
    ...[...sections, { title: "Examples", lines: examples.flatMap((file) => line(file)) }, skillsIn(folder)]
      .filter(({ lines }) => lines.length > 0)
      .flatMap(({ title, lines }) => ["", `## ${title}`, "", ...lines]),
    "",
  ].join("\n");
}

/** The skills for coding agents in the folder of a package. @param {string} folder */
function skillsIn(folder) {
  const skills = path.join(root, folder, "skills");
  const names = existsSync(skills) ? readdirSync(skills) : [];
  const lines = names.map((name) => {
    const [, description] =
      /^description: (.*)$/m.exec(readFileSync(path.join(skills, name, "SKILL.md"), "utf8")) ?? [];
    return `- [${name}](skills/${name}/SKILL.md): ${description}`;
  });
  return { title: "Skills for coding agents", lines };
}
