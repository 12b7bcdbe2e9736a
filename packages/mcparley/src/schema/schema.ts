/**
 * A JSON Schema as an object. The dialect is 2020-12 unless `$schema` names another one.
 * A subschema may also be a boolean.
 */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** One reason why a value does not match a schema. */
export interface ValidationIssue {
  /** A JSON pointer (RFC 6901) to the invalid value, such as `/items/0/name`. The whole value has the empty string. */
  readonly path: string;
  /**
   * The requirement, as the end of a sentence: `must be string`. Contains at most 80 characters of a name from the value.
   */
  readonly message: string;
}

/** The result of a validation: the issues, or the value, in which a schema library may have filled in defaults. */
export type Outcome =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

/** Checks a value, synchronously and without changing it. */
export type Validator = (value: unknown) => Outcome;

/** Maximum number of issues that are reported for one value. A model corrects them and tries again. */
export const MAX_ISSUES = 20;

type SchemaErrorCode = "unsupported_dialect" | "external_ref" | "too_complex" | "invalid_schema" | "no_json_schema";

/** Thrown if a schema cannot be used, independent of any value. */
export class SchemaError extends Error {
  override readonly name: string = "SchemaError";
  readonly code: SchemaErrorCode;

  constructor(code: SchemaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Encodes one step of a JSON pointer (RFC 6901 section 3), with the leading slash. */
export function pointerStep(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Formats an issue as one line, such as `/location: must be string`. The path of the whole value is `/`. */
export function formatIssue(issue: ValidationIssue): string {
  return `${issue.path || "/"}: ${issue.message}`;
}

/** Shortens text of a peer to `length` characters, and marks the cut. */
export function shorten(text: string, length = 80): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Returns a number with its noun: `1 item`, `2 items`. */
export function formatCount(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
