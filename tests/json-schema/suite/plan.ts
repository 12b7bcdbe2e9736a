import type { Dialect } from "../dialects.ts";

/** `required` cases must pass. `informational` cases are run and counted, and never fail the run. */
export type Level = "required" | "informational";

export interface OptionalFile {
  level: Level;
  /** Why the cases are not required. */
  reason?: string;
}

/** Files of `optional/`. A file that is not listed fails the run, so that a new suite cannot add cases unnoticed. */
export const optionalFiles: Readonly<Record<string, OptionalFile>> = {
  anchor: { level: "required" },
  bignum: { level: "required" },
  "cross-draft": { level: "informational", reason: "The library evaluates a whole schema in one dialect." },
  content: { level: "informational", reason: "`contentEncoding` and `contentMediaType` are annotations." },
  "dependencies-compatibility": { level: "required" },
  dynamicRef: { level: "required" },
  "ecmascript-regex": { level: "required" },
  "float-overflow": { level: "required" },
  "format-assertion": { level: "informational", reason: "Custom meta-schemas are not supported." },
  id: { level: "required" },
  "no-schema": { level: "required" },
  "non-bmp-regex": { level: "required" },
  refOfUnknownKeyword: { level: "informational", reason: "The specification leaves such references undefined." },
  unknownKeyword: { level: "required" },
  zeroTerminatedFloats: { level: "informational", reason: "JavaScript parses 1.0 and 1 as the same number." },
};

/** Files of `optional/format/` that are not required. */
export const optionalFormats: Readonly<Record<string, OptionalFile>> = {
  "idn-email": { level: "informational", reason: "The library does not check this format." },
  "idn-hostname": { level: "informational", reason: "The library does not check this format." },
  iri: { level: "informational", reason: "The library does not check this format." },
  "iri-reference": { level: "informational", reason: "The library does not check this format." },
};

/** Returns whether the cases of a file need `format` to be asserted. */
export function assertsFormat(file: string): boolean {
  return file.startsWith("optional/format/") || file === "optional/ecmascript-regex.json";
}

/** Returns whether the schemas of a dialect's folder need the dialect in `$schema`, which they omit. */
export function omitsDialect(dialect: Dialect): boolean {
  return dialect === "draft4" || dialect === "draft7";
}
