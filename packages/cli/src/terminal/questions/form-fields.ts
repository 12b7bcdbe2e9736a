import type { FormContent, FormField, FormOption, FormRequest } from "@mcparley/host";
import { visibleLine } from "../text.ts";
import type { MenuEntry, Suggest } from "./prompter.ts";

/** The value of a field (client/elicitation, Requested Schema). */
export type FieldValue = FormContent[string];

/** One field of a form. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly default: FieldValue | undefined;
  /** The expected form, in a few words: `number from 1 to 5`. */
  readonly expects: string;
  /** Empty if any text is allowed. */
  readonly choices: readonly FormOption[];
  /** The menu of the choices. Undefined if any text is allowed. */
  readonly suggest: Suggest | undefined;
  /** Reads typed text. Throws `InvalidField` with the expected form. */
  read(text: string): FieldValue;
}

/** Returns how to ask for the fields of a form, and how to read the answers. */
export function fieldsOf({ fields, check }: Pick<FormRequest, "fields" | "check">): Field[] {
  return fields.map((field) => typedField(field, check));
}

/** An answer is checked in a form with this field only. */
function typedField({ name, title, description, isRequired, input }: FormField, check: FormRequest["check"]): Field {
  const kind = kindOf(input);
  return {
    name,
    title,
    description,
    isRequired,
    default: initialOf(input, isRequired),
    ...kind,
    read: (text) => {
      const answer = kind.read(text);
      const problem = check({ [name]: answer }).find(({ field }) => field === name);
      if (problem) throw new InvalidField(`The answer ${problem.message}.`);
      return answer;
    },
  };
}

type Input<T extends FormField["input"]["type"]> = Extract<FormField["input"], { type: T }>;

type Kind = Pick<Field, "expects" | "choices" | "suggest" | "read">;

/** A kind of field whose answer is any text. */
const open = { choices: [], suggest: undefined } as const;

function kindOf(input: FormField["input"]): Kind {
  switch (input.type) {
    case "text":
      return { ...open, expects: textExpects(input), read: (text) => checkText(text, input) };
    case "number":
      return readNumber(input);
    case "boolean": {
      const suggest = suggestChoices(["yes", "no"].map((word) => ({ text: word, title: word })));
      return { ...open, expects: "yes or no", suggest, read: readBoolean };
    }
    case "choice": {
      const { options: choices } = input;
      const suggest = suggestChoices(typedChoices(choices));
      return { expects: "number of a choice", choices, suggest, read: (text) => choose(text, choices) };
    }
    default:
      return severalChoices(input);
  }
}

function severalChoices({ options: choices, minItems: least = 0, maxItems: most = Infinity }: Input<"choices">): Kind {
  const limits = [least > 0 ? `at least ${least}` : "", most < Infinity ? `at most ${most}` : ""].filter(Boolean);
  const expects = ["numbers of choices, separated by commas", ...limits].join(", ");
  return {
    expects,
    choices,
    suggest: suggestChoices(typedChoices(choices, ","), ","),
    read: (text) => {
      const parts = text.split(",").map((part) => part.trim());
      const values = [...new Set(parts.filter(Boolean).map((part) => choose(part, choices)))];
      if (values.length >= least && values.length <= most) return values;
      throw new InvalidField(`The answer must have ${limits.join(" and ")} choices.`);
    },
  };
}

/** Returns the choices with the text that selects each: its value, or its number if the value cannot be typed. */
function typedChoices(choices: readonly FormOption[], separator?: string): TypedChoice[] {
  return choices.map(({ value, title }, index) => {
    const isTypable = value !== "" && /^[ -~]+$/.test(value) && value.trim() === value;
    const isPart = separator === undefined || !value.includes(separator);
    return { text: isTypable && isPart ? value : String(index + 1), title };
  });
}

/** A choice, and the text that selects it. */
interface TypedChoice {
  readonly text: string;
  readonly title: string;
}

/**
 * Returns the menu of choices: those that contain the text in the input, and the one with this number. With a separator, the
 * text after the last one is completed.
 */
function suggestChoices(choices: readonly TypedChoice[], separator?: string): Suggest {
  const entries = choices.map(({ text, title }): MenuEntry => {
    const label = visibleLine(title);
    return { value: text, label, ...(label !== text && { detail: text }) };
  });
  return (text) => {
    const start = separator === undefined ? 0 : text.lastIndexOf(separator) + 1;
    const part = text.slice(start).trimStart();
    const matches = matching(entries, part.trim().toLowerCase());
    return matches.length === 0 ? undefined : { entries: matches, replaces: part.length };
  };
}

/** Returns the entries in the order in which the field reads typed text: an exact one, the number, and then parts. */
function matching(entries: readonly MenuEntry[], part: string): MenuEntry[] {
  const entryOfNumber = /^\d+$/.test(part) ? entries[Number(part) - 1] : undefined;
  const exact = entries.filter((entry) => texts(entry).includes(part));
  const partialMatches = entries.filter((entry) => texts(entry).some((text) => text.includes(part)));
  return [...new Set([...exact, ...(entryOfNumber ? [entryOfNumber] : []), ...partialMatches])];
}

function texts({ value, label = value }: MenuEntry): string[] {
  return [value.toLowerCase(), label.toLowerCase()];
}

/** Returns the choice with this value, title or number, in this order. */
function choose(text: string, choices: readonly FormOption[]): string {
  const word = text.trim();
  const lower = word.toLowerCase();
  const choiceOfName =
    choices.find(({ value }) => value === word) ?? choices.find(({ title }) => title.toLowerCase() === lower);
  const choice = choiceOfName ?? (/^\d+$/.test(word) ? choices[Number(word) - 1] : undefined);
  if (choice) return choice.value;
  throw new InvalidChoice(word, choices);
}

function readBoolean(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (["y", "yes", "true", "1"].includes(word)) return true;
  if (["n", "no", "false", "0"].includes(word)) return false;
  throw new InvalidField("The answer must be yes or no.");
}

/** Several choices have no "no value". If none must be chosen, none is the answer of an empty line to a required field. */
function initialOf(input: FormField["input"], isRequired: boolean): FieldValue | undefined {
  if (input.type !== "choices") return input.initial;
  const isOpen = !isRequired || (input.minItems ?? 0) > 0;
  return input.initial.length === 0 && isOpen ? undefined : [...input.initial];
}

/** The formats of texts: their names for a user, an example, and the check. */
const formats = new Map<unknown, readonly [expects: string, example: string, matches: (text: string) => boolean]>([
  ["email", ["e-mail address", "ada@example.com", (text) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/.test(text)]],
  ["uri", ["URI", "https://example.com", (text) => URL.canParse(text) && !/\s/.test(text)]],
  ["date", ["date", "2026-03-31", isDate]],
  ["date-time", ["date and time", "2026-03-31T09:30:00Z", isDateTime]],
]);

/** Returns the expected form of a string, in a few words. */
function textExpects({ format, minLength, maxLength }: Input<"text">): string {
  const [expects, example] = formats.get(format) ?? [];
  const base = expects === undefined ? "text" : `${expects}, such as ${example}`;
  const limits = range(minLength, maxLength);
  return limits === "" ? base : `${base}, ${limits} characters`;
}

/** Returns the text if it is valid for the field. Lengths count characters, as in JSON Schema. */
function checkText(text: string, { format, minLength, maxLength }: Input<"text">): string {
  const { length } = Array.from(text);
  if (minLength !== undefined && length < minLength) {
    throw new InvalidField(`The answer must have at least ${minLength} characters; this has ${length}.`);
  }
  if (maxLength !== undefined && length > maxLength) {
    throw new InvalidField(`The answer must have at most ${maxLength} characters; this has ${length}.`);
  }
  const [expects, example, matches] = formats.get(format) ?? [];
  if (!matches || matches(text)) return text;
  throw new InvalidField(`The answer must be a valid ${expects}, such as ${example}.`);
}

/** Returns how to ask for a number or an integer. */
function readNumber({ isInteger, minimum, maximum }: Input<"number">): Kind {
  const limits = range(minimum, maximum);
  const expects = [isInteger ? "whole number" : "number", limits].filter(Boolean).join(" ");
  return {
    ...open,
    expects,
    read: (text) => {
      const value = Number(text);
      const isNumber = /^\s*[+-]?(\d|\.\d)/.test(text) && Number.isFinite(value);
      const isWhole = !isInteger || Number.isSafeInteger(value);
      if (isNumber && isWhole && value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity)) return value;
      throw new InvalidField(`The answer must be a ${expects}.`);
    },
  };
}

function range(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `from ${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? "" : `at most ${most}`;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // `Date` moves the 31st of a shorter month to the next month instead of rejecting it.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))$/.exec(text) ?? [];
  return date !== undefined && isDate(date) && !Number.isNaN(Date.parse(`${date}T${time}`));
}

/** The typed text is not valid for the field. */
export class InvalidField extends Error {
  override readonly name: string = "InvalidField";
}

/** The typed text is none of the choices. Its message is for a user who sees them with their numbers. */
export class InvalidChoice extends InvalidField {
  override readonly name = "InvalidChoice";
  readonly text: string;

  constructor(text: string, { length }: readonly FormOption[]) {
    super(length === 1 ? "There is one choice: 1." : `The answer must be a number from 1 to ${length}.`);
    this.text = text;
  }
}

/** Maximum number of choices in a message. */
const SHOWN_CHOICES = 20;

/** Returns the choices of a field with their titles, for a user who does not see them. */
export function listChoices({ choices }: Pick<Field, "choices">): string {
  const firstChoices = choices.slice(0, SHOWN_CHOICES);
  const texts = firstChoices.map(({ value, title }) => (value === title ? value : `${value} (${title})`));
  const more = choices.length - firstChoices.length;
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
