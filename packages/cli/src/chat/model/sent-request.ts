import type { LanguageModel } from "@mcparley/host";

/** The last request to a model, in the form in which it was sent. */
export interface SentRequest {
  readonly parts: readonly SentPart[];
  /** The definitions of tools, with the estimated tokens of each. */
  readonly tools: readonly { readonly name: string; readonly tokens: number }[];
}

/** A part of a message: a text, a call, the result of a call, or a file. Texts of servers have their label. */
interface SentPart {
  readonly kind: "system" | "user" | "assistant" | "tool";
  /** Empty for a file. */
  readonly text: string;
  /** Estimated from the text. Files count as 0. */
  readonly tokens: number;
  readonly files: readonly { readonly mediaType: string; readonly bytes: number }[];
}

type CallOptions = Parameters<LanguageModel["doStream"]>[0];
type PromptMessage = CallOptions["prompt"][number];
type PromptPart = Exclude<PromptMessage["content"], string>[number];

/**
 * Returns a model that sends its requests to another one, and a function that returns the last request.
 *
 * `estimate` returns the number of tokens of a text. It is called when the request is looked at, and not for each request.
 */
export function recordRequests(
  model: LanguageModel,
  estimate: (text: string) => number,
): { model: LanguageModel; last: () => SentRequest | undefined } {
  let lastOptions: CallOptions | undefined;
  const { provider, modelId } = model;
  const recording: LanguageModel =
    model.specificationVersion === "v3"
      ? {
          specificationVersion: "v3",
          provider,
          modelId,
          doStream: (options) => model.doStream((lastOptions = options)),
        }
      : {
          specificationVersion: "v4",
          provider,
          modelId,
          doStream: (options) => model.doStream((lastOptions = options)),
        };
  return { model: recording, last: () => lastOptions && readRequest(lastOptions, estimate) };
}

function readRequest({ prompt, tools = [] }: CallOptions, estimate: (text: string) => number): SentRequest {
  return {
    parts: prompt.flatMap((message) => partsOf(message).map((part) => ({ ...part, tokens: estimate(part.text) }))),
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      tokens: estimate(JSON.stringify({ name, description, inputSchema })),
    })),
  };
}

function partsOf({ role, content }: PromptMessage): Omit<SentPart, "tokens">[] {
  if (typeof content === "string") return [{ kind: role, text: content, files: [] }];
  return content.map((part: PromptPart) => ({ kind: role, ...contentOf(part) }));
}

/** Returns the text of a part as the model can see it, and its files. */
function contentOf(part: PromptPart): Pick<SentPart, "text" | "files"> {
  if (part.type === "text" || part.type === "reasoning") return { text: part.text, files: [] };
  if (part.type === "file") return { text: "", files: [fileOf(part)] };
  if (part.type === "tool-call") return { text: `${part.toolName}(${JSON.stringify(part.input)})`, files: [] };
  return { text: `${part.toolName}: ${part.output.value}`, files: [] };
}

/** Returns the type and size of a file. Its content is base64, in another place for each version of the specification. */
function fileOf({ mediaType, data }: { mediaType: string; data: string | { data: string } }): {
  mediaType: string;
  bytes: number;
} {
  const base64 = typeof data === "string" ? data : data.data;
  return { mediaType, bytes: Buffer.byteLength(base64, "base64") };
}
