// @ts-check
import { publicNames } from "./public-names.mjs";
import { walk } from "./syntax.mjs";

/**
 * @typedef {import("./syntax.mjs").Node} Node
 * @typedef {import("./syntax.mjs").Source} Source
 */

const memberTypes = new Set(["TSPropertySignature", "TSMethodSignature", "PropertyDefinition", "MethodDefinition"]);
/** Members within these are code, steps of a calculation with types, or part of a member that has the docstring. */
const hidden = new Set([
  "BlockStatement",
  "TSConditionalType",
  "TSMappedType",
  "TSFunctionType",
  "TSPropertySignature",
  "TSMethodSignature",
  "PropertyDefinition",
  "MethodDefinition",
]);

/**
 * Lists the members of the interfaces, classes and object types that the entry points export. The members of an object type
 * within a member are described by the docstring of that member.
 *
 * These need no docstring and are left out: private members, constructors, overrides, names that start with `~`, and members
 * with a literal type, such as `type: "text"`.
 *
 * @param {readonly Source[]} sources
 * @param {(name: string) => boolean} isEntry
 * @returns {{ file: string; name: string; isDocumented: boolean }[]} `name` is that of the declaration and the member
 */
export function publicMembers(sources, isEntry) {
  const byName = new Map(sources.map((source) => [source.name, source]));
  return publicNames(sources, isEntry).flatMap(({ file, name }) => {
    const source = byName.get(file);
    return source ? membersOf(source, name).map((member) => ({ ...member, file })) : [];
  });
}

/** @param {Source} source @param {string} local */
function membersOf(source, local) {
  /** @type {{ name: string; isDocumented: boolean }[]} */
  const found = [];
  for (const statement of source.program.body) {
    const declaration = statement.declaration ?? statement;
    if (declaration.id?.name !== local || declaration.type === "FunctionDeclaration") continue;
    walk(declaration, (node, parents) => {
      if (!memberTypes.has(node.type) || parents.some(({ type }) => hidden.has(type)) || isExempt(node)) return;
      found.push({ name: `${local}.${nameOf(node)}`, isDocumented: isDocumented(source, node) });
    });
  }
  // The overloads of a method, and the members of a union with the same name, share one docstring.
  const documented = new Set(found.filter((member) => member.isDocumented).map(({ name }) => name));
  return [...new Set(found.map(({ name }) => name))].map((name) => ({ name, isDocumented: documented.has(name) }));
}

/** @param {Node} node */
function isExempt(node) {
  const isPrivate = node.key.type === "PrivateIdentifier" || node.accessibility === "private";
  const isLiteral = node.typeAnnotation?.typeAnnotation.type === "TSLiteralType";
  return isPrivate || isLiteral || node.computed || node.override || /^(constructor$|~)/.test(nameOf(node));
}

/** @param {Node} node @returns {string} */
function nameOf({ key }) {
  return String(key.name ?? key.value);
}

/** @param {Source} source @param {Node} node */
function isDocumented({ comments, text }, node) {
  return comments.some(
    ({ type, value, end }) =>
      type === "Block" && value.startsWith("*") && end <= node.start && text.slice(end, node.start).trim() === "",
  );
}
