import { keywordTests } from "./json-schema-keywords.ts";
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
interface ProviderTable {
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

/** The assertions and annotations of JSON Schema 2020-12 that describe arguments. */
const jsonSchemaKeywords = [...keywordTests.keys(), "const", "default", "$defs"];

/**
 * The rules of OpenAI for functions that are not strict. A host does not use strict functions: they require each property, so
 * the model could not omit an optional argument.
 */
const openaiTable: ProviderTable = {
  keywords: [{ value: jsonSchemaKeywords, source: "https://platform.openai.com/docs/guides/function-calling" }],
  refusedAtRoot: [
    {
      value: ["oneOf", "anyOf", "allOf", "enum", "not"],
      source: "https://github.com/langchain-ai/langchainjs/issues/9804",
    },
  ],
  restrictions: [{ value: "items-required", source: "https://github.com/spacelift-io/spacectl/issues/402" }],
  descriptionChars: { value: 1024, source: "https://github.com/modelcontextprotocol/servers/issues/799" },
};

/** The rules of Anthropic for custom tools. Schemas must be valid in JSON Schema 2020-12. */
const anthropicTable: ProviderTable = {
  keywords: [{ value: jsonSchemaKeywords, source: "https://github.com/anthropics/claude-code/issues/586" }],
  refusedAtRoot: [
    { value: ["oneOf", "anyOf", "allOf"], source: "https://github.com/langchain-ai/langchain/issues/39271" },
  ],
  restrictions: [],
  propertyNames: {
    value: /^[a-zA-Z0-9_.-]{1,64}$/,
    source: "https://github.com/anthropics/claude-code/issues/79418",
  },
};

/**
 * The rules of Google for `parameters` of function declarations. Their newer field `parametersJsonSchema` accepts more. Which
 * field carries a schema depends on the version of the model's package, so the schema must suit both.
 */
const googleTable: ProviderTable = {
  keywords: [
    {
      value: [
        ["type", "format", "title", "description", "default", "enum", "anyOf"],
        ["properties", "required", "minProperties", "maxProperties", "items", "minItems", "maxItems"],
        ["minLength", "maxLength", "pattern", "minimum", "maximum"],
      ].flat(),
      source: "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Schema",
    },
  ],
  // The type of the outermost schema must be an object, and a union excludes a type.
  refusedAtRoot: [{ value: ["anyOf", "enum"], source: "https://github.com/anomalyco/opencode/issues/14788" }],
  restrictions: [
    { value: "single-type", source: "https://github.com/prism-php/prism/issues/974" },
    { value: "type-required", source: "https://github.com/vercel/ai/issues/19002" },
    { value: "union-alone", source: "https://github.com/anomalyco/opencode/issues/14788" },
    { value: "string-enums", source: "https://github.com/microsoft/vscode/pull/328147" },
    { value: "items-required", source: "https://github.com/DEEIX-AI/DEEIX-Chat/issues/546" },
    {
      value: "required-defined",
      source: "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Schema",
    },
  ],
  // Numbers accept "float", "double", "int32" and "int64". Servers rarely send these, and their meaning is the type's.
  formats: { value: ["date-time"], source: "https://github.com/google-gemini/gemini-cli/issues/3178" },
};

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
  const providerRules = rules.get(provider);
  if (providerRules) return providerRules;
  throw new Error(`Provider "${provider}" is unknown. Use one of: ${[...rules.keys()].join(", ")}.`);
}

/** Returns the intersection of the rules of some tables. */
function prepare(tables: readonly ProviderTable[]): ProviderRules {
  const keywordSets = tables.map((table) => new Set(table.keywords.flatMap(({ value }) => value)));
  const formats = tables.flatMap((table) => (table.formats ? [new Set(table.formats.value)] : []));
  return {
    keywords: intersection(keywordSets) ?? new Set(),
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
  const [first, ...furtherSets] = sets;
  return first && new Set([...first].filter((value) => furtherSets.every((set) => set.has(value))));
}
