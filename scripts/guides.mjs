// @ts-check
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { publishedPackages, readManifest } from "./packages.mjs";
import { indexOf } from "./llms.mjs";
import { root } from "./ready.mjs";
import { imagesOf } from "../site/scripts/images.mjs";
import { withoutFrontMatter } from "../site/scripts/markdown.mjs";
import { repository } from "./release/project.mjs";

/**
 * Copies guides of `docs/` and small examples into the packages, so that coding agents and readers without a network find them in
 * `node_modules/mcparley` and beside the README of each package. Writes their index, `llms.txt`. `npm run build` runs it.
 *
 * The package of the command also receives the folder `examples/handbook`, which its guides serve.
 *
 * Links to files that are not in the package become addresses on the forge, at the tag of the version. Without an address of the
 * repository, only their labels remain. The padding of tables is removed, because it is a third of the text.
 */

/** Tables of what the tests check. They are for contributors, and large. */
const tables = [
  "internals/broken-peers.md",
  "internals/client-states.md",
  "internals/client-under-faults.md",
  "internals/pitfalls.md",
];

/** The pages of each package: all guides for the users of the library, and those of its subject for another package. */
const guidesOf = /** @type {Readonly<Record<string, RegExp>>} */ ({
  // Not the page for readers who choose a library, and no tables of results.
  mcparley: /^(?!start\/why-mcparley|reference\/(chat-document|command-options|entry-members|issuers|runtime-results))/,
  "@mcparley/cli":
    /^(cli\/.*|serve\/folder.*|start\/(add-to-a-host|first-folder)|reference\/(chat-document|command-options|entry-members|troubleshooting))\.md$/,
  "@mcparley/config": /^(start\/add-to-a-host|hosts\/host-configurations)\.md$/,
  "@mcparley/host":
    /^(hosts\/(consent|host|model-loop)|reference\/(consent-rules|host-options)|start\/first-host)\.md$/,
  "@mcparley/redis": /^operate\/(deployment|multiple-processes)\.md$/,
  "create-mcparley": /^start\/first-server\.md$/,
});

/** The examples in each package: small ones, which need no other package of this repository. */
const examplesOf = /** @type {Readonly<Record<string, readonly string[]>>} */ ({
  mcparley: ["api-keys", "approval", "long-task", "oauth"],
});

/** Returns the pages of `docs`, relative to it, without the decision records. */
export function pagesOfDocs() {
  return readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(path.sep, "/"))
    .filter((file) => file.endsWith(".md") && !file.startsWith("internals/adr/"))
    .toSorted();
}

/** Whether a page of `docs` is for users of the library, and no table of what the tests check. @param {string} file */
export function isGuide(file) {
  return !tables.includes(file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, folder } of publishedPackages()) {
    for (const generated of ["docs", "examples"])
      rmSync(path.join(root, folder, generated), { recursive: true, force: true });
    for (const [file, text] of shippedTexts(name)) {
      const target = path.join(root, folder, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }
  copyHandbook(path.join(root, "packages/cli/handbook"));
}

/** Copies the folder `examples/handbook` for users of the command. The command provides `mcparley` to its tools. @param {string} target */
function copyHandbook(target) {
  const folder = "examples/handbook";
  const source = path.join(root, folder);
  const isLeftOut = (/** @type {string} */ file) =>
    /^(node_modules|var|tsconfig\.json|\.gitignore)$/.test(path.relative(source, file));
  rmSync(target, { recursive: true, force: true });
  cpSync(source, target, { recursive: true, filter: (file) => !isLeftOut(file) });
  const { mcparley: _, ...dependencies } = readManifest(folder).dependencies ?? {};
  const manifest = { ...readManifest(folder), dependencies };
  writeFileSync(path.join(target, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const readme = readFileSync(path.join(source, "README.md"), "utf8");
  writeFileSync(
    path.join(target, "README.md"),
    withOutsideLinks(readme, { folder, shipped: new Set(), own: "packages/cli", address: repository }),
  );
}

/**
 * Returns the texts that the build writes into a package, by their path in it: the guides and their pictures in `docs`, the
 * examples, and the index `llms.txt`. Guides and examples have the same paths as in the repository, so that their links are valid.
 *
 * @param {string} name the package
 * @param {string | undefined} address the address of the repository
 */
export function shippedTexts(name, address = repository) {
  const sources = sourcesOf(name);
  const own = publishedPackages().find((published) => published.name === name)?.folder ?? "";
  const context = { shipped: new Set(sources.keys()), own, address };
  /** @type {Map<string, string>} */
  const texts = new Map();
  for (const [file, source] of [...sources].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const folder = path.posix.dirname(file);
    const text = file.startsWith("examples/") ? asCopiedExample(source, folder) : source;
    texts.set(file, file.endsWith(".md") ? withoutPadding(withOutsideLinks(text, { folder, ...context })) : text);
  }
  return texts.set("llms.txt", indexOf(own, texts));
}

/** Returns the files of the repository that a package contains as texts, by their path. @param {string} name */
function sourcesOf(name) {
  /** @type {Map<string, string>} */
  const sources = new Map();
  const add = (/** @type {string} */ file) =>
    sources.set(file, withoutFrontMatter(readFileSync(path.join(root, file), "utf8")));
  for (const page of pagesOfDocs().filter((file) => isGuide(file) && guidesOf[name]?.test(file))) add(`docs/${page}`);
  for (const [source, text] of sources) for (const { file } of imagesOf({ source }, text)) add(file);
  for (const example of examplesOf[name] ?? [])
    for (const file of readdirSync(path.join(root, "examples", example)))
      if (/\.(md|json|ts)$/.test(file)) add(`examples/${example}/${file}`);
  return sources;
}

/** Replaces the commands of this repository in a file of an example. @param {string} text @param {string} folder */
function asCopiedExample(text, folder) {
  return text
    .replace("## Run it\n", "## Run it\n\nCopy this folder out of `node_modules`, and run `npm install` in the copy.\n")
    .replaceAll(/npm run example -- [\w-]+/g, "npm start")
    .replaceAll("npm run mcparley --", "npx mcparley")
    .replaceAll(`${folder}/`, "");
}

/** Removes the characters that align the columns of tables, outside of code blocks. @param {string} text */
export function withoutPadding(text) {
  return text.replaceAll(/```[\s\S]*?```|^\|.*\|$/gm, (part) => {
    if (part.startsWith("```")) return part;
    if (/^[|\s:-]+$/.test(part)) return part.replaceAll(/-{3,}/g, "---");
    return part.replaceAll(/ +\|/g, " |").replaceAll(/\| +/g, "| ");
  });
}

/**
 * Replaces the relative links of a page to files that are not shipped, and to those in the folder of its own package. Code is left
 * as it is.
 *
 * @param {string} text
 * @param {{ folder: string; shipped: ReadonlySet<string>; own: string; address: string | undefined }} context the folder of the page,
 *   and that of the package
 */
function withOutsideLinks(text, { folder, shipped, own, address }) {
  return text.replaceAll(
    /```[\s\S]*?```|`[^`\n]*`|\[((?:[^\][`]|`[^`\n]*`)*)\]\(([^)\s]+)\)/g,
    (whole, label, target) => {
      if (label === undefined || /^([a-z]+:|[/#])/i.test(target)) return whole;
      const [link = "", anchor = ""] = target.split(/(?=#)/);
      const linked = path.posix.join(folder, link);
      if (shipped.has(linked)) return whole;
      const [, packed] =
        /^packages\/[\w-]+\/(README\.md|skills\/.*)/.exec(linked.startsWith(`${own}/`) ? linked : "") ?? [];
      if (packed !== undefined) return `[${label}](${path.posix.relative(folder, packed)}${anchor})`;
      return address === undefined ? label : `[${label}](${addressOf(linked, address)}${anchor})`;
    },
  );
}

/** The address of a file of the repository on the forge. @param {string} file @param {string} address */
function addressOf(file, address) {
  const kind = statSync(path.join(root, file)).isDirectory() ? "tree" : "blob";
  return `${address}/${kind}/v${readManifest("packages/mcparley").version}/${file.replace(/\/$/, "")}`;
}
