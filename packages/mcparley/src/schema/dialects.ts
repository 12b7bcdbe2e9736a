import type { SchemaDraft } from "@cfworker/json-schema";
import { SchemaError, shorten } from "./schema.ts";

/** The dialect of a schema without `$schema` (SEP-1613). */
export const DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema";

const drafts: ReadonlyMap<string, SchemaDraft> = new Map([
  [DEFAULT_DIALECT, "2020-12"],
  ["https://json-schema.org/draft/2019-09/schema", "2019-09"],
  ["http://json-schema.org/draft-07/schema", "7"],
  ["http://json-schema.org/draft-04/schema", "4"],
]);

/**
 * Tells the draft a schema is written in by its `$schema`, which may be missing or end in "#".
 * Throws a SchemaError `unsupported_dialect` for a dialect we do not know.
 */
export function draftOf(schema: { readonly [keyword: string]: unknown }): SchemaDraft {
  const dialect = schema["$schema"];
  if (dialect === undefined) return "2020-12";
  const draft = drafts.get(typeof dialect === "string" ? dialect.replace(/#$/, "") : "");
  if (draft !== undefined) return draft;
  throw new SchemaError(
    "unsupported_dialect",
    `The schema's dialect ${shorten(JSON.stringify(dialect))} is not supported; use one of ${[...drafts.keys()].join(", ")}.`,
  );
}
