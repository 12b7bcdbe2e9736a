// @ts-check
import path from "node:path";
import { entryPoints } from "../packages.mjs";
import { root } from "../ready.mjs";
import { readModule } from "./read-module.mjs";

/** @typedef {import("./read-module.mjs").Module} Module */
/** @typedef {import("./read-module.mjs").Source} Source */
/** @typedef {{ file: string; name: string }} Site a declaration: its file and its name there */
/** @typedef {{ from: string; name: string }} External a name of another package */

/**
 * Returns the API report of a package: the text of each file by its name. Each entry point has a file with its exports in the order of their
 * names. A declaration is written in the first entry point that exports it. `internal.md` has the declarations that exports
 * refer to and that no entry point exports. Comments are left out.
 *
 * @param {import("../packages.mjs").Package} published
 */
export function apiReport({ name, folder, manifest }) {
  const read = reader();
  /** @type {Map<string, string>} the specifier of the entry point by the key of a declaration */
  const homes = new Map();
  /** @type {Map<string, string>} */
  const reports = new Map();
  /** @type {Site[]} */
  const used = [];
  for (const { specifier, types } of entryPoints(manifest)) {
    const lines = read.exportsOf(path.join(root, folder, types)).map(([exported, found]) => {
      if (!("file" in found)) return `export { ${exported} } from "${found.from}";`;
      used.push(found);
      const home = homes.get(keyOf(found));
      if (home) return `export { ${exported} } from "${home}";`;
      if (found.name !== exported) return `export { ${found.name} as ${exported} };`;
      homes.set(keyOf(found), specifier);
      return read
        .textsOf(found)
        .map((text) => `export ${text}`)
        .join("\n");
    });
    reports.set(`${specifier.slice(name.length + 1) || "index"}.md`, page(specifier, lines));
  }
  const internal = reached(used, read).filter((site) => !homes.has(keyOf(site)));
  if (internal.length > 0) {
    const texts = internal
      .map((site) => read.textsOf(site).join("\n"))
      .toSorted((a, b) => (nameIn(a) < nameIn(b) ? -1 : 1));
    reports.set("internal.md", page(`${name}: declarations that are not exported`, texts));
  }
  return reports;
}

/** Reads each declaration file once. */
function reader() {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  const moduleOf = (/** @type {string} */ file) => {
    const known = modules.get(file) ?? readModule(file);
    modules.set(file, known);
    return known;
  };

  /** Finds the declaration of a name that is visible in a module. @param {string} file @param {string} name @returns {Site | External | undefined} */
  const find = (file, name) => {
    const { declared, imported } = moduleOf(file);
    if (declared.has(name)) return { file, name };
    const source = imported.get(name);
    return source && follow(file, source);
  };

  /** @param {string} file @param {Source} source @returns {Site | External | undefined} */
  const follow = (file, { from, name }) => {
    if (from === undefined) return find(file, name);
    if (!path.isAbsolute(from)) return { from, name };
    return findExport(from, name);
  };

  /** @param {string} file @param {string} name @returns {Site | External | undefined} */
  const findExport = (file, name) => {
    const { exported, stars } = moduleOf(file);
    const source = exported.get(name);
    if (source) return follow(file, source);
    for (const star of stars) {
      const found = path.isAbsolute(star) ? findExport(star, name) : undefined;
      if (found) return found;
    }
    return undefined;
  };

  /** @param {string} file @returns {string[]} */
  const exportedNames = (file) => {
    const { exported, stars } = moduleOf(file);
    return [...exported.keys(), ...stars.flatMap((star) => (path.isAbsolute(star) ? exportedNames(star) : []))];
  };

  return {
    /** @param {string} file @returns {[string, Site | External][]} */
    exportsOf: (file) =>
      [...new Set(exportedNames(file))].toSorted().map((name) => {
        const found = findExport(file, name);
        if (!found) throw new Error(`The declaration of ${name} in ${file} was not found.`);
        return [name, found];
      }),
    /** @param {Site} site */
    textsOf: ({ file, name }) => (moduleOf(file).declared.get(name) ?? []).map(({ text }) => text),
    /** The declarations of this package that a declaration refers to. @param {Site} site @returns {Site[]} */
    referencesOf: ({ file, name }) => {
      const declared = moduleOf(file).declared.get(name) ?? [];
      const found = declared.flatMap(({ names, sources }) => [
        ...[...names].map((used) => find(file, used)),
        ...sources.map((source) => follow(file, source)),
      ]);
      return found.filter((one) => one !== undefined && "file" in one);
    },
  };
}

/** The declarations and those that they refer to, recursively. @param {readonly Site[]} sites @param {ReturnType<typeof reader>} read */
function reached(sites, read) {
  const found = new Map(sites.map((site) => [keyOf(site), site]));
  // The map grows while it is walked.
  for (const site of found.values())
    for (const used of read.referencesOf(site)) if (!found.has(keyOf(used))) found.set(keyOf(used), used);
  return [...found.values()];
}

/** @param {Site} site */
function keyOf({ file, name }) {
  return `${file}#${name}`;
}

/** The part of a declaration after its keyword, by which declarations are ordered. @param {string} text */
function nameIn(text) {
  return text.replace(/^(abstract class|class|interface|type|const enum|const|enum|function|let|namespace) /, "");
}

/** @param {string} title @param {readonly string[]} declarations */
function page(title, declarations) {
  return `# ${title}\n\nWritten by \`npm run check -- api --update\`.\n\n\`\`\`ts\n${declarations.join("\n\n")}\n\`\`\`\n`;
}
