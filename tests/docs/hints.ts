import { fileURLToPath } from "node:url";
import { parseFolder, walk } from "../../scripts/house/syntax.mjs";

/** A node of the syntax tree. */
type Syntax = Record<string, any>;

const commandFolder = fileURLToPath(new URL("../../packages/cli/src", import.meta.url));

/**
 * Returns the hints of the command, as they are written in its source: the second argument of each `UsageError`, and the
 * texts of functions and variables that are named after a hint or a cure. A placeholder of a template is `…`.
 *
 * The cures of problems in the files of a folder are left out: each is printed with its file and line.
 */
export function hintsOfCommand(): string[] {
  const found = new Set<string>();
  for (const { name, program } of parseFolder(commandFolder)) {
    if (/^serve\/.*\//.test(name) && !/open-store|protect-folder/.test(name)) continue;
    walk(program, (node: Syntax) => {
      const root = hintNode(node);
      if (root) for (const text of textsIn(root)) found.add(text);
    });
  }
  return [...found].filter((text) => /[a-z]{2,}.* .*[a-z]{2,}/.test(text)).toSorted();
}

/** The part of the tree whose texts are hints, if the node has one. */
function hintNode(node: Syntax): Syntax | undefined {
  const isNamed = (id: Syntax | undefined): boolean =>
    id?.type === "Identifier" && /hint$|hintfor|cure|didYouMean|earlierRevision/i.test(id.name);
  if (node.type === "NewExpression" && node.callee.name === "UsageError") return node.arguments[1];
  if (node.type === "FunctionDeclaration" && isNamed(node.id)) return node.body;
  if (node.type === "VariableDeclarator" && isNamed(node.id)) return node.init;
  return undefined;
}

/** Returns the texts below a node: literals, templates with `…` for their placeholders, and both concatenated with `+`. */
export function textsIn(root: Syntax): string[] {
  const texts: string[] = [];
  walk(root as never, (node: Syntax) => {
    const text = textOf(node);
    if (text !== undefined) texts.push(text);
  });
  return texts;
}

function textOf(node: Syntax): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type === "TemplateLiteral") return node.quasis.map(({ value }: Syntax) => value.cooked).join("…");
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}
