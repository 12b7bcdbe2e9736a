// @ts-check
import { walk } from "./syntax.mjs";

/** Adverbs, prepositions and irregular participles that are no name by themselves. Regular participles end in "ed". */
const bareWords = new Set(
  (
    "about above across after again ahead along already anew apart around aside at away back before behind below beside " +
    "besides between beyond by during elsewhere ever from here in inside into later mine of often on once onto " +
    "other others out outside over own per rest since so soon than then there through to together too toward twice under " +
    "until up upon via whole with within without yet begun born bound brought built caught chosen cut done drawn fallen felt " +
    "found given gone got heard held hidden kept known laid led left lent lost made meant met overdue paid said seen " +
    "sent shown shut sold sought spent split spoken stolen struck sworn taken taught thrown told torn understood won " +
    "written"
  ).split(" "),
);
/** Nouns that end like a participle. */
const nouns = /^(bed|embed|feed|need|red|seed|speed)$/;

/** @param {string} name */
export function isBare(name) {
  return bareWords.has(name) || (/^[a-z]+ed$/.test(name) && !nouns.test(name));
}

/**
 * Lists the names that a file declares: variables, parameters, functions, types and members, each as often as it is declared.
 *
 * @param {import("./syntax.mjs").Source} source
 * @returns {string[]}
 */
export function declaredNames({ program }) {
  /** @type {string[]} */
  const names = [];
  /** @param {import("./syntax.mjs").Node | null | undefined} pattern */
  const bind = (pattern) => {
    if (pattern?.type === "Identifier") names.push(pattern.name);
    for (const { value, argument } of pattern?.properties ?? []) bind(value ?? argument);
    for (const element of pattern?.elements ?? []) bind(element);
    const inner = pattern?.left ?? pattern?.argument ?? pattern?.parameter;
    if (inner) bind(inner);
  };
  walk(program, (node) => {
    if (/^(VariableDeclarator|FunctionDeclaration|ClassDeclaration|TS\w+Declaration)$/.test(node.type)) bind(node.id);
    if (/Function|TSMethodSignature/.test(node.type)) for (const parameter of node.params ?? []) bind(parameter);
    if (/^(Property|Method)Definition$|^TS(Property|Method)Signature$/.test(node.type) && !node.computed) {
      if (node.key.name !== undefined) names.push(node.key.name);
    }
  });
  return names;
}
