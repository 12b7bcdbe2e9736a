import type { View } from "../screen.ts";
import { visibleLine } from "../text.ts";
import { type Talk, choose } from "./choose.ts";
import { type Excerpt, ownLines } from "./server-text.ts";

/** Returns texts one below the other. */
export function stack(...parts: readonly (Excerpt | readonly string[])[]): Excerpt {
  return {
    lines: parts.flatMap((part) => ("lines" in part ? part.lines : part)),
    isCut: parts.some((part) => "lines" in part && part.isCut),
  };
}

/** Shows a text. If a part is left out, the last line states how to see it. */
export function present({ lines, isCut }: Excerpt, { prompter, view }: Talk): void {
  const note = isCut ? [view.style.yellow("Not everything is shown. View it before you decide.")] : [];
  prompter.say([...lines, ...note].join("\n"));
}

/** A question with the choice to view everything. */
export interface Question<T extends string | boolean> {
  readonly prompt: string;
  readonly keys: Readonly<Record<string, T>>;
  /** Returns everything that is known, without cuts. */
  readonly all: () => readonly string[];
}

/** Asks until the choice is another one than `[v]iew`, which shows everything. */
export async function chooseOrView<T extends string | boolean>(
  { prompt, keys, all }: Question<T>,
  { prompter }: Talk,
): Promise<T> {
  for (;;) {
    const choice = await choose<T | "view">(prompt, { ...keys, v: "view" }, prompter);
    if (choice !== "view") return choice;
    prompter.say(["", ...all()].join("\n"));
  }
}

/** Returns the first line of a question: who asks, and what for. It follows an empty line. */
export function heading(text: string, view: View): string[] {
  return ["", ...ownLines(text, view).map(view.style.bold)];
}

/** Returns remarks of the host, which stand out with and without colours. */
export function remarkLines(remarks: readonly string[], view: View): string[] {
  return remarks.flatMap((remark) => ownLines(visibleLine(remark), view, ["! ", "  "]).map(view.style.yellow));
}
