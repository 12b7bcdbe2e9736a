import { type Field, type FieldValue, InvalidField } from "./field.ts";

/** What `--answer` gives for a form. */
export interface GivenAnswers {
  readonly values: ReadonlyMap<string, FieldValue>;
  /** Required fields with neither an answer nor a default. */
  readonly missing: readonly string[];
  /** What is wrong with the answers that do not fit, ready to be shown. */
  readonly problems: readonly string[];
}

/** Reads the answers that were given on the command line as the fields of a form want them. */
export function readAnswers(fields: readonly Field[], answers: Readonly<Record<string, string>>): GivenAnswers {
  const values = new Map<string, FieldValue>();
  const problems: string[] = [];
  for (const field of fields) {
    if (!Object.hasOwn(answers, field.name)) continue;
    try {
      values.set(field.name, field.read(answers[field.name]!));
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      problems.push(`--answer ${field.name}=${answers[field.name]}: ${error.message}`);
    }
  }
  const missing = fields.filter((field) => field.required && field.default === undefined && !values.has(field.name));
  return { values, missing: missing.map(({ name }) => name), problems };
}

/** The answers with the defaults of the fields that have none. */
export function withDefaults(
  fields: readonly Field[],
  values: ReadonlyMap<string, FieldValue>,
): Record<string, FieldValue> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = values.get(field.name) ?? field.default;
      return value === undefined ? [] : [[field.name, value] as const];
    }),
  );
}
