import type { ElicitFormParams, JsonObject } from "mcparley";
import type { InputRequestSource } from "mcparley/client";
import { isObject } from "./is-object.ts";
import { pointerKeys } from "./json-pointer.ts";

/** The fields of a form, and the check of its answers. The host declares these types again, because they are public there. */
export interface FormModel {
  readonly fields: readonly FormField[];
  check(this: void, content: FormContent): { field: string | undefined; message: string }[];
}

type FormContent = Record<string, string | number | boolean | string[]>;

interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly input: FormInput;
}

type FormInput =
  | (Optional<"minLength" | "maxLength", number> &
      Optional<"pattern" | "format" | "initial", string> & { type: "text" })
  | (Optional<"minimum" | "maximum" | "initial", number> & { type: "number"; isInteger: boolean })
  | (Optional<"initial", boolean> & { type: "boolean" })
  | (Optional<"initial", string> & { type: "choice"; options: FormOption[] })
  | (Optional<"minItems" | "maxItems", number> & { type: "choices"; options: FormOption[]; initial: string[] });

type Optional<Name extends string, Value> = { readonly [name in Name]: Value | undefined };

interface FormOption {
  readonly value: string;
  readonly title: string;
}

/**
 * Returns the form that a schema describes, with its fields in the order of the schema.
 *
 * The client has already refused a schema that is not an object with properties, or that cannot be checked. A property of an
 * unknown kind becomes a text field. `check` returns the problems if the server expects another value.
 */
export function formModel(
  schema: ElicitFormParams["requestedSchema"],
  check: InputRequestSource["check"] = () => [],
): FormModel {
  const requiredNames = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(schema.properties).map(([name, value]): FormField => {
    const property = isObject(value) ? value : {};
    return {
      name,
      title: text(property.title) ?? name,
      description: text(property.description),
      isRequired: requiredNames.has(name),
      input: inputOf(property),
    };
  });
  return {
    fields,
    check: (content) =>
      check(content).map((issue) => ({ field: fieldOf(issue, content, fields), message: issue.message })),
  };
}

function inputOf(property: JsonObject): FormInput {
  if (property.type === "array") return choices(property);
  const options = optionsOf(property);
  if (options.length > 0) return { type: "choice", options, initial: listedValue(property.default, options) };
  const { type, default: initial } = property;
  if (type === "boolean") return { type, initial: typeof initial === "boolean" ? initial : undefined };
  if (type === "number" || type === "integer") {
    return {
      type: "number",
      isInteger: type === "integer",
      minimum: number(property.minimum),
      maximum: number(property.maximum),
      initial: number(initial),
    };
  }
  return {
    type: "text",
    minLength: number(property.minLength),
    maxLength: number(property.maxLength),
    pattern: text(property.pattern),
    format: text(property.format),
    initial: typeof initial === "string" ? initial : undefined,
  };
}

function choices(property: JsonObject): FormInput {
  const options = optionsOf(isObject(property.items) ? property.items : {});
  const initial: unknown[] = Array.isArray(property.default) ? property.default : [];
  return {
    type: "choices",
    options,
    minItems: number(property.minItems),
    maxItems: number(property.maxItems),
    initial: initial.flatMap((value) => listedValue(value, options) ?? []),
  };
}

/** Returns the options of a choice: titled ones of `oneOf` or `anyOf`, or `enum` with the `enumNames` of 2025-06-18. */
function optionsOf(property: JsonObject): FormOption[] {
  const titledOptions = [property.oneOf, property.anyOf].find((list): list is unknown[] => Array.isArray(list));
  if (titledOptions) {
    return titledOptions
      .filter(isObject)
      .flatMap(({ const: value, title }) =>
        typeof value === "string" ? [{ value, title: text(title) ?? value }] : [],
      );
  }
  const values: unknown[] = Array.isArray(property.enum) ? property.enum : [];
  const names: unknown[] = Array.isArray(property.enumNames) ? property.enumNames : [];
  return values.flatMap((value, index) =>
    typeof value === "string" ? [{ value, title: text(names[index]) ?? value }] : [],
  );
}

function fieldOf(
  { path, message }: { readonly path: string; readonly message: string },
  content: FormContent,
  fields: readonly FormField[],
): string | undefined {
  if (path !== "") {
    const [name] = pointerKeys(path);
    return fields.find((field) => field.name === name)?.name;
  }
  // A missing value is a problem of the whole content. Its message ends with the name of the property.
  const isMissing = ({ name, isRequired }: FormField): boolean =>
    isRequired &&
    (!Object.hasOwn(content, name) || content[name] === undefined) &&
    message.endsWith(JSON.stringify(name));
  return fields.find(isMissing)?.name;
}

function listedValue(value: unknown, options: readonly FormOption[]): string | undefined {
  return options.find((option) => option.value === value)?.value;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
