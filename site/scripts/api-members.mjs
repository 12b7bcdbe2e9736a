// @ts-check
import { addressOf, commentText, deprecation, exportedNames, linksTo } from "./api-comments.mjs";
import { memberTypes } from "./api-types.mjs";

/** @typedef {import("typedoc").DeclarationReflection} Declaration */

/**
 * The members of an interface, a class or an object type. Those of an exported parent are left out, because the declaration
 * names and links that parent. Names of other libraries, which are typed as errors, are left out too.
 *
 * @param {Declaration} declaration
 * @param {ReadonlyMap<string, string>} homes the page that documents each exported name
 * @returns {Declaration[]}
 */
export function membersOf({ type, children = [] }, homes) {
  const members =
    type?.type === "reflection" && !type.declaration.signatures ? (type.declaration.children ?? []) : children;
  return members.filter(({ name, inheritedFrom }) => {
    const parent = inheritedFrom?.name.split(".")[0] ?? "";
    // Members with a tilde are internal, such as those that mark a tool.
    return name !== "constructor" && !name.startsWith("~") && !homes.has(parent) && !isForOtherLibraries(parent);
  });
}

/** Whether an interface has the names that other libraries use, so that TypeScript reports the right name. @param {string} name */
export function isForOtherLibraries(name) {
  return /^Other[A-Z]/.test(name);
}

/** @param {readonly Declaration[]} members @param {import("./api-comments.mjs").Context} context */
export function memberTable(members, context) {
  const rows = members.map((member) => {
    const comment = member.comment ?? member.signatures?.find((signature) => signature.comment)?.comment;
    const text = [deprecation(comment), commentText(comment)].filter((part) => part).join(" ");
    const name = `\`${member.name}${member.flags.isOptional ? "?" : ""}\``;
    return `| ${name} | ${typeCell(member, context)} | ${inCell(text)} |`;
  });
  return ["| Member | Type | Description |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The type of a member. If it names one exported type, the whole text links to it. @param {Declaration} member @param {import("./api-comments.mjs").Context} context */
function typeCell(member, context) {
  const types = memberTypes(member);
  const codes = types.map((text) => codeInCell(text));
  const names = exportedNames(types.join(" "), context);
  const [only] = names;
  if (names.length === 1 && only !== undefined && codes.length === 1)
    return `[${codes[0]}](${addressOf(only, context)})`;
  const links = names.length === 0 ? [] : [linksTo(names, context).join(", ")];
  return [...codes, ...links].join("<br>");
}

/** @param {string} text */
function codeInCell(text) {
  const ticks = text.includes("`") ? "``" : "`";
  return `${ticks}${text.replaceAll("|", String.raw`\|`).replaceAll("\n", " ")}${ticks}`;
}

/** A text in one line of a table. @param {string} text */
function inCell(text) {
  return text
    .replaceAll(/\n{2,}/g, "<br>")
    .replaceAll("\n", " ")
    .replaceAll(/(?<!\\)\|/g, String.raw`\|`);
}
