// @ts-check
import { walk } from "./syntax.mjs";

/**
 * @typedef {import("./syntax.mjs").Node} Node
 * @typedef {import("./syntax.mjs").Source} Source
 *
 * @typedef {object} FunctionFacts
 * @property {string} name empty if the function has none
 * @property {number} line of its start
 * @property {number} span lines from its start to its end
 * @property {number} lines of code within it, without comments and blank lines
 * @property {number} parameters positional parameters, without `this`
 * @property {boolean} isPrivate whether the function has a name that only its own file can use
 * @property {number} uses how often its own file uses that name
 */

/**
 * Lists the functions of a file: declarations, methods, accessors, function expressions and arrow functions.
 *
 * @param {Source} source
 * @returns {FunctionFacts[]}
 */
export function listFunctions(source) {
  const uses = countUses(source.program);
  const code = linesOfCode(source);
  const exported = new Set(source.exports.filter(({ from }) => !from).map(({ local }) => local));
  const lineOf = lineCounter(source.text);
  /** @type {FunctionFacts[]} */
  const found = [];
  walk(source.program, (node, parents) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return;
    const { name, isPrivate, start } = nameOf(node, parents, exported);
    const [first, last] = [lineOf(start), lineOf(node.end)];
    const lines = code.filter((line) => line >= first && line <= last).length;
    const parameters = node.params.filter((/** @type {Node} */ { name: param }) => param !== "this").length;
    found.push({ name, line: first, span: last - first + 1, lines, parameters, isPrivate, uses: uses.get(name) ?? 0 });
  });
  return found;
}

/**
 * Returns the name of a function, whether it is private to its file, and the start of the declaration that contains it.
 *
 * @param {Node} node @param {readonly Node[]} parents @param {ReadonlySet<string>} exported
 */
function nameOf(node, parents, exported) {
  const [parent, ...outer] = parents;
  const isLocal = (/** @type {string} */ name, /** @type {Node | undefined} */ scope) =>
    scope?.type !== "Program" || !exported.has(name);
  if (node.type === "FunctionDeclaration") {
    const name = node.id?.name ?? "";
    const scope = parent?.type.startsWith("Export") ? outer[0] : parent;
    return { name, isPrivate: name !== "" && isLocal(name, scope), start: node.start };
  }
  if (parent?.type === "VariableDeclarator" && parent.id.type === "Identifier") {
    const scope = outer[1]?.type.startsWith("Export") ? outer[2] : outer[1];
    return { name: parent.id.name, isPrivate: isLocal(parent.id.name, scope), start: parent.start };
  }
  if (parent?.type === "MethodDefinition" || parent?.type === "PropertyDefinition") {
    const isPrivate = parent.key.type === "PrivateIdentifier" || parent.accessibility === "private";
    const name = `${parent.key.type === "PrivateIdentifier" ? "#" : ""}${parent.key.name ?? ""}`;
    return { name, isPrivate, start: parent.start };
  }
  return { name: "", isPrivate: false, start: node.start };
}

/**
 * How often each name is used in a file, its declarations and the keys of objects not counted. Two functions with the same name in one file count as one; scopes are not distinguished.
 *
 * @param {Node} program
 */
function countUses(program) {
  /** @type {Map<string, number>} */
  const uses = new Map();
  const count = (/** @type {string} */ name) => uses.set(name, (uses.get(name) ?? 0) + 1);
  walk(program, (node, [parent]) => {
    if (node.type === "PrivateIdentifier") {
      if (parent?.type === "MemberExpression" || parent?.type === "BinaryExpression") count(`#${node.name}`);
      return;
    }
    if (node.type !== "Identifier") return;
    if (parent?.type === "MemberExpression" && parent.property === node && !parent.computed) {
      if (parent.object.type === "ThisExpression") count(node.name);
      return;
    }
    const isKey = parent && "key" in parent && parent.key === node && !parent.computed && !parent.shorthand;
    const isDeclared = parent && "id" in parent && parent.id === node;
    if (!isKey && !isDeclared) count(node.name);
  });
  return uses;
}

/**
 * The text of a file with spaces in the place of comments, so that positions stay the same.
 *
 * @param {Source} source
 */
export function withoutComments({ text, comments }) {
  let [code, last] = ["", 0];
  for (const { start, end } of comments) {
    code += text.slice(last, start) + text.slice(start, end).replaceAll(/[^\n]/g, " ");
    last = end;
  }
  return code + text.slice(last);
}

/**
 * The numbers of the lines that hold code.
 *
 * @param {Source} source
 */
export function linesOfCode(source) {
  return withoutComments(source)
    .split("\n")
    .flatMap((line, index) => (line.trim() === "" ? [] : [index + 1]));
}

/** @param {string} text @returns {(offset: number) => number} */
function lineCounter(text) {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
