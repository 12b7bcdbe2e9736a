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
    says: "A schema that names no dialect is one of JSON Schema 2020-12.",
  },
  {
    id: "json-schema.dialect.explicit",
    level: "MAY",
    revisions: documented,
    side: "server",
    section: "2025-11-25/basic#schema-dialect",
    says: "A schema may name its dialect, which is listed with it.",
  },
  {
    id: "json-schema.dialect.respected",
    level: "MUST",
    revisions: documented,
    side: "both",
    section: "2025-11-25/basic#implementation-requirements",
    says: "Values are checked by the rules of the dialect that their schema names.",
  },
  {
    id: "json-schema.dialect.unsupported",
    level: "MUST",
    revisions: documented,
    side: "both",
    section: "2025-11-25/basic#implementation-requirements",
    says: "A dialect that is not supported gives an error that says so.",
  },
  {
    id: "json-schema.dialect.documented",
    level: "SHOULD",
    revisions: documented,
    side: "both",
    section: "2025-11-25/basic#implementation-requirements",
    says: "The dialects that are supported are documented.",
    excuse:
      "The requirement is for documentation. The guide lists the dialects, and the error for another dialect names them.",
  },
  {
    id: "json-schema.dialect.recommended",
    level: "SHOULD",
    revisions: documented,
    side: "server",
    section: "2025-11-25/basic#schema-dialect",
    says: "What the library itself makes of a schema is JSON Schema 2020-12.",
  },
  {
    id: "json-schema.valid",
    level: "MUST",
    revisions: documented,
    side: "server",
    section: "2025-11-25/basic#schema-validation",
    says: "A schema that is built in a way that no dialect allows is not offered.",
  },
  {
    id: "json-schema.ref.not-fetched",
    level: "MUST",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#ref-resolution",
    says: "A reference to the network is not followed.",
  },
  {
    id: "json-schema.ref.rejected",
    level: "SHOULD",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#ref-resolution",
    says: "A schema with a reference that cannot be resolved is rejected, and not taken to permit anything.",
  },
  {
    id: "json-schema.ref.opt-in",
    level: "MAY",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#ref-resolution",
    says: "References to other places may be followed where somebody has asked for it.",
    excuse: "The library does not use this option: it never fetches a schema.",
  },
  {
    id: "json-schema.bounds",
    level: "SHOULD",
    revisions: modern,
    side: "both",
    section: "2026-07-28/basic#composition-keyword-resource-use",
    says: "How large and deep a schema may be is bounded.",
  },
];
