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

/** The type that a schema gives once it has parsed; any object for a JSON Schema. */
export type Parsed<S> = S extends StandardSchema ? InferOutput<S> : JsonObject;
/** The type that a schema accepts; any object for a JSON Schema. */
export type Accepted<S> = S extends StandardSchema ? InferInput<S> : JsonObject;

/** What a tool without an output schema may return. A string is text; a number or boolean is written as text. */
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
  /** The scopes that a caller needs; without them the thing is hidden from lists and refused. */
  scopes?: readonly string[];
  /** Sent as `_meta` in lists. */
  meta?: JsonObject;
}

declare const none: unique symbol;
/** Stands for a schema that was not given. */
export interface None {
  readonly [none]?: never;
}

/** Definition of a tool. */
export interface ToolDefinition<I, O, C> extends Described {
  /** What the tool takes. Left out, it takes an empty object. */
  input?: I & NotAShape<I>;
  /** What the tool returns as `structuredContent`. */
  output?: O & NotAShape<O>;
  annotations?: ToolAnnotations;
  /** What extensions add to this tool. */
  extensions?: readonly ToolExtension[];
  call: (
    input: I extends Schema ? Parsed<I> : Record<string, never>,
    ctx: Context & C,
  ) => Awaitable<(O extends Schema ? Accepted<O> | ToolResult : Plain) | InputRequired>;
}

/** A tool: plain data, to be given to `createServer` under its name. */
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
 * Its name is the key under which `createServer` gets it. Bad arguments become a tool error that the model can read, a
 * `ToolError` likewise; any other error is hidden from the client and given to the server's `onError`.
 */
export function tool<I extends Schema | None = None, O extends Schema | None = None, C extends object = object>(
  definition: ToolDefinition<I, O, C>,
): Tool<I extends Schema ? Accepted<I> : object, O extends Schema ? Parsed<O> : undefined, NoInfer<C>> {
  return { ...definition, kind: "tool", "~feature": tools } as never;
}

/** Suggests values for what was typed; `others` holds the arguments that are filled in already. */
export type Complete = (typed: string, others: Record<string, string>) => Awaitable<Completions>;
/** At most 100 are sent; say how many there are in all where it is more. */
export type Completions = readonly string[] | { values: readonly string[]; total?: number; hasMore?: boolean };

/** An argument of a prompt. */
export interface Argument {
  title?: string;
  description?: string;
  required?: boolean;
  /** A function, or all the values there are: those that begin with what was typed are suggested. */
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
  /** A string or a content block is a message of the user. */
  get: (args: ArgumentValues<A>, ctx: Context & C) => Awaitable<PromptReturn | InputRequired>;
}

/** A prompt: plain data, to be given to `createServer` under its name. */
export interface Prompt<A = any, C = any> extends Described {
  readonly kind: "prompt";
  readonly arguments: Record<string, Argument> | undefined;
  readonly get: (args: never, ctx: Context & C) => unknown;
  readonly "~feature": Feature;
  readonly "~types"?: { arguments: A };
}

/** Defines a prompt. Its name is the key under which `createServer` gets it. */
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

/** The query variables (`{?a}`, `{&b}`), which a client may leave out. */
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

/** What `read` may return: text, bytes, a stream of bytes that is encoded as it comes, or several contents. */
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
  /** Bytes, before any encoding. */
  size?: number;
  annotations?: Annotations;
  /** How long a client may keep what it read. 0 ms and private where it is left out. */
  cache?: Partial<CacheHint>;
  /** For templates: the resources there are, so that clients that only list find them. */
  list?: (ctx: Context & C) => Awaitable<readonly (string | (Omit<ListedResource, "name"> & { name?: string }))[]>;
  /** For templates: suggestions for a variable. */
  complete?: { [K in Variables<U>]?: Complete | readonly string[] };
  /**
   * Reads the resource. `ctx.uri` is the URI as the client gave it. Throw `resourceNotFound(uri)` where there is none.
   */
  read: (
    variables: VariableValues<U>,
    ctx: Context & C & { readonly uri: string },
  ) => Awaitable<ReadReturn | InputRequired>;
}

/** A resource, or a family of them where its URI is a template: plain data, to be given to `createServer`. */
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

/** Defines a resource, or with a URI template (RFC 6570) a family of resources. URIs are compared as given. */
export function resource<const U extends string, C extends object = object>(
  uri: U,
  definition: ResourceDefinition<U, C>,
): Resource<U, NoInfer<C>> {
  return { ...definition, kind: "resource", uri, "~feature": resources } as never;
}

/**
 * Gives `tool`, `prompt` and `resource` whose handlers know the extra context that `createServer({ context })` adds.
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
