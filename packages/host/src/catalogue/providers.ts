import { type ProviderTable, type Restriction, anthropicTable, googleTable, openaiTable } from "./provider-tables.ts";

/** A model provider whose rules for names and schemas are known. `common` is the intersection of the rules. */
export type ProviderName = "common" | "openai" | "anthropic" | "google";

/** The rules of a provider, prepared for lookups. */
export interface ProviderRules {
  readonly keywords: ReadonlySet<string>;
  readonly refusedAtRoot: ReadonlySet<string>;
  readonly restrictions: ReadonlySet<Restriction>;
  readonly propertyNames: readonly RegExp[];
  readonly formats: ReadonlySet<string> | undefined;
  readonly descriptionChars: number;
}

/** Maximum characters of a tool's description if its provider has no limit. */
const MAX_DESCRIPTION_CHARS = 8192;

const rules: ReadonlyMap<ProviderName, ProviderRules> = new Map([
  ["openai", prepare([openaiTable])],
  ["anthropic", prepare([anthropicTable])],
  ["google", prepare([googleTable])],
  ["common", prepare([openaiTable, anthropicTable, googleTable])],
]);

/** Returns the rules of a provider. */
export function rulesOf(provider: ProviderName): ProviderRules {
  const found = rules.get(provider);
  if (found) return found;
  throw new Error(`Provider "${provider}" is unknown. Use one of: ${[...rules.keys()].join(", ")}.`);
}

/** Returns the intersection of the rules of some tables. */
function prepare(tables: readonly ProviderTable[]): ProviderRules {
  const accepted = tables.map((table) => new Set(table.keywords.flatMap(({ value }) => value)));
  const formats = tables.flatMap((table) => (table.formats ? [new Set(table.formats.value)] : []));
  return {
    keywords: intersection(accepted) ?? new Set(),
    refusedAtRoot: new Set(tables.flatMap((table) => table.refusedAtRoot.flatMap(({ value }) => value))),
    restrictions: new Set(tables.flatMap((table) => table.restrictions.map(({ value }) => value))),
    propertyNames: tables.flatMap(({ propertyNames }) => (propertyNames ? [propertyNames.value] : [])),
    formats: intersection(formats),
    descriptionChars: Math.min(
      MAX_DESCRIPTION_CHARS,
      ...tables.flatMap(({ descriptionChars }) => (descriptionChars ? [descriptionChars.value] : [])),
    ),
  };
}

function intersection(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> | undefined {
  const [first, ...others] = sets;
  return first && new Set([...first].filter((value) => others.every((set) => set.has(value))));
}
