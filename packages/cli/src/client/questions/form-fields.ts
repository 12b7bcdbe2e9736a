import type { JsonObject, RequestedSchema } from "mcparley";
import type { InputRequestSource } from "mcparley/client";
import { isObject } from "../json.ts";

/**
 * Returns the fields of a form in their order. A property of an unknown kind is asked for as text. `check` returns the
 * problems of a value that a field of its kind accepts, such as a text that does not match the field's pattern.
 */
export function fieldsOf(schema: RequestedSchema, check: CheckForm = () => []): Field[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, value]) => {
    const property = isObject(value) ? value : {};
    const kind = kindOf(property);
    return {
      name,
      title: text(property.title) ?? name,
      description: text(property.description),
      required: required.has(name),
      default: defaultOf(property),
      ...kind,
      read: (typed) => {
        const answer = kind.read(typed);
        const problem = check({ [name]: answer }).find(({ path }) => isInField(path, name));
        if (problem) throw new InvalidField(`The answer ${problem.message}.`);
        return answer;
      },
    };
  });
}

type CheckForm = NonNullable<InputRequestSource["check"]>;

/** Whether a JSON pointer leads to a field. Other fields may still be empty, which is no problem of this one. */
function isInField(path: string, name: string): boolean {
  const field = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return path === field || path.startsWith(`${field}/`);
}

type Kind = Pick<Field, "expects" | "choices" | "read">;

function kindOf(property: JsonObject): Kind {
  if (property.type === "array") return severalChoices(property);
  const choices = choicesOf(property);
  if (choices.length > 0) return { expects: "number of a choice", choices, read: (typed) => choose(typed, choices) };
  if (property.type === "boolean") return { expects: "yes or no", choices: [], read: readBoolean };
  if (property.type === "number" || property.type === "integer") return readNumber(property);
  return {
    expects: textExpects(property),
    choices: [],
    read: (typed) => checkText(typed, property),
  };
}

function severalChoices(property: JsonObject): Kind {
  const choices = choicesOf(isObject(property.items) ? property.items : {});
  const { minItems, maxItems } = property;
  const least = typeof minItems === "number" ? minItems : 0;
  const most = typeof maxItems === "number" ? maxItems : Infinity;
  const limits = [least > 0 ? `at least ${least}` : "", most < Infinity ? `at most ${most}` : ""].filter(Boolean);
  const expects = ["numbers of choices, separated by commas", ...limits].join(", ");
  return {
    expects,
    choices,
    read: (typed) => {
      const parts = typed.split(",").map((part) => part.trim());
      const chosen = [...new Set(parts.filter(Boolean).map((part) => choose(part, choices)))];
      if (chosen.length >= least && chosen.length <= most) return chosen;
      throw new InvalidField(`The answer must have ${limits.join(" and ")} choices.`);
    },
  };
}

function choicesOf(property: JsonObject): Choice[] {
  const titled = [property.oneOf, property.anyOf].find((list) => Array.isArray(list));
  if (titled) {
    return titled
      .filter(isObject)
      .flatMap(({ const: value, title }) =>
        typeof value === "string" ? [{ value, title: text(title) ?? value }] : [],
      );
  }
  if (!Array.isArray(property.enum)) return [];
  const names = Array.isArray(property.enumNames) ? property.enumNames : [];
  return property.enum.flatMap((value, index) =>
    typeof value === "string" ? [{ value, title: text(names[index]) ?? value }] : [],
  );
}

/** Returns the choice with this value, title or number, in this order. */
function choose(typed: string, choices: readonly Choice[]): string {
  const wanted = typed.trim();
  const named = choices.find(({ value }) => value === wanted) ?? choices.find(({ title }) => same(title, wanted));
  const chosen = named ?? (/^\d+$/.test(wanted) ? choices[Number(wanted) - 1] : undefined);
  if (chosen) return chosen.value;
  throw new InvalidChoice(wanted, choices);
}

function readBoolean(typed: string): boolean {
  const word = typed.trim().toLowerCase();
  if (["y", "yes", "true", "1"].includes(word)) return true;
  if (["n", "no", "false", "0"].includes(word)) return false;
  throw new InvalidField("The answer must be yes or no.");
}

function defaultOf({ default: value }: JsonObject): FieldValue | undefined {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

interface Format {
  readonly expects: string;
  readonly example: string;
  matches(text: string): boolean;
}

const formats = new Map<unknown, Format>([
  [
    "email",
    {
      expects: "e-mail address",
      example: "ada@example.com",
      matches: (text) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/.test(text),
    },
  ],
  [
    "uri",
    { expects: "URI", example: "https://example.com", matches: (text) => URL.canParse(text) && !/\s/.test(text) },
  ],
  ["date", { expects: "date", example: "2026-03-31", matches: isDate }],
  ["date-time", { expects: "date and time", example: "2026-03-31T09:30:00Z", matches: isDateTime }],
]);

/** Returns the expected form of a string, in a few words. */
function textExpects(property: JsonObject): string {
  const format = formats.get(property.format);
  const base = format ? `${format.expects}, such as ${format.example}` : "text";
  const { minLength, maxLength } = property;
  const limits = range(minLength, maxLength);
  return limits === "" ? base : `${base}, ${limits} characters`;
}

/** Returns the text if it is valid for the string schema. Lengths count characters, as in JSON Schema. */
function checkText(text: string, property: JsonObject): string {
  const { minLength, maxLength } = property;
  const { length } = Array.from(text);
  if (typeof minLength === "number" && length < minLength) {
    throw new InvalidField(`The answer must have at least ${minLength} characters; this has ${length}.`);
  }
  if (typeof maxLength === "number" && length > maxLength) {
    throw new InvalidField(`The answer must have at most ${maxLength} characters; this has ${length}.`);
  }
  const format = formats.get(property.format);
  if (!format || format.matches(text)) return text;
  throw new InvalidField(`The answer must be a valid ${format.expects}, such as ${format.example}.`);
}

/** Returns how to ask for a number or an integer. */
function readNumber(property: JsonObject): Pick<Field, "expects" | "choices" | "read"> {
  const { minimum, maximum, type } = property;
  const limits = range(minimum, maximum);
  const expects = [type === "integer" ? "whole number" : "number", limits].filter(Boolean).join(" ");
  const least = typeof minimum === "number" ? minimum : -Infinity;
  const most = typeof maximum === "number" ? maximum : Infinity;
  return {
    expects,
    choices: [],
    read: (typed) => {
      const value = Number(typed);
      const written = /^\s*[+-]?(\d|\.\d)/.test(typed) && Number.isFinite(value);
      const whole = type !== "integer" || Number.isSafeInteger(value);
      if (written && whole && value >= least && value <= most) return value;
      throw new InvalidField(`The answer must be a ${expects}.`);
    },
  };
}

function range(least: unknown, most: unknown): string {
  if (typeof least === "number" && typeof most === "number") return `from ${least} to ${most}`;
  if (typeof least === "number") return `at least ${least}`;
  return typeof most === "number" ? `at most ${most}` : "";
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

/** The value of a field (client/elicitation, Requested Schema). */
export type FieldValue = string | number | boolean | string[];

interface Choice {
  readonly value: string;
  readonly title: string;
}

/** One field of a form. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly default: FieldValue | undefined;
  /** The expected form, in a few words: `number from 1 to 5`. */
  readonly expects: string;
  /** Empty if any text is allowed. */
  readonly choices: readonly Choice[];
  /** Reads typed text. Throws `InvalidField` with the expected form. */
  read(text: string): FieldValue;
}

/** The typed text is not valid for the field. */
export class InvalidField extends Error {
  override readonly name: string = "InvalidField";
}

/** The typed text is none of the choices. Its message is for a user who sees them with their numbers. */
export class InvalidChoice extends InvalidField {
  override readonly name = "InvalidChoice";
  readonly typed: string;

  constructor(typed: string, { length }: readonly Choice[]) {
    super(length === 1 ? "There is one choice: 1." : `The answer must be a number from 1 to ${length}.`);
    this.typed = typed;
  }
}

/** Maximum number of choices in a message. */
const SHOWN_CHOICES = 20;

/** Returns the choices of a field with their titles, for a user who does not see them. */
export function listChoices({ choices }: Pick<Field, "choices">): string {
  const shown = choices.slice(0, SHOWN_CHOICES);
  const texts = shown.map(({ value, title }) => (value === title ? value : `${value} (${title})`));
  const more = choices.length - shown.length;
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
