// @ts-check
import { withoutComments } from "./functions.mjs";

/**
 * @typedef {import("./syntax.mjs").Node} Node
 * @typedef {import("./syntax.mjs").Source} Source
 */

/**
 * Lists the names that the entry points export, each once, with the file that declares it and the docstrings of the declaration and of its members.
 *
 * @param {readonly Source[]} sources
 * @param {(name: string) => boolean} isEntry
 * @returns {{ name: string; file: string; doc: string; isDocumented: boolean }[]} `doc` holds all docstrings of the
 *   declaration
 */
export function publicNames(sources, isEntry) {
  const byName = new Map(sources.map((source) => [source.name, source]));
  /** @type {Map<string, { source: Source; local: string }>} */
  const found = new Map();
  for (const source of sources) {
    if (!isEntry(source.name)) continue;
    for (const origin of originsOf(source, byName)) found.set(`${origin.source.name} ${origin.local}`, origin);
  }
  return [...found.values()].map(({ source, local }) => ({
    name: local,
    file: source.name,
    ...docsOf(source, local),
  }));
}

/**
 * The declarations behind the exports of a file.
 *
 * @param {Source} source @param {ReadonlyMap<string, Source>} byName
 * @returns {{ source: Source; local: string }[]}
 */
function originsOf(source, byName) {
  return source.exports.flatMap(({ name, local, from }) => {
    const target = from === undefined ? source : byName.get(from);
    if (!target) return [];
    if (from === undefined) return importedAs(source, local, byName) ?? [{ source, local }];
    if (name === "*") return originsOf(target, byName);
    const exported = target.exports.find((one) => one.name === local);
    if (!exported) return originsOf(target, byName).filter((origin) => origin.local === local);
    return originsOf({ ...target, exports: [exported] }, byName);
  });
}

/**
 * The declaration of a name that a file imports and then exports: `import { a } from "./a.ts"; export { a };`.
 *
 * @param {Source} source @param {string} local @param {ReadonlyMap<string, Source>} byName
 */
function importedAs(source, local, byName) {
  for (const { from, names } of source.imports) {
    const target = byName.get(from);
    const exported = names !== "all" && names.includes(local) && target?.exports.find(({ name }) => name === local);
    if (target && exported) return originsOf({ ...target, exports: [exported] }, byName);
  }
  return undefined;
}

/** @param {Source} source @param {string} local */
function docsOf(source, local) {
  const statements = source.program.body.filter((/** @type {Node} */ statement) => declares(statement, local));
  const docstrings = source.comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  // Other comments may stand between a docstring and its declaration, such as one that turns off a rule of the linter.
  const code = withoutComments(source);
  const before = (/** @type {Node} */ statement) =>
    docstrings.filter(({ end }) => end <= statement.start && code.slice(end, statement.start).trim() === "");
  const within = (/** @type {Node} */ statement) =>
    docstrings.filter(({ start }) => start > statement.start && start < statement.end);
  const own = statements.flatMap(before);
  const all = [...own, ...statements.flatMap(within)];
  return { doc: all.map(({ value }) => value).join("\n"), isDocumented: own.length > 0 };
}

/** @param {Node} statement @param {string} name */
function declares(statement, name) {
  const declaration = statement.declaration ?? statement;
  if (declaration.type === "VariableDeclaration")
    return declaration.declarations.some((/** @type {Node} */ { id }) => id.name === name);
  return declaration.id?.name === name;
}
