/** The options of a call of a `LanguageModelV3`, as far as a host sets them. */
export type CallOptionsV3 = CallOptions<string, ResultFileV3>;

/** The options of a call of a `LanguageModelV4`, as far as a host sets them. */
export type CallOptionsV4 = CallOptions<DataV4, ResultFileV4>;

/** The options of a call. The two versions differ in the content of files. */
export interface CallOptions<Data, ResultFile> {
  prompt: PromptMessage<Data, ResultFile>[];
  maxOutputTokens?: number;
  temperature?: number;
  stopSequences?: string[];
  tools?: FunctionTool[];
  toolChoice?: { type: "auto" | "required" | "none" };
  abortSignal?: AbortSignal;
}

export type PromptMessage<Data, ResultFile> =
  | { role: "system"; content: string }
  | { role: "user"; content: (PromptText | PromptFile<Data>)[] }
  | { role: "assistant"; content: (PromptText | PromptFile<Data> | PromptReasoning | PromptToolCall)[] }
  | { role: "tool"; content: PromptToolResult<ResultFile>[] };

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

export interface PromptToolResult<ResultFile> {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output:
    | { type: "text" | "error-text"; value: string }
    | { type: "content"; value: ({ type: "text"; text: string } | ResultFile)[] };
}

/** The content of a file in base64. */
interface DataV4 {
  type: "data";
  data: string;
}

type ResultFileV3 =
  | { type: "image-data"; mediaType: string; data: string }
  | { type: "file-data"; mediaType: string; data: string; filename?: string };

interface ResultFileV4 {
  type: "file";
  mediaType: string;
  data: DataV4;
  filename?: string;
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
