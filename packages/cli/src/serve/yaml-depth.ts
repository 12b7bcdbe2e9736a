import { type CST, Parser } from "yaml";

/**
 * Finds the place where YAML is nested deeper than `limit`, or gives undefined. Takes linear time and no recursion: what
 * makes values of the tokens recurses, and on a full stack the engine may end the whole process.
 */
export function placeTooDeep(text: string, limit: number): number | undefined {
  let level: (CST.Token | null | undefined)[] = [...new Parser().parse(text)];
  for (let depth = 0; level.length > 0; depth++) {
    const next: typeof level = [];
    for (const token of level) {
      if (!token) continue;
      if (depth > limit) return token.offset;
      if (token.type === "document") next.push(token.value);
      if ("items" in token) for (const { key, value } of token.items) next.push(key, value);
    }
    level = next;
  }
  return undefined;
}
