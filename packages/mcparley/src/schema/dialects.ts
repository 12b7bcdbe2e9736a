import type { SchemaDraft } from "@cfworker/json-schema";

/**
 * Tells the draft a schema is written in by its `$schema`, which may be missing (2020-12, SEP-1613) or end in "#".
 * Gives undefined for a dialect we do not know.
 */
export function draftOf(dialect: unknown): SchemaDraft | undefined {
  if (dialect === undefined) return "2020-12";
  if (typeof dialect !== "string") return undefined;
  const [, draft] = /^https?:\/\/json-schema\.org\/draft[-/](2020-12|2019-09|0[47])\/schema#?$/.exec(dialect) ?? [];
  return draft?.replace(/^0/, "") as SchemaDraft | undefined;
}
