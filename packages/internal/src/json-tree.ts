import { type Node, createScanner } from "jsonc-parser";

/** Maximum number of nested objects and arrays. It bounds the recursion here and in the library. */
export const maxDepth = 64;

/** Returns the brackets that are open before `end`, and the offset of the first one that is nested too deeply. */
export function openBrackets(text: string, end: number = text.length): { open: string[]; tooDeepAt?: number } {
  const scanner = createScanner(text, true);
  const open: string[] = [];
  while (scanner.getPosition() < end) {
    scanner.scan();
    const offset = scanner.getTokenOffset();
    if (offset >= end) break;
    // A string token starts with its quote, so brackets inside strings do not match.
    const token = text.charAt(offset);
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    if (open.length > maxDepth) return { open, tooDeepAt: offset };
  }
  return { open };
}

/** Returns the value of a tree. */
export function toValue({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(toValue);
  if (type !== "object") return value as unknown;
  const members = children.map(({ children: [key, member] = [] }) => [String(key?.value), member && toValue(member)]);
  // Unlike an assignment, this makes a key such as "__proto__" an ordinary member.
  return Object.fromEntries(members) as unknown;
}
