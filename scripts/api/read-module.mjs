// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseSync } from "oxc-parser";

/**
 * A declaration file: its declarations, and the names that it imports and exports. Names are resolved by `report.mjs`.
 *
 * @typedef {object} Module
 * @property {Map<string, Declared[]>} declared by local name; overloads are several
 * @property {Map<string, Source>} imported by local name
 * @property {Map<string, Source>} exported by exported name
 * @property {string[]} stars the modules of `export * from`
 *
 * @typedef {{ text: string; names: Set<string>; sources: Source[] }} Declared the text without comments, and what it refers to
 * @typedef {{ from: string | undefined; name: string }} Source `from` is a file or a package, or undefined for the module itself
 */

/** Reads a declaration file. @param {string} file @returns {Module} */
export function readModule(file) {
  const code = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  /** @type {Module} */
  const module = { declared: new Map(), imported: new Map(), exported: new Map(), stars: [] };
  const context = { module, file, textOf: (/** @type {any} */ node) => withoutComments(code, node, comments) };
  for (const statement of program.body) readStatement(statement, context);
  return module;
}

/** @param {any} statement @param {{ module: Module; file: string; textOf: (node: any) => string }} context */
function readStatement(statement, { module, file, textOf }) {
  const from = statement.source ? resolve(file, statement.source.value) : undefined;
  if (statement.type === "ImportDeclaration") {
    for (const { local, imported } of statement.specifiers) {
      module.imported.set(local.name, { from, name: imported?.name ?? "*" });
    }
  } else if (statement.type === "ExportAllDeclaration") {
    if (statement.exported) module.exported.set(statement.exported.name, { from, name: "*" });
    else if (from) module.stars.push(from);
  } else if (statement.type === "ExportNamedDeclaration") {
    for (const { local, exported } of statement.specifiers)
      module.exported.set(exported.name, { from, name: local.name });
    for (const name of declare(statement.declaration, { module, file, textOf })) {
      module.exported.set(name, { from: undefined, name });
    }
  } else declare(statement, { module, file, textOf });
}

/**
 * Adds a declaration to the module and returns its names.
 *
 * @param {any} declaration
 * @param {{ module: Module; file: string; textOf: (node: any) => string }} context
 * @returns {string[]}
 */
function declare(declaration, { module, file, textOf }) {
  if (!declaration) return [];
  const ids = declaration.declarations?.map((/** @type {any} */ { id }) => id) ?? [declaration.id];
  const names = ids.flatMap((/** @type {any} */ id) => (id?.name ? [id.name] : []));
  const text = textOf(declaration).replace(/^declare /, "");
  const references = referencesOf(declaration, file);
  for (const name of names) {
    module.declared.set(name, [...(module.declared.get(name) ?? []), { text, ...references }]);
  }
  return names;
}

/** The names and imported types in a declaration. Names of properties are left out. @param {any} root @param {string} file */
function referencesOf(root, file) {
  /** @type {Set<string>} */
  const names = new Set();
  /** @type {Source[]} */
  const sources = [];
  const visit = (/** @type {any} */ node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (node === null || typeof node !== "object") return;
    if (node.type === "Identifier") names.add(node.name);
    if (node.type === "TSImportType") {
      sources.push({ from: resolve(file, (node.source ?? node.argument).value), name: node.qualifier?.name ?? "*" });
    }
    for (const [key, value] of Object.entries(node)) if (key !== "key" || node.computed) visit(value);
  };
  visit(root);
  return { names, sources };
}

/** The text of a node without comments and empty lines. @param {string} code @param {any} node @param {readonly any[]} comments */
function withoutComments(code, { start, end }, comments) {
  let text = "";
  let position = start;
  for (const comment of comments) {
    if (comment.start < start || comment.end > end) continue;
    text += code.slice(position, comment.start);
    position = comment.end;
  }
  text += code.slice(position, end);
  return text.replaceAll(/[ \t]+$/gm, "").replaceAll(/\n{2,}/g, "\n");
}

/** The declaration file of a specifier, or the specifier of a package. @param {string} file @param {string} specifier */
function resolve(file, specifier) {
  if (!specifier.startsWith(".")) return specifier;
  return path.join(path.dirname(file), specifier.replace(/\.[jt]s$/, ".d.ts"));
}
