import type { Awaitable } from "../rpc/awaitable.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Annotations, ContentBlock, Icon, ResourceContents } from "../mcp/content.ts";
import type { GetPromptResult, PromptMessage } from "../mcp/prompts.ts";
import type { CacheHint, ReadResourceResult, Resource as ListedResource } from "../mcp/resources.ts";
import type { ToolAnnotations } from "../mcp/tools.ts";
import type { NoSchema, Schema, SchemaCheck } from "../schema/standard-schema.ts";
import type { Flat, UriVariableNames, UriVariables } from "../schema/uri-variables.ts";
import { complete } from "./features/completion.ts";
import { getPrompt, preparePrompt } from "./features/prompts.ts";
import { ResourceIndex } from "./features/resource-index.ts";
import { listResources, prepareResource, readResource } from "./features/resources.ts";
import { type ToolResult, callTool, prepareTool } from "./features/tools.ts";
import type { OtherPromptNames, OtherToolNames } from "./other-libraries.ts";
import type { ArgumentTypes, ResultTypes, ResultWithoutOutputSchema, ToolValue } from "./tool-types.ts";
import type { Context } from "./dispatch/context.ts";
import type { ToolExtension } from "./extension.ts";
import type { Feature } from "./registry.ts";
import type { InputRequired } from "./input/input-required.ts";

const tools: Feature = { prepare: prepareTool, methods: { "tools/call": callTool } };
const prompts: Feature = {
  prepare: preparePrompt,
  methods: { "prompts/get": getPrompt, "completion/complete": complete },
};
const resources: Feature = {
  prepare: prepareResource,
  makeIndex: () => new ResourceIndex(),
  methods: {
    "resources/read": readResource,
    "resources/list": listResources,
    "completion/complete": complete,
  },
};

interface Described {
  title?: string | undefined;
  description?: string | undefined;
  icons?: readonly Icon[] | undefined;
  /** Scopes that a caller needs. For other callers the definition is hidden from lists, and calls are rejected. */
  scopes?: readonly string[] | undefined;
  /** Sent as `_meta` in lists. */
  meta?: JsonObject | undefined;
}

/** Definition of a tool. */
export interface ToolDefinition<I, O, C, R = ResultWithoutOutputSchema> extends Described, OtherToolNames {
  /** Schema of the arguments. Default: an empty object. */
  input?: I & SchemaCheck<I>;
  /** Schema of the `structuredContent` that the tool returns. Default: none. */
  output?: O & SchemaCheck<O>;
  /** Hints for clients, such as `{ readOnlyHint: true }`. Default: none. */
  annotations?: ToolAnnotations | undefined;
  /** The parts of extensions that apply to this tool. */
  extensions?: readonly ToolExtension[] | undefined;
  /**
   * Runs the tool. Receives the validated arguments and the context of the call. Throw `ToolError` for an error that the
   * model can correct.
   */
  call: (
    input: ArgumentTypes<I>["output"],
    ctx: Context & C,
  ) => [O] extends [NoSchema]
    ? Awaitable<R> | Promise<ResultWithoutOutputSchema>
    : Awaitable<ResultTypes<O>["input"] | ToolResult | InputRequired>;
}

/** A tool: plain data to pass to `createServer` under its name. */
export interface Tool<I = any, O = any, C = any> extends Described {
  readonly kind: "tool";
  /** The schema of the arguments, as it was passed to `tool`. */
  readonly input: Schema | undefined;
  /** The schema of the result, as it was passed to `tool`. */
  readonly output: Schema | undefined;
  /** Hints about the behaviour of the tool. */
  readonly annotations?: ToolAnnotations | undefined;
  /** The parts of extensions that apply to this tool. */
  readonly extensions?: readonly ToolExtension[] | undefined;
  /** The handler, as it was passed to `tool`. */
  readonly call: (input: never, ctx: Context & C) => unknown;
  readonly "~feature": Feature;
  readonly "~types"?: { input: I; output: O };
}

/**
 * Defines a tool.
 *
 * Its name is the key under which it is passed to `createServer`. Invalid arguments and a `ToolError` become a tool error
 * that the model can read. A `ProtocolError` becomes the error response. Other errors are hidden from the client and passed
 * to the server's `onError`.
 *
 * @example
 * ```ts
 * import { tool } from "mcparley/server";
 * import { z } from "zod";
 *
 * const divide = tool({
 *   description: "Divides two numbers.",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   output: z.object({ quotient: z.number() }),
 *   call: ({ a, b }) => ({ quotient: a / b }),
 * });
 * ```
 */
export function tool<
  const I extends Schema | NoSchema = NoSchema,
  const O extends Schema | NoSchema = NoSchema,
  C extends object = object,
  R extends ResultWithoutOutputSchema = ResultWithoutOutputSchema,
>(definition: ToolDefinition<I, O, C, R>): Tool<ArgumentTypes<I>["input"], ToolValue<O, R>, NoInfer<C>> {
  return { ...definition, kind: "tool", "~feature": tools } as never;
}

/** Returns suggestions for a partly typed value. `others` contains the arguments that are already filled in. */
export type CompletionHandler = (typed: string, others: Record<string, string>) => Awaitable<Completions>;
/** Suggested values. The first 100 are sent. Set `total` if the list is incomplete. */
export type Completions =
  | readonly string[]
  | {
      /** The suggestions, the best first. */
      values: readonly string[];
      /** The number of all matches. Default: not stated. */
      total?: number;
      /** Whether there are more matches than `values`. Default: not stated. */
      hasMore?: boolean;
    };

/** An argument of a prompt. */
export interface PromptArgumentDefinition {
  /** Name for people. Default: the key of the argument. */
  title?: string;
  /** The expected value, for people. */
  description?: string;
  /** Whether a call without the argument is refused. Default: false. */
  required?: boolean;
  /** A function, or a list of all values. From a list, the values that start with the typed text are suggested. */
  complete?: CompletionHandler | readonly string[];
}

/** The values of a prompt's arguments: all are text, and those that are not `required` may be missing. */
export type PromptArgumentValues<A> = Flat<
  { [K in RequiredArgument<A>]: string } & { [K in Exclude<keyof A, RequiredArgument<A>>]?: string }
>;

// A mapped type over `keyof A` would keep the declarations in `A`, which TypeScript 7 writes into declaration files.
type RequiredArgument<A> = { [K in keyof A]: A[K] extends { readonly required: true } ? K : never }[keyof A];

type PromptReturn =
  | string
  | ContentBlock
  | PromptMessage
  | readonly (string | ContentBlock | PromptMessage)[]
  | GetPromptResult;

/** Definition of a prompt. */
export interface PromptDefinition<A, C> extends Described, OtherPromptNames {
  /** The arguments, by name. All values are text. Default: none. */
  arguments?: A | undefined;
  /** Returns the messages. A string or a content block becomes a message of the user. */
  get: (args: PromptArgumentValues<A>, ctx: Context & C) => Awaitable<PromptReturn | InputRequired>;
}

/** A prompt: plain data to pass to `createServer` under its name. */
export interface Prompt<A = any, C = any> extends Described {
  readonly kind: "prompt";
  /** The declared arguments, by name. */
  readonly arguments: Record<string, PromptArgumentDefinition> | undefined;
  /** The handler, as it was passed to `prompt`. */
  readonly get: (args: never, ctx: Context & C) => unknown;
  readonly "~feature": Feature;
  readonly "~types"?: { arguments: A };
}

/**
 * Defines a prompt.
 *
 * Its name is the key under which it is passed to `createServer`. A call without a required argument is rejected with -32602
 * before `get` is called.
 *
 * @example
 * ```ts
 * import { prompt } from "mcparley/server";
 *
 * const review = prompt({
 *   description: "Reviews code.",
 *   arguments: { code: { required: true }, language: { complete: ["Rust", "TypeScript"] } },
 *   get: ({ code, language = "unknown" }) => `Review this code (language: ${language}): ${code}`,
 * });
 * ```
 */
export function prompt<const A extends Record<string, PromptArgumentDefinition>, C extends object = object>(
  definition: PromptDefinition<A, C>,
): Prompt<PromptArgumentValues<A>, NoInfer<C>> {
  return { ...definition, kind: "prompt", "~feature": prompts } as never;
}

type ReadPart = { uri?: string; mimeType?: string; meta?: JsonObject } & (
  | { text: string }
  | { blob: Uint8Array | string }
);

/** The return type of `read`: text, bytes, a stream of bytes, or several contents. A stream is encoded while it is read. */
type ReadReturn =
  | string
  | Uint8Array
  | AsyncIterable<Uint8Array>
  | ReadPart
  | readonly (ReadPart | ResourceContents)[]
  | ReadResourceResult;

/** Definition of a resource or a resource template. */
export interface ResourceDefinition<U extends string, C> extends Described {
  /** MIME type of the contents. Default: not stated. */
  mimeType?: string | undefined;
  /** Size in bytes, before any encoding. */
  size?: number | undefined;
  /** Hints about the audience, priority and age of the contents. */
  annotations?: Annotations | undefined;
  /** How long a client may cache the contents. Default: 0 ms and private. */
  cache?: Partial<CacheHint> | undefined;
  /** For templates: returns the existing resources. They are added to `resources/list`. */
  list?:
    | ((ctx: Context & C) => Awaitable<readonly (string | (Omit<ListedResource, "name"> & { name?: string }))[]>)
    | undefined;
  /** For templates: suggestions for a variable. */
  complete?: { [K in UriVariableNames<U>]?: CompletionHandler | readonly string[] } | undefined;
  /**
   * Reads the resource. `ctx.uri` is the URI as the client sent it. Throw `resourceNotFound(uri)` if it does not exist.
   */
  read: (
    variables: UriVariables<U>,
    ctx: Context & C & { readonly uri: string },
  ) => Awaitable<ReadReturn | InputRequired>;
}

/** A resource, or a resource template if its URI is a template: plain data to pass to `createServer`. */
export interface Resource<U extends string = string, C = any> extends Described {
  readonly kind: "resource";
  readonly uri: U;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
  readonly annotations?: Annotations | undefined;
  readonly cache?: Partial<CacheHint> | undefined;
  readonly list?: ((ctx: Context & C) => unknown) | undefined;
  readonly complete?: Record<string, CompletionHandler | readonly string[] | undefined> | undefined;
  readonly read: (variables: never, ctx: Context & C & { readonly uri: string }) => unknown;
  readonly "~feature": Feature;
}

/**
 * Defines a resource, or a resource template if the URI is one (RFC 6570).
 *
 * Its name is the key under which it is passed to `createServer`. The URI of a request must equal the URI of the resource, or
 * match the template. Both are compared without normalisation. The values of template variables are decoded and not checked.
 *
 * @example
 * ```ts
 * import { resource, resourceNotFound } from "mcparley/server";
 *
 * const texts = new Map([["1", "Buy milk."]]);
 * const note = resource("note://{id}", {
 *   mimeType: "text/plain",
 *   list: () => [...texts.keys()].map((id) => `note://${id}`),
 *   read: ({ id }, ctx) => {
 *     const text = texts.get(id);
 *     if (text === undefined) throw resourceNotFound(ctx.uri);
 *     return text;
 *   },
 * });
 * ```
 */
export function resource<const U extends string, C extends object = object>(
  uri: U,
  definition: ResourceDefinition<U, C>,
): Resource<U, NoInfer<C>> {
  return { ...definition, kind: "resource", uri, "~feature": resources } as never;
}
