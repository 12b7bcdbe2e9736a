import { visibleLine } from "../text.ts";
import type { MenuEntry, Suggest } from "./prompter.ts";

/** A choice, and the text that selects it. */
interface TypedChoice {
  readonly typed: string;
  readonly title: string;
}

/**
 * Returns the menu of choices: those that contain the text in the input, and the one with this number. With a separator, the
 * text after the last one is completed.
 */
export function suggestChoices(choices: readonly TypedChoice[], separator?: string): Suggest {
  const entries = choices.map(({ typed, title }): MenuEntry => {
    const label = visibleLine(title);
    return { value: typed, label, ...(label !== typed && { detail: typed }) };
  });
  return (before) => {
    const start = separator === undefined ? 0 : before.lastIndexOf(separator) + 1;
    const part = before.slice(start).trimStart();
    const found = matching(entries, part.trim().toLowerCase());
    return found.length === 0 ? undefined : { entries: found, replaces: part.length };
  };
}

/** Returns the entries in the order in which the field reads typed text: an exact one, the number, and then parts. */
function matching(entries: readonly MenuEntry[], part: string): MenuEntry[] {
  const numbered = /^\d+$/.test(part) ? entries[Number(part) - 1] : undefined;
  const exact = entries.filter((entry) => texts(entry).includes(part));
  const others = entries.filter((entry) => texts(entry).some((text) => text.includes(part)));
  return [...new Set([...exact, ...(numbered ? [numbered] : []), ...others])];
}

function texts({ value, label = value }: MenuEntry): string[] {
  return [value.toLowerCase(), label.toLowerCase()];
}
