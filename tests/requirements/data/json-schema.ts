import type { Requirement } from "../requirement.ts";

const documented = { from: "2025-11-25" } as const;
const modern = { from: "2026-07-28" } as const;

export const jsonSchema: readonly Requirement[] = [
  {
    id: "json-schema.dialect.default",
    level: "MUST",
    revisions: documented,
    side: "both",
    section: "2025-11-25/basic#implementation-requirements",
    says: "A schema without a dialect is JSON Schema 2020-12.",
  },
  {
    id: "json-schema.dialect.explicit",
    level: "MAY",
    revisions: documented,
    side: "server",
    section: "2025-11-25/basic#schema-dialect",
    says: "A schema may name its dialect, which is listed.",
  },
  {
    id: "json-schema.dialect.respected",
    level: "MUST",
    revisions: documented,
    side: "both",
    section: "2025-11-25/basic#implementation-requirements",
    says: "Values are checked by the rules of the dialect that the schema names.",
  },
  {
    id: "json-schema.dialect.unsupported",
    level: "MUST",
    revisions: documented,
    side: "both",
    section: "2025-11-25/basic#implementation-requirements",
    says: "An unsupported dialect causes an error that names it.",
  },
  {
    id: "json-schema.dialect.documented",
    level: "SHOULD",
    revisions: documented,
    side: "both",
    section: "2025-11-25/basic#implementation-requirements",
    says: "The supported dialects are documented.",
    excuse:
      "The requirement is for documentation. The guide lists the dialects, and the error for another dialect names them.",
  },
  {
    id: "json-schema.dialect.recommended",
    level: "SHOULD",
    revisions: documented,
    side: "server",
    section: "2025-11-25/basic#schema-dialect",
    says: "Schemas that the library generates are JSON Schema 2020-12.",
  },
  {
    id: "json-schema.valid",
    level: "MUST",
    revisions: documented,
    side: "server",
    section: "2025-11-25/basic#schema-validation",
    says: "A schema that is invalid in every dialect is not offered.",
  },
  {
    id: "json-schema.ref.not-fetched",
    level: "MUST",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#ref-resolution",
    says: "A reference to the network is not fetched.",
  },
  {
    id: "json-schema.ref.rejected",
    level: "SHOULD",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#ref-resolution",
    says: "A schema with an unresolvable reference is rejected, and is not treated as one that allows all values.",
  },
  {
    id: "json-schema.ref.opt-in",
    level: "MAY",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#ref-resolution",
    says: "References to other documents may be fetched if they were enabled.",
    excuse: "The library does not use this option: it never fetches a schema.",
  },
  {
    id: "json-schema.bounds",
    level: "SHOULD",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#composition-keyword-resource-use",
    says: "The size and depth of a schema are limited.",
  },
];
