// @ts-check
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { publishedPackages, readManifest } from "./packages.mjs";
import { root } from "./ready.mjs";
import { repository } from "./release/project.mjs";

/**
 * Copies guides of `docs/` into the packages, so that coding agents and readers without a network find them in
 * `node_modules/mcparley/docs` and beside the README of each package. `npm run build` runs it.
 *
 * The package of the command also receives the folder `examples/handbook`, which its guides serve.
 *
 * Links to files that are not in the package become addresses on the forge, at the tag of the version. Without an address of the
 * repository, only their labels remain. The padding of tables is removed, because it is a third of the text.
 */

/** Tables of what the tests check. They are for contributors, and large. */
const tables = ["reference/client-states.md", "reference/client-under-faults.md", "pitfalls.md"];

/** The pages of each package: all guides for the users of the library, and those of its subject for another package. */
const guidesOf = /** @type {Readonly<Record<string, RegExp>>} */ ({
  // Not those for readers who choose a library or a runtime, and no tables of results.
  mcparley: /^(?!why-mcparley|runtimes|reference\/)/,
  "@mcparley/cli": /^((command|chat|folder|add-to-a-host)[\w-]*|reference\/(command-hints|entry-members))\.md$/,
  "@mcparley/config": /^(add-to-a-host|host-configurations)\.md$/,
  "@mcparley/host": /^(consent|host)\.md$/,
  "@mcparley/redis": /^(deployment|multiple-processes|scaling)\.md$/,
  "create-mcparley": /^quick-start\.md$/,
});

/** Returns the pages of `docs` and of its folder `reference`, relative to `docs`. */
export function pagesOfDocs() {
  const reference = readdirSync(path.join(root, "docs/reference")).map((name) => `reference/${name}`);
  return [...readdirSync(path.join(root, "docs")), ...reference].filter((file) => file.endsWith(".md"));
}

/** Whether a page of `docs` is for users of the library, and no table of what the tests check. @param {string} file */
export function isGuide(file) {
  return !tables.includes(file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, folder } of publishedPackages()) {
    const target = path.join(root, folder, "docs");
    rmSync(target, { recursive: true, force: true });
    for (const [file, text] of shippedGuides(name)) {
      mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
      writeFileSync(path.join(target, file), text);
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
    withOutsideLinks(readme, { folder, shipped: new Set(), address: repository }),
  );
}

/**
 * Returns the guides in a package and their pictures: the text of each by its path in `docs`.
 *
 * @param {string} name the package
 * @param {string | undefined} address the address of the repository
 */
export function shippedGuides(name, address = repository) {
  const files = pagesOfDocs().filter((file) => isGuide(file) && guidesOf[name]?.test(file));
  const texts = new Map(files.map((file) => [file, readFileSync(path.join(root, "docs", file), "utf8")]));
  const pictures = [...texts.values()].flatMap((text) =>
    [...text.matchAll(/!\[[^\]]*\]\(([\w-]+\.svg)\)/g)].map(([, picture = ""]) => picture),
  );
  const shipped = new Set([...files, ...pictures]);
  /** @type {Map<string, string>} */
  const guides = new Map();
  for (const file of [...shipped].toSorted()) {
    const text = texts.get(file);
    if (text === undefined) guides.set(file, readFileSync(path.join(root, "docs", file), "utf8"));
    else {
      const folder = path.posix.dirname(path.posix.join("docs", file));
      guides.set(file, withoutPadding(withOutsideLinks(text, { folder, shipped, address })));
    }
  }
  return guides;
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
 * Replaces the relative links of a page to files that are not shipped. Code is left as it is.
 *
 * @param {string} text
 * @param {{ folder: string; shipped: ReadonlySet<string>; address: string | undefined }} context the folder of the page
 */
function withOutsideLinks(text, { folder, shipped, address }) {
  return text.replaceAll(
    /```[\s\S]*?```|`[^`\n]*`|\[((?:[^\][`]|`[^`\n]*`)*)\]\(([^)\s]+)\)/g,
    (whole, label, target) => {
      if (label === undefined || /^([a-z]+:|[/#])/i.test(target)) return whole;
      const [link = "", anchor = ""] = target.split(/(?=#)/);
      const linked = path.posix.join(folder, link);
      if (shipped.has(path.posix.relative("docs", linked))) return whole;
      return address === undefined ? label : `[${label}](${addressOf(linked, address)}${anchor})`;
    },
  );
}

/** The address of a file of the repository on the forge. @param {string} file @param {string} address */
function addressOf(file, address) {
  const kind = statSync(path.join(root, file)).isDirectory() ? "tree" : "blob";
  return `${address}/${kind}/v${readManifest("packages/mcparley").version}/${file.replace(/\/$/, "")}`;
}
