import { quotedWord } from "./quoted-word.ts";
import { visibleLine } from "./terminal-text.ts";

/** Returns the cure for calls of tools that were refused: the option that allows them. Each name can have its server before a colon. */
export function allowCure(names: readonly string[]): string {
  const different = [...new Set(names)];
  const options = different.map((name) => `--allow ${quotedWord(visibleLine(name))}`).join(" ");
  const cure = `Allow ${different.length === 1 ? "it" : "them"} with ${options}.`;
  return different.some((name) => name.includes("*")) ? `${cure} It allows each tool that the pattern matches.` : cure;
}
