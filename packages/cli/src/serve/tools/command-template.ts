import { ToolError } from "mcparley/server";

/**
 * One element of a program's arguments: a text with placeholders, or a group of texts. An element is omitted as a whole
 * if one of its values is absent.
 */
export type Element = string | readonly string[];

const placeholder = /\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g;
const wholePlaceholder = /^\{\{\s*([A-Za-z_][\w-]*)\s*\}\}$/;

/** Returns the names of the placeholders in a text. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(placeholder)].map((match) => match[1]!);
}

export interface Filling {
  values: Record<string, unknown>;
  /** The arguments whose values may start with a hyphen, and so be options of the program. */
  options: ReadonlySet<string>;
}

/**
 * Fills in the arguments of a program.
 *
 * Each element stays one argument for any values, because no shell reads them. An element with an absent value is
 * omitted. An element that is only a placeholder for a list becomes one argument for each entry.
 *
 * A value that would make an argument start with a hyphen is rejected, because the program would read it as an option.
 * It is allowed if it is a number, is declared in `options`, or follows the element `--`.
 */
export function fillArguments(elements: readonly Element[], filling: Filling): string[] {
  const filledArguments: string[] = [];
  let afterOptions = false;
  for (const element of elements) {
    if (element === "--") afterOptions = true;
    const parts = typeof element === "string" ? [element] : element;
    if (!parts.every((part) => placeholdersIn(part).every((name) => isGiven(filling.values[name])))) continue;
    for (const part of parts) filledArguments.push(...fillOne(part, filling, afterOptions));
  }
  return filledArguments;
}

/** Fills in a text. An absent value becomes an empty text. */
export function fillText(text: string, values: Record<string, unknown>): string {
  return text.replaceAll(placeholder, (_, name: string) => asText(values[name] ?? ""));
}

function fillOne(part: string, { values, options }: Filling, afterOptions: boolean): string[] {
  const only = wholePlaceholder.exec(part)?.[1];
  const value = only === undefined ? undefined : values[only];
  const items = Array.isArray(value) ? value : undefined;
  const filledParts = items?.map(asText) ?? [fillText(part, values)];
  for (const [index, argument] of filledParts.entries()) {
    if (argument.includes("\0"))
      throw new ToolError("An argument contains a NUL character, which programs do not accept.");
    const names = placeholdersIn(part);
    const isAuthorsOption = part.startsWith("-");
    // A number contains only digits, so it cannot name an option of the author's choice.
    if (typeof (items ? items[index] : value) === "number") continue;
    if (argument.startsWith("-") && !isAuthorsOption && !afterOptions && !names.every((name) => options.has(name))) {
      throw new ToolError(`The argument ${names[0]} must not begin with a hyphen: "${argument.slice(0, 60)}".`);
    }
  }
  return filledParts;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
