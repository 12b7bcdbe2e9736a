import type { ModelPreferences } from "mcparley";

/**
 * A language model of the AI SDK: any `LanguageModelV3` or `LanguageModelV4` of `@ai-sdk/provider`.
 *
 * The type is structural, so that a program needs no particular version of that package.
 */
export type LanguageModel = ModelOf<"v3", CallOptionsV3> | ModelOf<"v4", CallOptionsV4>;

/** A model of one version of the specification, with the members that a host uses. */
interface ModelOf<Version extends string, Options> {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  // A property and not a method: TypeScript then checks that the model accepts each option that a host sends. The parts of the
  // stream are `unknown`, because later versions of the packages add kinds of parts.
  readonly doStream: (options: Options) => PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** The model of a host, or several: the first is used, unless the hints of a sampling request match another. */
export type ModelSetting = LanguageModel | readonly [LanguageModel, ...LanguageModel[]];

/** The options of a call of a `LanguageModelV3`, as far as a host sets them. */
export type CallOptionsV3 = CallOptions<string>;

/** The options of a call of a `LanguageModelV4`, as far as a host sets them. */
export type CallOptionsV4 = CallOptions<DataV4>;

/** The options of a call. The two versions differ in the content of files. */
export interface CallOptions<Data> {
  prompt: PromptMessage<Data>[];
  maxOutputTokens?: number;
  temperature?: number;
  stopSequences?: string[];
  tools?: FunctionTool[];
  toolChoice?: { type: "auto" | "required" | "none" };
  abortSignal?: AbortSignal;
}

export type PromptMessage<Data> =
  | { role: "system"; content: string }
  | { role: "user"; content: (PromptText | PromptFile<Data>)[] }
  | { role: "assistant"; content: (PromptText | PromptFile<Data> | PromptReasoning | PromptToolCall)[] }
  | { role: "tool"; content: PromptToolResult[] };

export interface PromptText {
  type: "text";
  text: string;
  providerOptions?: ProviderOptions;
}

export interface PromptFile<Data> {
  type: "file";
  mediaType: string;
  data: Data;
  filename?: string;
  providerOptions?: ProviderOptions;
}

export interface PromptReasoning {
  type: "reasoning";
  text: string;
  providerOptions?: ProviderOptions;
}

export interface PromptToolCall {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerOptions?: ProviderOptions;
}

export interface PromptToolResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text" | "error-text"; value: string };
}

/** The content of a file in base64. */
interface DataV4 {
  type: "data";
  data: string;
}

interface FunctionTool {
  type: "function";
  name: string;
  description?: string;
  inputSchema: { type: "object" };
}

/** Data of providers by the name of the provider. */
export type ProviderOptions = Record<string, { [name: string]: JsonValue | undefined }>;

type JsonValue = null | string | number | boolean | JsonValue[] | { [name: string]: JsonValue | undefined };

/**
 * Returns the model that a server prefers.
 *
 * The hints are tried in order. A hint matches the first model whose `provider/modelId` contains it, regardless of case. If
 * none matches, the first model is used. The priorities for cost, speed and intelligence are not used: the host does not know
 * these properties of a model, and the specification calls them advisory.
 */
export function chooseModel(setting: ModelSetting, preferences?: ModelPreferences): LanguageModel {
  const models = isList(setting) ? setting : [setting];
  const hints = Array.isArray(preferences?.hints) ? preferences.hints : [];
  for (const hint of hints) {
    const name = typeof hint?.name === "string" ? hint.name.trim().toLowerCase() : "";
    const match = name === "" ? undefined : models.find((model) => modelName(model).toLowerCase().includes(name));
    if (match) return match;
  }
  return models[0];
}

function isList(setting: ModelSetting): setting is readonly [LanguageModel, ...LanguageModel[]] {
  return Array.isArray(setting);
}

/** Returns the name of a model for errors and requests: `provider/modelId`. */
export function modelName({ provider, modelId }: LanguageModel): string {
  return `${provider}/${modelId}`;
}
