import { isObject } from "@mcparley/internal/is-object";
import type { JsonObject } from "mcparley";
import type { Host } from "./host.ts";
import type { FilePart, TextPart, ToolResultPart } from "../conversation/messages.ts";
import { type TextLimits, ResultStore } from "../conversation/server-text.ts";
import { readResult, readResultTool } from "../loop/read-result.ts";
import { toModelTool } from "../loop/stable-tools.ts";
import type { WithoutSecrets } from "../values/types.ts";
import { wellFormed } from "../values/map-texts.ts";
import { toResultPart } from "../conversation/tool-results.ts";

/** Options of `toAiSdkTools`. */
export interface AiSdkToolsOptions {
  /** Maximum bytes of a result's text. A longer one becomes a handle for the tool `read_result`. Default: 32 KiB. */
  readonly maxResultBytes?: number;
}

/** A tool of the package `ai`. */
export interface AiSdkTool {
  /** The description for the model. */
  readonly description: string;
  /** A schema of `jsonSchema()` of `ai`. Its type contains a private symbol of that package, so it is opaque here. */
  readonly inputSchema: never;
  /** Calls the tool through the host, with consent. */
  readonly execute: (this: void, input: unknown, options: AiSdkCall) => Promise<AiSdkResult>;
  /** Converts a result for the model. */
  readonly toModelOutput: (this: void, result: unknown) => AiSdkModelOutput;
}

/** The options that `ai` passes to `execute`. */
export interface AiSdkCall {
  /** The id of the call. */
  readonly toolCallId: string;
  /** Cancels the call. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** The result of a tool: the text for the model, labelled with its origin, and the files. */
export interface AiSdkResult {
  /** The text for the model. */
  readonly text: string;
  /** The files of the result, in base64. */
  readonly files: readonly { readonly mediaType: string; readonly data: string }[];
  /** Whether the call failed, was denied, or returned a tool error. */
  readonly isError: boolean;
}

/** The result for the model. Files have the content types of the installed version of `ai`. */
export type AiSdkModelOutput =
  | {
      /** The form of the value. */
      type: "text" | "error-text";
      /** The text. */
      value: string;
    }
  | {
      /** The form of the value. */
      type: "content";
      /** The text and the files. */
      value: { type: "text"; text: string }[];
    };

type AiSdkHost = Pick<Host, "catalogue" | "callTool">;

/**
 * Returns the tools of a host for `generateText` and `streamText` of the package `ai`, versions 5 to 7.
 *
 * Calls require the consent of the user, as in `host.run`. The result has the tools that the catalogue contains now. Call the function
 * again when the catalogue has changed. Results are labelled with their origin: add `serverTextRules`, which explains the labels to
 * the model, to the system prompt.
 *
 * @example
 * ```ts
 * import { generateText, stepCountIs, type LanguageModel } from "ai";
 * import { type Host, serverTextRules, toAiSdkTools } from "@mcparley/host";
 *
 * export async function answer(host: Host, model: LanguageModel, prompt: string): Promise<string> {
 *   await host.ready();
 *   const tools = toAiSdkTools(host);
 *   const { text } = await generateText({ model, system: serverTextRules, prompt, tools, stopWhen: stepCountIs(10) });
 *   return text;
 * }
 * ```
 */
export function toAiSdkTools(
  host: AiSdkHost,
  { maxResultBytes = 32 * 1024 }: AiSdkToolsOptions = {},
): Record<string, AiSdkTool> {
  const limits: TextLimits = { maxBytes: maxResultBytes, store: storeOf(host) };
  const filterFor = filters.get(host);
  const tools = host.catalogue.tools.map((tool): readonly [string, AiSdkTool] => {
    const definition = wellFormed(toModelTool(tool));
    const { name, description, inputSchema } = filterFor?.(tool.server)(definition) ?? definition;
    const origin = { server: tool.server, name: tool.tool.name };
    return [
      name,
      {
        description,
        inputSchema: schemaOf(inputSchema),
        async execute(input, { toolCallId, abortSignal }) {
          const outcome = await host.callTool(name, argumentsOf(input), abortSignal ? { signal: abortSignal } : {});
          return toResult(toResultPart({ callId: toolCallId, name, origin }, outcome, limits));
        },
        toModelOutput,
      },
    ];
  });
  const reader: AiSdkTool = {
    description: readResultTool.description,
    inputSchema: schemaOf(readResultTool.inputSchema),
    execute: (input) =>
      Promise.resolve(toResult(readResult(argumentsOf(input), { store: limits.store, maxBytes: limits.maxBytes }))),
    toModelOutput,
  };
  return Object.fromEntries([...tools, [readResultTool.name, reader] as const]);
}

const filters = new WeakMap<AiSdkHost, (server: string) => WithoutSecrets>();

/** Sets the filter of a host, because its catalogue can have secrets that became known after the lists. */
export function setFilter(host: AiSdkHost, filterFor: (server: string) => WithoutSecrets): void {
  filters.set(host, filterFor);
}

const stores = new WeakMap<AiSdkHost, ResultStore>();

/** Returns the long results of a host. They stay readable after a second call of `toAiSdkTools`. */
function storeOf(host: AiSdkHost): ResultStore {
  const store = stores.get(host) ?? new ResultStore();
  stores.set(host, store);
  return store;
}

/** Returns an object that `ai` accepts as the result of its `jsonSchema()`. The host checks the arguments. */
function schemaOf(jsonSchema: JsonObject): never {
  const schema = { [Symbol.for("vercel.ai.schema")]: true, [Symbol.for("vercel.ai.validator")]: true, jsonSchema };
  return { ...schema, validate: undefined, _type: undefined } as never;
}

function argumentsOf(input: unknown): JsonObject {
  if (isObject(input)) return { ...input };
  throw new TypeError("The arguments of a tool must be a JSON object.");
}

function toResult({ content, isError }: Pick<ToolResultPart, "content" | "isError">): AiSdkResult {
  const texts = content.filter((part): part is TextPart => part.type === "text");
  const files = content.filter((part): part is FilePart => part.type === "file");
  return {
    text: wellFormed(texts.map(({ text }) => text).join("\n")),
    files: files.map(({ mediaType, data }) => ({ mediaType, data })),
    isError,
  };
}

/** Converts a result for the model. Version 5 passes the result, and later versions an object that contains it. */
function toModelOutput(result: unknown): AiSdkModelOutput {
  const isWrapped = typeof result === "object" && result !== null && "output" in result;
  const { text, files, isError } = (isWrapped ? result.output : result) as AiSdkResult;
  if (isError) return { type: "error-text", value: text };
  if (files.length === 0) return { type: "text", value: text };
  const parts = files.map(({ mediaType, data }) => {
    const type = isWrapped ? (mediaType.startsWith("image/") ? "image-data" : "file-data") : "media";
    return { type, mediaType, data };
  });
  // The names of the content types differ between the versions of `ai`, so they have no common type.
  return { type: "content", value: [...(text === "" ? [] : [{ type: "text", text }]), ...parts] } as AiSdkModelOutput;
}
