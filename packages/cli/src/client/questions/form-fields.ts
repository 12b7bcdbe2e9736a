import type { JsonObject, RequestedSchema } from "mcparley";
import type { Asker } from "mcparley/client";
import { isObject } from "../is-object.ts";
import { type Choice, type Field, type FieldValue, InvalidField } from "./field.ts";
import { checkText, readNumber, textExpects } from "./plain-values.ts";

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

type CheckForm = NonNullable<Asker["check"]>;

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
  const expects = ["numbers of choices with commas", ...limits].join(", ");
  return {
    expects,
    choices,
    read: (typed) => {
      const parts = typed.split(",").map((part) => part.trim());
      const chosen = [...new Set(parts.filter(Boolean).map((part) => choose(part, choices)))];
      if (chosen.length >= least && chosen.length <= most) return chosen;
      throw new InvalidField(`Choose ${limits.join(" and ")}.`);
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

/** A choice by its number, its value or its title; a value that is itself a number wins over the number. */
function choose(typed: string, choices: readonly Choice[]): string {
  const wanted = typed.trim();
  const named = choices.find(({ value }) => value === wanted) ?? choices.find(({ title }) => same(title, wanted));
  const chosen = named ?? (/^\d+$/.test(wanted) ? choices[Number(wanted) - 1] : undefined);
  if (chosen) return chosen.value;
  throw new InvalidField(
    choices.length === 1 ? "There is one choice: 1." : `Type a number from 1 to ${choices.length}.`,
  );
}

function readBoolean(typed: string): boolean {
  const word = typed.trim().toLowerCase();
  if (["y", "yes", "true", "1"].includes(word)) return true;
  if (["n", "no", "false", "0"].includes(word)) return false;
  throw new InvalidField("Type yes or no.");
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
