import type { FieldProblem, FormContent, FormField, FormOption } from "@mcparley/host";
import type { JsonObject, RequestedSchema } from "mcparley";
import type { InputRequestSource } from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import { type Field, type FieldValue, typedField } from "../../terminal/questions/form-fields.ts";

type CheckForm = NonNullable<InputRequestSource["check"]>;

/**
 * Returns the fields of a form in their order. A property of an unknown kind is asked for as text. `check` returns the
 * problems of a value that a field of its kind accepts, such as a text that does not match the field's pattern.
 */
export function fieldsOf(schema: RequestedSchema, check: CheckForm = () => []): Field[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, value]) => {
    const property = isObject(value) ? value : {};
    const field: FormField = {
      name,
      title: text(property.title) ?? name,
      description: text(property.description),
      isRequired: required.has(name),
      input: inputOf(property),
    };
    // Other fields may still be empty, which is no problem of this one.
    const problemOf = (content: FormContent): string | undefined =>
      check(content).find(({ path }) => isInField(path, name))?.message;
    return { ...typedField(field, problemOf), default: defaultOf(property) };
  });
}

/** Returns the problems of the answers to all fields. */
export function formProblems(fields: readonly Field[], content: FormContent, check: CheckForm): FieldProblem[] {
  return check(content).map(({ path, message }) => ({
    field: fields.find(({ name }) => isInField(path, name))?.name,
    message,
  }));
}

/** Whether a JSON pointer leads to a field. */
function isInField(path: string, name: string): boolean {
  const field = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return path === field || path.startsWith(`${field}/`);
}

function inputOf(property: JsonObject): FormField["input"] {
  if (property.type === "array") {
    return {
      type: "choices",
      options: optionsOf(isObject(property.items) ? property.items : {}),
      minItems: number(property.minItems),
      maxItems: number(property.maxItems),
      initial: [],
    };
  }
  const options = optionsOf(property);
  const initial = undefined;
  if (options.length > 0) return { type: "choice", options, initial };
  if (property.type === "boolean") return { type: "boolean", initial };
  if (property.type === "number" || property.type === "integer") {
    const [minimum, maximum] = [number(property.minimum), number(property.maximum)];
    return { type: "number", isInteger: property.type === "integer", minimum, maximum, initial };
  }
  return {
    type: "text",
    minLength: number(property.minLength),
    maxLength: number(property.maxLength),
    pattern: text(property.pattern),
    format: text(property.format),
    initial,
  };
}

function optionsOf(property: JsonObject): FormOption[] {
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

function defaultOf({ default: value }: JsonObject): FieldValue | undefined {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
