import type { Awaitable } from "../rpc/awaitable.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Annotations, ContentBlock, Icon, ResourceContents } from "../mcp/content.ts";
import type { GetPromptResult, PromptMessage } from "../mcp/prompts.ts";
import type { CacheHint, ReadResourceResult, Resource as ListedResource } from "../mcp/resources.ts";
import type { CallToolResult, ToolAnnotations } from "../mcp/tools.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { InferInput, InferOutput, NotAShape, StandardSchema } from "../schema/standard-schema.ts";
import { complete } from "./features/completion.ts";
import { getPrompt, preparePrompt } from "./features/prompts.ts";
import { listResources, prepareResource, readResource } from "./features/resources.ts";
import { type ToolResult, callTool, prepareTool } from "./features/tools.ts";
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
  methods: {
    "resources/read": readResource,
    "resources/list": listResources,
    "completion/complete": complete,
  },
};

/** A Standard Schema or a JSON Schema. */
export type Schema = StandardSchema | JsonSchema;

/** The output type of a schema, after parsing. Any object for a JSON Schema. */
export type Parsed<S> = S extends StandardSchema ? InferOutput<S> : JsonObject;
/** The input type of a schema. Any object for a JSON Schema. */
export type Accepted<S> = S extends StandardSchema ? InferInput<S> : JsonObject;

/** The return type of a tool without an output schema. Strings, numbers and booleans become text content. */
type Plain =
  | string
  | number
  | boolean
  | null
  | undefined
  | void
  | ContentBlock
  | readonly (string | ContentBlock)[]
  | CallToolResult;

interface Described {
  title?: string;
  description?: string;
  icons?: Icon[];
  /** Scopes that a caller needs. For other callers the definition is hidden from lists, and calls are rejected. */
  scopes?: readonly string[];
  /** Sent as `_meta` in lists. */
  meta?: JsonObject;
}

declare const none: unique symbol;
/** The type of an omitted schema. */
export interface None {
  readonly [none]?: never;
}

/** Definition of a tool. */
export interface ToolDefinition<I, O, C> extends Described {
  /** Schema of the arguments. Default: an empty object. */
  input?: I & NotAShape<I>;
  /** Schema of the `structuredContent` that the tool returns. Default: none. */
  output?: O & NotAShape<O>;
  annotations?: ToolAnnotations;
  /** The parts of extensions that apply to this tool. */
  extensions?: readonly ToolExtension[];
  call: (
    input: I extends Schema ? Parsed<I> : Record<string, never>,
    ctx: Context & C,
  ) => Awaitable<(O extends Schema ? Accepted<O> | ToolResult : Plain) | InputRequired>;
}

/** A tool: plain data to pass to `createServer` under its name. */
export interface Tool<I = any, O = any, C = any> extends Described {
  readonly kind: "tool";
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
  readonly annotations?: ToolAnnotations;
  readonly extensions?: readonly ToolExtension[];
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
 */
export function tool<I extends Schema | None = None, O extends Schema | None = None, C extends object = object>(
  definition: ToolDefinition<I, O, C>,
): Tool<I extends Schema ? Accepted<I> : object, O extends Schema ? Parsed<O> : undefined, NoInfer<C>> {
  return { ...definition, kind: "tool", "~feature": tools } as never;
}

/** Returns suggestions for a partly typed value. `others` contains the arguments that are already filled in. */
export type Complete = (typed: string, others: Record<string, string>) => Awaitable<Completions>;
/** Suggested values. The first 100 are sent. Set `total` if the list is incomplete. */
export type Completions = readonly string[] | { values: readonly string[]; total?: number; hasMore?: boolean };

/** An argument of a prompt. */
export interface Argument {
  title?: string;
  description?: string;
  required?: boolean;
  /** A function, or a list of all values. From a list, the values that start with the typed text are suggested. */
  complete?: Complete | readonly string[];
}

export type ArgumentValues<A> = {
  [K in keyof A as A[K] extends { required: true } ? K : never]: string;
} & { [K in keyof A as A[K] extends { required: true } ? never : K]?: string };

type PromptReturn =
  | string
  | ContentBlock
  | PromptMessage
  | readonly (string | ContentBlock | PromptMessage)[]
  | GetPromptResult;

/** Definition of a prompt. */
export interface PromptDefinition<A, C> extends Described {
  arguments?: A;
  /** Returns the messages. A string or a content block becomes a message of the user. */
  get: (args: ArgumentValues<A>, ctx: Context & C) => Awaitable<PromptReturn | InputRequired>;
}

/** A prompt: plain data to pass to `createServer` under its name. */
export interface Prompt<A = any, C = any> extends Described {
  readonly kind: "prompt";
  readonly arguments: Record<string, Argument> | undefined;
  readonly get: (args: never, ctx: Context & C) => unknown;
  readonly "~feature": Feature;
  readonly "~types"?: { arguments: A };
}

/** Defines a prompt. Its name is the key under which it is passed to `createServer`. */
export function prompt<const A extends Record<string, Argument>, C extends object = object>(
  definition: PromptDefinition<A, C>,
): Prompt<ArgumentValues<A>, NoInfer<C>> {
  return { ...definition, kind: "prompt", "~feature": prompts } as never;
}

/** The names of the variables in a URI template (RFC 6570). */
type Variables<T extends string> = T extends `${string}{${infer V}}${infer Rest}`
  ? (V extends `${"+" | "#" | "/" | "." | ";" | "?" | "&"}${infer W}` ? Names<W> : Names<V>) | Variables<Rest>
  : never;
type Names<V extends string> = V extends `${infer A},${infer B}` ? Clean<A> | Names<B> : Clean<V>;
type Clean<V extends string> = V extends `${infer A}*` ? A : V extends `${infer A}:${string}` ? A : V;

/** The query variables (`{?a}`, `{&b}`). A client may omit them. */
type QueryVariables<T extends string> = T extends `${string}{${infer V}}${infer Rest}`
  ? (V extends `${"?" | "&"}${infer W}` ? Names<W> : never) | QueryVariables<Rest>
  : never;

type VariableValues<U extends string> = string extends U
  ? Record<string, string>
  : { [K in Exclude<Variables<U>, QueryVariables<U>>]: string } & { [K in QueryVariables<U>]?: string };

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
  mimeType?: string;
  /** Size in bytes, before any encoding. */
  size?: number;
  annotations?: Annotations;
  /** How long a client may cache the contents. Default: 0 ms and private. */
  cache?: Partial<CacheHint>;
  /** For templates: returns the existing resources. They are added to `resources/list`. */
  list?: (ctx: Context & C) => Awaitable<readonly (string | (Omit<ListedResource, "name"> & { name?: string }))[]>;
  /** For templates: suggestions for a variable. */
  complete?: { [K in Variables<U>]?: Complete | readonly string[] };
  /**
   * Reads the resource. `ctx.uri` is the URI as the client sent it. Throw `resourceNotFound(uri)` if it does not exist.
   */
  read: (
    variables: VariableValues<U>,
    ctx: Context & C & { readonly uri: string },
  ) => Awaitable<ReadReturn | InputRequired>;
}

/** A resource, or a resource template if its URI is a template: plain data to pass to `createServer`. */
export interface Resource<U extends string = string, C = any> extends Described {
  readonly kind: "resource";
  readonly uri: U;
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly cache?: Partial<CacheHint>;
  readonly list?: (ctx: Context & C) => unknown;
  readonly complete?: Record<string, Complete | readonly string[] | undefined>;
  readonly read: (variables: never, ctx: Context & C & { readonly uri: string }) => unknown;
  readonly "~feature": Feature;
}

/** Defines a resource, or a resource template if the URI is one (RFC 6570). URIs are compared without normalisation. */
export function resource<const U extends string, C extends object = object>(
  uri: U,
  definition: ResourceDefinition<U, C>,
): Resource<U, NoInfer<C>> {
  return { ...definition, kind: "resource", uri, "~feature": resources } as never;
}

/**
 * Returns `tool`, `prompt` and `resource` functions. Their handlers have the type of context that
 * `createServer({ context })` adds.
 */
export function withContext<C extends object>(): {
  tool: <I extends Schema | None = None, O extends Schema | None = None>(
    definition: ToolDefinition<I, O, C>,
  ) => Tool<I extends Schema ? Accepted<I> : object, O extends Schema ? Parsed<O> : undefined, C>;
  prompt: <const A extends Record<string, Argument>>(
    definition: PromptDefinition<A, C>,
  ) => Prompt<ArgumentValues<A>, C>;
  resource: <const U extends string>(uri: U, definition: ResourceDefinition<U, C>) => Resource<U, C>;
} {
  return { tool, prompt, resource };
}
