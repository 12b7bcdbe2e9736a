import type { JsonObject } from "mcparley";
import { type Field, InvalidField } from "./field.ts";

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

/** What to type for a string, in a few words. */
export function textExpects(property: JsonObject): string {
  const format = formats.get(property.format);
  const base = format ? `${format.expects}, such as ${format.example}` : "text";
  const { minLength, maxLength } = property;
  const limits = range(minLength, maxLength);
  return limits === "" ? base : `${base}, ${limits} characters`;
}

/** Gives the text back where it fits the string schema. Lengths count characters, as JSON Schema does. */
export function checkText(text: string, property: JsonObject): string {
  const { minLength, maxLength } = property;
  const { length } = Array.from(text);
  if (typeof minLength === "number" && length < minLength) {
    throw new InvalidField(`Type at least ${minLength} characters; this has ${length}.`);
  }
  if (typeof maxLength === "number" && length > maxLength) {
    throw new InvalidField(`Type at most ${maxLength} characters; this has ${length}.`);
  }
  const format = formats.get(property.format);
  if (!format || format.matches(text)) return text;
  throw new InvalidField(`That is not a valid ${format.expects}; write it like ${format.example}.`);
}

/** The kind of a number or integer property. */
export function readNumber(property: JsonObject): Pick<Field, "expects" | "choices" | "read"> {
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
      throw new InvalidField(`Type a ${expects}.`);
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
  // The 31st of a shorter month is moved on rather than refused by Date.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))$/.exec(text) ?? [];
  return date !== undefined && isDate(date) && !Number.isNaN(Date.parse(`${date}T${time}`));
}
