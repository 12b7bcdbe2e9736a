import { anthropicTable, googleTable, openaiTable } from "./provider-tables.ts";

/** A model provider whose rules for names and schemas are known. `common` is the intersection of the rules. */
export type ProviderName = "common" | "openai" | "anthropic" | "google";

/** A rule of a provider, with the address of the documentation or of the report that proves it. */
interface Sourced<T> {
  readonly value: T;
  readonly source: string;
}

/**
 * A restriction on schemas that no list of keywords can express.
 *
 * - `single-type`: `type` is one name, and no list
 * - `type-required`: each schema has a type or `anyOf`
 * - `union-alone`: `anyOf` has no keyword beside it
 * - `string-enums`: `enum` has only non-empty strings, and the type `string`
 * - `items-required`: each schema of an array has `items`
 * - `required-defined`: each name of `required` is a name of `properties`
 */
type Restriction =
  | "single-type"
  | "type-required"
  | "union-alone"
  | "string-enums"
  | "items-required"
  | "required-defined";

/** The rules of a provider for the schemas of tool parameters, as data. */
export interface ProviderTable {
  /** The keywords that the provider accepts. */
  readonly keywords: readonly Sourced<readonly string[]>[];
  /** Keywords that the provider refuses in the outermost schema. */
  readonly refusedAtRoot: readonly Sourced<readonly string[]>[];
  readonly restrictions: readonly Sourced<Restriction>[];
  /** Names of properties that the provider accepts. */
  readonly propertyNames?: Sourced<RegExp>;
  /** Values of `format` that the provider accepts. Default: all. */
  readonly formats?: Sourced<readonly string[]>;
  /** Maximum characters of the description of a tool. */
  readonly descriptionChars?: Sourced<number>;
}

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
