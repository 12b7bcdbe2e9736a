// @ts-check
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { parseSync, visitorKeys } from "oxc-parser";

/**
 * Parsed source files with their imports and exports: the input of the report of `npm run house` and of the tests in `tests/architecture`.
 *
 * @typedef {{ type: string; start: number; end: number; [key: string]: any }} Node
 *
 * @typedef {object} Import
 * @property {string} from the resolved name of a file of the source (`rpc/errors.ts`), or the specifier of a package
 * @property {"static" | "lazy" | "type"} kind `lazy` is `import()`; `type` is an import that leaves nothing at run time
 * @property {readonly string[] | "all"} names the imported names; "all" if they cannot be listed
 *
 * @typedef {object} Export
 * @property {string} name `*` for `export * from`
 * @property {string} local the name within the file, or within `from`
 * @property {string} [from] the file that it is exported from again
 *
 * @typedef {object} Source
 * @property {string} name relative to the source folder, with forward slashes
 * @property {string} text
 * @property {Node} program
 * @property {readonly { type: string; value: string; start: number; end: number }[]} comments
 * @property {readonly Import[]} imports
 * @property {readonly Export[]} exports
 */

const manifest = JSON.parse(readFileSync(new URL("../../packages/mcparley/package.json", import.meta.url), "utf8"));
/** @type {string[]} */
const chosenByPlatform = Object.values(manifest.imports)
  .flatMap((targets) => Object.values(/** @type {Record<string, string>} */ (targets)))
  .map((target) => target.replace("./dist/", "").replace(/\.js$/, ".ts"));

/**
 * Whether a file of the library is an entry point: a subpath of the package, or a module that `package.json` chooses by
 * the platform.
 *
 * @param {string} name
 */
export function isLibraryEntry(name) {
  return !name.includes("/") || chosenByPlatform.includes(name);
}

/**
 * Parses the sources below a folder, without tests and fixtures.
 *
 * @param {string} folder
 * @returns {Source[]}
 */
export function parseFolder(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => name.endsWith(".ts") && !/\.test(-d)?\.ts$|(^|\/)fixtures\//.test(name))
    .toSorted()
    .map((name) => parseSource(name, readFileSync(path.join(folder, name), "utf8")));
}

/**
 * @param {string} name @param {string} text
 * @returns {Source}
 */
export function parseSource(name, text) {
  const { program, comments, errors, module } = parseSync(name, text);
  const [error] = errors;
  if (error) throw new Error(`${name} cannot be parsed: ${error.message}`);
  const resolve = (/** @type {string} */ specifier) =>
    specifier.startsWith(".") ? path.posix.join(path.posix.dirname(name), specifier) : specifier;
  const root = /** @type {Node} */ (/** @type {unknown} */ (program));
  const exports = module.staticExports
    .flatMap(({ entries }) => entries)
    .map(({ exportName, importName, localName, moduleRequest }) => ({
      name: exportName.name ?? (moduleRequest ? "*" : "default"),
      local: importName.name ?? localName.name ?? "*",
      ...(moduleRequest ? { from: resolve(moduleRequest.value) } : {}),
    }));
  return { name, text, program: root, comments, imports: findImports(root, resolve), exports };
}

/**
 * Calls a function for a node and all nodes within it, parents first.
 *
 * @param {Node} node
 * @param {(node: Node, parents: readonly Node[]) => void} visit `parents` starts with the nearest
 * @param {readonly Node[]} parents
 */
export function walk(node, visit, parents = []) {
  visit(node, parents);
  const within = [node, ...parents];
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [node[key]].flat()) if (child) walk(child, visit, within);
  }
}

/** @param {Node} program @param {(specifier: string) => string} resolve */
function findImports(program, resolve) {
  /** @type {Import[]} */
  const found = [];
  walk(program, (node, parents) => {
    if (node.type === "ImportDeclaration") {
      const kind = node.importKind === "type" ? "type" : "static";
      found.push({ from: resolve(node.source.value), kind, names: namesOf(node.specifiers) });
    } else if (/^Export(Named|All)Declaration$/.test(node.type) && node.source) {
      const kind = node.exportKind === "type" ? "type" : "static";
      const names = (node.specifiers ?? []).map((/** @type {Node} */ { local }) => local.name ?? local.value);
      found.push({ from: resolve(node.source.value), kind, names });
    } else if (node.type === "ImportExpression" && node.source.type === "Literal") {
      found.push({ from: resolve(node.source.value), kind: "lazy", names: namesTaken(parents) });
    } else if (node.type === "TSImportType") {
      const { qualifier } = node;
      const names = qualifier?.type === "Identifier" ? [qualifier.name] : /** @type {const} */ ("all");
      found.push({ from: resolve(node.source.value), kind: "type", names });
    }
  });
  return found;
}

/** @param {readonly Node[]} specifiers */
function namesOf(specifiers) {
  if (specifiers.some(({ type }) => type === "ImportNamespaceSpecifier")) return "all";
  return specifiers.map(({ imported }) => imported?.name ?? imported?.value ?? "default");
}

/**
 * The names that the expression around an `import()` takes: `(await import()).a`, `const { a } = await import()` and
 * `import().then(({ a }) => ...)`.
 *
 * @param {readonly Node[]} parents
 */
function namesTaken(parents) {
  const [outer, ...rest] = parents.filter(({ type }) => !/^(Await|Parenthesized)Expression$/.test(type));
  if (outer?.type === "VariableDeclarator") return keysOf(outer.id);
  if (outer?.type !== "MemberExpression" || outer.computed) return "all";
  if (outer.property.name !== "then") return [outer.property.name];
  return rest[0]?.type === "CallExpression" ? keysOf(rest[0].arguments[0]?.params?.[0]) : "all";
}

/** @param {Node | undefined} pattern @returns {string[] | "all"} */
function keysOf(pattern) {
  if (pattern?.type !== "ObjectPattern") return "all";
  return pattern.properties.map((/** @type {Node} */ { key }) => key?.name ?? "default");
}
