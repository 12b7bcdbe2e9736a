// @ts-check
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { readManifest } from "./packages.mjs";
import { root } from "./ready.mjs";
import { repository } from "./release/project.mjs";

/**
 * Copies the guides of `docs/` into the library's package, so that coding agents and readers without a network find them in
 * `node_modules/mcparley/docs`. `npm run build` runs it.
 *
 * Links to files that are not in the package become addresses on the forge, at the tag of the version. The padding of tables is removed,
 * because it is a third of the text.
 */
const target = path.join(root, "packages/mcparley/docs");

/** Tables of what the tests check. They are for contributors, and large. */
const tables = ["client-states", "client-under-faults", "pitfalls"];
/** For readers who choose a library or a runtime, and for users of the command, which prints the hints. */
const outside = ["why-mcparley", "runtimes", "command-hints"];

/** Whether a page of `docs` is for users of the library: no decision record, and no table of what the tests check. @param {string} file */
export function isGuide(file) {
  return file.endsWith(".md") && !/(^|\/)(adr\/|\.)/.test(file) && !tables.includes(file.replace(/\.md$/, ""));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(target, { recursive: true, force: true });
  for (const [file, text] of shippedGuides()) {
    mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
    writeFileSync(path.join(target, file), text);
  }
}

/** Returns the text of each guide in the package by its path in `docs`. */
export function shippedGuides() {
  const files = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => isGuide(file) && !outside.includes(file.replace(/\.md$/, "")))
    .toSorted();
  const shipped = new Set(files);
  return new Map(
    files.map((file) => {
      const text = readFileSync(path.join(root, "docs", file), "utf8");
      return [file, withoutPadding(withOutsideLinks(text, { file, shipped }))];
    }),
  );
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
 * Replaces the relative links of a guide to files that are not shipped. Code is left as it is.
 *
 * @param {string} text
 * @param {{ file: string; shipped: ReadonlySet<string> }} guide
 */
function withOutsideLinks(text, { file, shipped }) {
  return text.replaceAll(
    /```[\s\S]*?```|`[^`\n]*`|(!?\[(?:[^\][`]|`[^`\n]*`)*\]\()([^)\s]+)/g,
    (whole, before, address) => {
      if (before === undefined || /^([a-z]+:|[/#])/i.test(address)) return whole;
      const [link = "", anchor = ""] = address.split(/(?=#)/);
      const linked = path.posix.join("docs", path.posix.dirname(file), link);
      if (shipped.has(path.posix.relative("docs", linked))) return whole;
      return `${before}${addressOf(linked, before.startsWith("!"))}${anchor}`;
    },
  );
}

/** The address of a file of the repository on the forge. @param {string} file @param {boolean} isImage */
function addressOf(file, isImage) {
  const kind = isImage ? "raw" : statSync(path.join(root, file)).isDirectory() ? "tree" : "blob";
  return `${repository}/${kind}/v${readManifest("packages/mcparley").version}/${file.replace(/\/$/, "")}`;
}
