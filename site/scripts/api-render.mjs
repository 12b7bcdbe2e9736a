// @ts-check
import { ReflectionKind as kinds } from "typedoc";
import { commentText, deprecation, examples, linksTo, mentioned } from "./api-comments.mjs";
import { memberTable, membersOf } from "./api-members.mjs";
import { parametersText, signatureText, typeText } from "./api-types.mjs";

/**
 * @typedef {import("typedoc").DeclarationReflection} Declaration
 * @typedef {Declaration | import("typedoc").ProjectReflection} Module a package with one entry point has no modules
 */

/** The headings of a page, and the kinds of declarations below them. */
const sections = [
  { title: "Functions", wanted: [kinds.Function] },
  { title: "Classes", wanted: [kinds.Class] },
  { title: "Constants", wanted: [kinds.Variable] },
  { title: "Types", wanted: [kinds.Interface, kinds.TypeAlias, kinds.Enum] },
];

/**
 * The page of an entry point as Markdown.
 *
 * @param {import("./api-pages.mjs").ApiPage & { summary: string }} page
 * @param {{ module: Module; homes: ReadonlyMap<string, string> }} model `homes` has the page that documents each name
 */
export function renderEntryPoint({ name, path, summary }, { module, homes }) {
  const context = { path, homes };
  const children = module.children ?? [];
  const own = children.filter((child) => child.variant !== "reference");
  const others = children.filter((child) => child.variant === "reference").map((child) => child.name);
  const parts = sections.flatMap(({ title, wanted }) => {
    const declared = own.filter(({ kind }) => wanted.includes(kind));
    return declared.length === 0 ? [] : [`## ${title}`, ...declared.map((child) => renderDeclaration(child, context))];
  });
  if (others.length > 0) parts.push("## Also exported", `${linksTo(others.toSorted(), context).join(", ")}.`);
  return `${[`# ${name}`, summary, ...parts].join("\n\n")}\n`;
}

/** @param {Declaration} declaration @param {import("./api-comments.mjs").Context} context */
function renderDeclaration(declaration, context) {
  const { name, comment, signatures = [] } = declaration;
  const described = comment ?? signatures.find((signature) => signature.comment)?.comment;
  const members = membersOf(declaration, context.homes);
  const code = declarationText(declaration, { homes: context.homes, isTable: members.length > 0 });
  const parts = [
    `### ${name}`,
    deprecation(described),
    commentText(described),
    code && `\`\`\`typescript\n${code}\n\`\`\``,
    code && mentioned(code, { name, context }),
    members.length === 0 ? undefined : memberTable(members, context),
    ...examples(described),
    ...members.flatMap((member) => examples(member.comment ?? member.signatures?.[0]?.comment, member.name)),
  ];
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

/**
 * A declaration as TypeScript, without the members that the table lists and without parents that are not exported.
 *
 * @param {Declaration} declaration
 * @param {{ homes: ReadonlyMap<string, string>; isTable: boolean }} options
 * @returns {string | undefined}
 */
function declarationText(declaration, { homes, isTable }) {
  const { name, kind, type, signatures = [], typeParameters, extendedTypes = [], children = [] } = declaration;
  if (kind === kinds.Function) {
    return signatures.map((signature) => `function ${signatureText(signature, { name, lines: true })};`).join("\n\n");
  }
  if (kind === kinds.Variable) return `const ${name}: ${typeText(type)};`;
  const parameters = parametersText(typeParameters);
  if (kind === kinds.TypeAlias && !isTable) {
    return `type ${name}${parameters} = ${aliasText(type)};`;
  }
  const exported = extendedTypes
    .map(typeText)
    .filter((text) => homes.has(/^\w+/.exec(text)?.[0] ?? "") || /<|^Error$/.test(text));
  const parents = exported.length === 0 ? "" : ` extends ${exported.join(", ")}`;
  const head =
    parameters + parents === ""
      ? []
      : [`${kind === kinds.Class ? "class" : "interface"} ${name}${parameters}${parents}`];
  const constructors = children
    .filter((child) => child.name === "constructor")
    .flatMap((child) => child.signatures ?? []);
  const lines = [
    ...head,
    ...constructors.map((signature) => `${signatureText(signature, { name: `new ${name}`, lines: true })};`),
  ];
  return lines.length === 0 ? undefined : lines.join("\n\n");
}

/** A type with one line for each part of a long union. @param {import("typedoc").SomeType | undefined} type */
function aliasText(type) {
  const text = typeText(type);
  if (type?.type !== "union" || text.length <= 80) return text;
  return type.types.map((part) => `\n  | ${typeText(part)}`).join("");
}
