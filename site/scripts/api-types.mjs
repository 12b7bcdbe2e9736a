// @ts-check

/**
 * Writes the types of TypeDoc's model as TypeScript.
 *
 * @typedef {import("typedoc").SomeType} SomeType
 * @typedef {import("typedoc").DeclarationReflection} Declaration
 * @typedef {import("typedoc").SignatureReflection} Signature
 * @typedef {import("typedoc").TypeParameterReflection} TypeParameter
 */

/** @type {{ [K in keyof import("typedoc").TypeKindMap]?: (type: import("typedoc").TypeKindMap[K]) => string }} */
const writers = {
  array: ({ elementType }) => `${operand(elementType)}[]`,
  conditional: (type) =>
    `${operand(type.checkType)} extends ${operand(type.extendsType)} ? ${typeText(type.trueType)} : ${typeText(type.falseType)}`,
  indexedAccess: ({ objectType, indexType }) => `${operand(objectType)}[${typeText(indexType)}]`,
  inferred: ({ name, constraint }) => `infer ${name}${constraint ? ` extends ${typeText(constraint)}` : ""}`,
  intersection: ({ types }) => types.map(operand).join(" & "),
  intrinsic: ({ name }) => name,
  literal: ({ value }) => (typeof value === "bigint" ? `${value}n` : JSON.stringify(value)),
  mapped: mappedText,
  namedTupleMember: ({ name, isOptional, element }) => `${name}${isOptional ? "?" : ""}: ${typeText(element)}`,
  optional: ({ elementType }) => `${operand(elementType)}?`,
  predicate: ({ name, asserts, targetType }) =>
    `${asserts ? "asserts " : ""}${name}${targetType ? ` is ${typeText(targetType)}` : ""}`,
  query: ({ queryType }) => `typeof ${queryType.name}`,
  reference: ({ name, typeArguments }) => `${name}${argumentsText(typeArguments)}`,
  reflection: ({ declaration }) => literalText(declaration),
  rest: ({ elementType }) => `...${operand(elementType)}`,
  templateLiteral: ({ head, tail }) =>
    `\`${head}${tail.map(([type, text]) => `\${${typeText(type)}}${text}`).join("")}\``,
  tuple: ({ elements }) => `[${elements.map(typeText).join(", ")}]`,
  typeOperator: ({ operator, target }) => `${operator} ${operand(target)}`,
  union: ({ types }) => types.map(operand).join(" | "),
  unknown: ({ name }) => name,
};

/** @param {SomeType | undefined} type @returns {string} */
export function typeText(type) {
  if (type === undefined) return "any";
  const write = /** @type {((type: SomeType) => string) | undefined} */ (writers[type.type]);
  if (!write) throw new Error(`The type ${type.toString()} has the unknown kind "${type.type}".`);
  return write(type);
}

/**
 * The text of a signature: `name<T>(a: A, b?: B): R`. `arrow` is the text before the type that it returns.
 *
 * @param {Signature} signature
 * @param {{ name?: string; arrow?: string; lines?: boolean }} [options] `lines` writes each parameter in a line if they are long
 */
export function signatureText(signature, { name = "", arrow = ": ", lines = false } = {}) {
  const parameters = (signature.parameters ?? []).map(({ name: given, type, flags, defaultValue }) => {
    const isOptional = flags.isOptional || defaultValue !== undefined;
    const shown = given === "__namedParameters" ? "options" : given;
    return `${flags.isRest ? "..." : ""}${shown}${isOptional ? "?" : ""}: ${typeText(type)}`;
  });
  const before = `${name}${parametersText(signature.typeParameters)}`;
  const after = `${arrow}${typeText(signature.type)}`;
  const line = `${before}(${parameters.join(", ")})${after}`;
  if (!lines || line.length <= 96 || parameters.length === 0) return line;
  return `${before}(\n${parameters.map((parameter) => `  ${parameter},\n`).join("")})${after}`;
}

/** Type parameters with their brackets. @param {readonly TypeParameter[] | undefined} parameters */
export function parametersText(parameters = []) {
  if (parameters.length === 0) return "";
  const texts = parameters.map(({ name, type, default: fallback, flags }) => {
    const constraint = type ? ` extends ${typeText(type)}` : "";
    return `${flags.isConst ? "const " : ""}${name}${constraint}${fallback ? ` = ${typeText(fallback)}` : ""}`;
  });
  const line = texts.join(", ");
  return line.length <= 80 ? `<${line}>` : `<\n${texts.map((text) => `  ${text},\n`).join("")}>`;
}

/** The type of a member: that of a property, or the function type of a method. @param {Declaration} member @returns {string[]} */
export function memberTypes(member) {
  if (member.signatures) return member.signatures.map((signature) => signatureText(signature, { arrow: " => " }));
  const type = member.type ?? member.getSignature?.type;
  if (type?.type === "reflection" && type.declaration.signatures && !type.declaration.children) {
    return type.declaration.signatures.map((signature) => signatureText(signature, { arrow: " => " }));
  }
  return [typeText(type)];
}

/** A type in parentheses if an operator stands beside it. @param {SomeType} type */
function operand(type) {
  const text = typeText(type);
  const isFunction = type.type === "reflection" && type.declaration.signatures !== undefined;
  const isCompound = ["union", "intersection", "conditional", "typeOperator", "inferred"].includes(type.type);
  return isFunction || isCompound ? `(${text})` : text;
}

/** @param {readonly SomeType[] | undefined} types */
function argumentsText(types = []) {
  return types.length === 0 ? "" : `<${types.map(typeText).join(", ")}>`;
}

/** An object type or a function type. @param {Declaration} declaration @returns {string} */
function literalText(declaration) {
  const { children = [], signatures = [], indexSignatures = [] } = declaration;
  if (children.length === 0 && indexSignatures.length === 0 && signatures.length === 1 && signatures[0]) {
    return signatureText(signatures[0], { arrow: " => " });
  }
  const members = [
    ...signatures.map((signature) => signatureText(signature)),
    ...indexSignatures.map(
      ({ parameters = [], type }) => `[${parameters[0]?.name}: ${typeText(parameters[0]?.type)}]: ${typeText(type)}`,
    ),
    ...children.map((child) => `${memberName(child)}: ${memberTypes(child).join(" & ")}`),
  ];
  return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
}

/** The name of a member with its modifiers. @param {Declaration} member */
export function memberName(member) {
  return `${member.flags.isReadonly ? "readonly " : ""}${member.name}${member.flags.isOptional ? "?" : ""}`;
}

/** @param {import("typedoc").MappedType} type */
function mappedText(type) {
  const { parameter, parameterType, templateType, readonlyModifier: read, optionalModifier: optional, nameType } = type;
  const before = read === undefined ? "" : `${read === "-" ? "-" : ""}readonly `;
  const after = optional === undefined ? "" : `${optional === "-" ? "-" : ""}?`;
  const as = nameType ? ` as ${typeText(nameType)}` : "";
  return `{ ${before}[${parameter} in ${typeText(parameterType)}${as}]${after}: ${typeText(templateType)} }`;
}
