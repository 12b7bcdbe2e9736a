/** A model provider whose rules for names and schemas are known. `common` is the intersection of the rules. */
export type ProviderName = "common" | "openai" | "anthropic" | "google";
