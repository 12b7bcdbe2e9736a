/** The JSON Schema dialects that the library supports, named like the folders of the official test suite. */
export const dialects = ["draft4", "draft7", "draft2019-09", "draft2020-12"] as const;

export type Dialect = (typeof dialects)[number];

/** The value of `$schema` for each dialect. */
export const dialectUri: Readonly<Record<Dialect, string>> = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
};
