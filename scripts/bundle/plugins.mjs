// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";

/**
 * Puts the bundler's helper into each chunk that imports it, on one line so that the maps stay right. In a file of its own it
 * would be one more file of almost every start.
 *
 * @param {import("rolldown").OutputBundle} files
 */
export function inlineRuntime(files) {
  const helper =
    "const __exportAll = (all) => { const target = { [Symbol.toStringTag]: 'Module' }; for (const name in all) Object.defineProperty(target, name, { get: all[name], enumerable: true }); return target; };";
  for (const [name, file] of Object.entries(files)) {
    if (file.type !== "chunk") continue;
    if (file.name === "rolldown-runtime") {
      delete files[name];
      continue;
    }
    file.code = file.code.replace(/^import \{ t as __exportAll \} from "[./]*rolldown-runtime-.*";$/m, () => helper);
    if (file.code.includes("rolldown-runtime-")) throw new Error(`${name} imports another helper of the bundler.`);
  }
}

/**
 * Returns a plugin that gives an entry its own copy of modules.
 *
 * @param {string} source
 * @param {Readonly<Record<string, readonly string[]>>} copied the modules for each entry
 * @returns {import("rolldown").Plugin}
 */
export function copies(source, copied) {
  const suffix = "?copy";
  const found = new Set(Object.entries(copied).flatMap(([entry, modules]) => modules.map((one) => keyOf(entry, one))));
  return {
    name: "copies",
    resolveId(id, importer) {
      if (!importer || !id.startsWith(".")) return null;
      const file = path.resolve(path.dirname(importer), id);
      const from = path.relative(source, importer).split(path.sep).join("/");
      const isCopied = found.has(keyOf(from, path.relative(source, file).split(path.sep).join("/")));
      return isCopied ? file + suffix : null;
    },
    load: (id) =>
      id.endsWith(suffix) ? { code: readFileSync(id.slice(0, -suffix.length), "utf8"), moduleType: "ts" } : null,
  };
}

/**
 * Returns a plugin that puts the text of a file into the module that imports it with `?raw`, as Vite does.
 *
 * @returns {import("rolldown").Plugin}
 */
export function texts() {
  const suffix = "?raw";
  return {
    name: "texts",
    resolveId: (id, importer) => (importer && id.endsWith(suffix) ? path.resolve(path.dirname(importer), id) : null),
    load: (id) =>
      id.endsWith(suffix) ? { code: readFileSync(id.slice(0, -suffix.length), "utf8"), moduleType: "text" } : null,
  };
}

/** @param {string} entry @param {string} module */
function keyOf(entry, module) {
  return `${entry} ${module}`;
}

/**
 * Escapes characters that are not ASCII. V8 stores and reads a file with a character that is not Latin-1 with two bytes for each.
 *
 * @param {import("rolldown").OutputBundle} files
 */
export function escapeOthers(files) {
  for (const file of Object.values(files)) {
    if (file.type !== "chunk") continue;
    // A code unit of a surrogate pair is escaped by itself, which has the same value in strings and in patterns.
    file.code = file.code.replace(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
}
