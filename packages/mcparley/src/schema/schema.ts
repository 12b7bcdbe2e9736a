/**
 * A JSON Schema as an object. The dialect is 2020-12 unless `$schema` names another one.
 * A subschema may also be a boolean.
 */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** One reason why a value does not fit a schema. */
export interface ValidationIssue {
  /** A JSON pointer (RFC 6901) to the offending value, `/items/0/name`; the empty string is the whole value. */
  readonly path: string;
  /** The requirement, as the end of a sentence: `must be string`. Contains at most 80 characters of a name from the value. */
  readonly message: string;
}

/** The result of a validation: the value to continue with, in which defaults may be filled in, or its issues. */
export type Outcome =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

/** Checks a value, synchronously and without changing it. */
export type Validator = (value: unknown) => Outcome;

/** The largest number of issues that are reported for one value. A reader corrects a few and tries again. */
export const MAX_ISSUES = 20;

export type SchemaErrorCode =
  | "unsupported_dialect"
  | "external_ref"
  | "too_complex"
  | "invalid_schema"
  | "no_json_schema";

/** Thrown when a schema, not a value, is at fault: it cannot be used at all until it is changed. */
export class SchemaError extends Error {
  override readonly name: string = "SchemaError";
  readonly code: SchemaErrorCode;

  constructor(code: SchemaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Writes one step of a JSON pointer (RFC 6901 section 3), the leading slash included. */
export function pointerStep(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Writes an issue as one line, `/location: must be string`; the whole value is written `/`. */
export function formatIssue(issue: ValidationIssue): string {
  return `${issue.path || "/"}: ${issue.message}`;
}

/** Cuts text to `length` characters and marks the cut, so that no peer decides how long our messages get. */
export function shorten(text: string, length = 80): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Writes a number of things: `1 item`, `2 items`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
