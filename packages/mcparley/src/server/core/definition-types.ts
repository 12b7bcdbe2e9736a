import type { Awaitable } from "../../rpc/awaitable.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Annotations, ContentBlock, Icon, ResourceContents } from "../../mcp/content.ts";
import type { GetPromptResult, PromptMessage } from "../../mcp/prompts.ts";
import type { CacheHint, ReadResourceResult, Resource as ListedResource } from "../../mcp/resources.ts";
import type { ToolAnnotations } from "../../mcp/tools.ts";
import type { ObjectFromJsonSchema } from "../../schema/infer-json-schema.ts";
import type { NoSchema, Schema, SchemaCheck, SchemaTypes, TypedSchema } from "../../schema/standard-schema.ts";
import type { Flat, UriVariableNames, UriVariables } from "../../schema/uri-variables.ts";
import type { OtherPromptNames, OtherToolNames } from "./other-libraries.ts";
import type { ArgumentTypes, ResultTypes, ResultWithoutOutputSchema, ToolResult } from "./tool-types.ts";
import type { Context } from "./context.ts";
import type { ToolExtension } from "./extension.ts";
import type { Feature } from "./server-core.ts";
import type { Registry } from "./registry.ts";
import type { InputRequired } from "./input-required.ts";

/** The members of each value that `tool`, `prompt` and `resource` return. */
interface Defined {
  readonly "~feature": Feature;
  /** The parameter of the function. Its members are checked; a copy of the value can have others, which belong to its author. */
  readonly "~definition"?: object;
}

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
export interface Tool<I = any, O = any, C = any> extends Described, Defined {
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
  readonly "~types"?: { input: I; output: O };
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

/** An argument of a prompt, with its options. */
export interface PromptArgumentDefinition {
  /** Name for people. Default: the title of the schema, then the key of the argument. */
  title?: string | undefined;
  /** The expected value, for people. Default: the description of the schema. */
  description?: string | undefined;
  /** Whether a request without the argument is refused. Not allowed beside `schema`, which decides it. Default: false. */
  required?: boolean | undefined;
  /**
   * A function, or a list of all values. From a list, the values that start with the typed text are suggested. Default: the
   * values of a schema of choices.
   */
  complete?: CompletionHandler | readonly string[] | undefined;
  /** Schema of the value, such as `z.number()`. Its library converts and checks the text. Default: any text. */
  schema?: TypedSchema | undefined;
}

/** A JSON Schema of all arguments of a prompt. */
export interface PromptArgumentsSchema {
  readonly type: "object";
  /** The schemas of the arguments, by name. */
  readonly properties: { readonly [name: string]: unknown };
}

/** The arguments of a prompt: a record of options or schemas by name, or one schema of an object. */
export type PromptArguments =
  | { readonly [name: string]: PromptArgumentDefinition | TypedSchema }
  | TypedSchema
  | PromptArgumentsSchema;

/** The schema of an argument, if it has one. */
type SchemaOf<D> = D extends TypedSchema
  ? D
  : D extends { readonly schema: infer S extends TypedSchema }
    ? S
    : NoSchema;

/** `Side` is `input` for a call, and `output` for the handler: a default makes an argument optional for the call only. */
type IsRequired<D, Side extends "input" | "output"> =
  SchemaOf<D> extends infer S extends TypedSchema
    ? undefined extends SchemaTypes<S>[Side]
      ? false
      : true
    : D extends { readonly required: true }
      ? true
      : false;

// A mapped type over `keyof A` would keep the declarations in `A`, which TypeScript 7 writes into declaration files.
type RequiredArgument<A, Side extends "input" | "output"> = {
  [K in keyof A]: IsRequired<A[K], Side> extends true ? K : never;
}[keyof A];

type ArgumentValue<D> = SchemaOf<D> extends infer S extends TypedSchema ? SchemaTypes<S>["output"] : string;

/** The text that a call passes for a value: one of the texts that the schema accepts, or any text for other values. */
type TextOf<T> = unknown extends T ? string : Exclude<T, undefined> extends infer V extends string ? V : string;
type ArgumentText<D> = SchemaOf<D> extends infer S extends TypedSchema ? TextOf<SchemaTypes<S>["input"]> : string;

/**
 * The values of a prompt's arguments that its handler receives. Without a schema, they are texts, and those that are not
 * `required` may be missing.
 */
export type PromptArgumentValues<A> = A extends TypedSchema
  ? SchemaTypes<A>["output"]
  : A extends PromptArgumentsSchema
    ? ObjectFromJsonSchema<A>
    : Flat<
        { [K in RequiredArgument<A, "output">]: ArgumentValue<A[K]> } & {
          [K in Exclude<keyof A, RequiredArgument<A, "output">>]?: ArgumentValue<A[K]>;
        }
      >;

/** The texts of a prompt's arguments that a call passes. */
export type PromptArgumentTexts<A> = A extends TypedSchema
  ? TextsOf<SchemaTypes<A>["input"]>
  : A extends PromptArgumentsSchema
    ? TextsOf<ObjectFromJsonSchema<A>>
    : Flat<
        { [K in RequiredArgument<A, "input">]: ArgumentText<A[K]> } & {
          [K in Exclude<keyof A, RequiredArgument<A, "input">>]?: ArgumentText<A[K]>;
        }
      >;

type TextsOf<T> = { [K in keyof T]: TextOf<T[K]> };

/** Refuses members of an argument that do not exist. For the others it is `unknown`. */
type PromptArgumentsCheck<A> = A extends TypedSchema | PromptArgumentsSchema
  ? unknown
  : { [K in keyof A]: A[K] extends TypedSchema ? unknown : UnknownMembers<A[K]> };
type UnknownMembers<D> = {
  [
    M in Exclude<keyof D, keyof PromptArgumentDefinition>
  ]: "An argument has no such member. Write { required: true } or { schema: z.number() }.";
};

type PromptReturn =
  | string
  | ContentBlock
  | PromptMessage
  | readonly (string | ContentBlock | PromptMessage)[]
  | GetPromptResult;

/** Definition of a prompt. */
export interface PromptDefinition<A, C> extends Described, OtherPromptNames {
  /**
   * The arguments: by name, each with options or a schema, or one schema of an object. Clients send texts. The texts of
   * numbers, booleans, lists and objects are JSON. Default: none.
   */
  arguments?: (A & PromptArgumentsCheck<A>) | undefined;
  /** Returns the messages. A string or a content block becomes a message of the user. */
  get: (args: PromptArgumentValues<A>, ctx: Context & C) => Awaitable<PromptReturn | InputRequired>;
}

/** A prompt: plain data to pass to `createServer` under its name. */
export interface Prompt<A = any, C = any> extends Described, Defined {
  readonly kind: "prompt";
  /** The arguments, as they were passed to `prompt`. */
  readonly arguments: PromptArguments | undefined;
  /** The handler, as it was passed to `prompt`. */
  readonly get: (args: never, ctx: Context & C) => unknown;
  readonly "~types"?: { arguments: A };
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

/** `T` if a URI is a template, or may be one, and `Other` if it has no variables. */
type IfTemplate<U extends string, T, Other> = string extends U ? T : [UriVariableNames<U>] extends [never] ? Other : T;

/** Definition of a resource or a resource template. */
export interface ResourceDefinition<U extends string, C> extends Described {
  /** MIME type of the contents. Default: not stated. */
  mimeType?: string | undefined;
  /** Size in bytes, before any encoding. A template has none. */
  size?: (string extends U ? number : IfTemplate<U, "A template has no size.", number>) | undefined;
  /** Hints about the audience, priority and age of the contents. */
  annotations?: Annotations | undefined;
  /** How long a client may cache the contents. Default: 0 ms and private. */
  cache?: Partial<CacheHint> | undefined;
  /** For templates: returns the existing resources. They are added to `resources/list`. */
  list?:
    | IfTemplate<
        U,
        (ctx: Context & C) => Awaitable<readonly (string | (Omit<ListedResource, "name"> & { name?: string }))[]>,
        "Only a template has a list."
      >
    | undefined;
  /** For templates: suggestions for a variable. */
  complete?:
    | IfTemplate<
        U,
        { [K in UriVariableNames<U>]?: CompletionHandler | readonly string[] },
        "Only a template has variables."
      >
    | undefined;
  /**
   * Reads the resource. `ctx.uri` is the URI as the client sent it. Throw `resourceNotFound(uri)` if it does not exist.
   */
  read: (
    variables: UriVariables<U>,
    ctx: Context & C & { readonly uri: string },
  ) => Awaitable<ReadReturn | InputRequired>;
}

/** A resource, or a resource template if its URI is a template: plain data to pass to `createServer`. */
export interface Resource<U extends string = string, C = any> extends Described, Defined {
  readonly kind: "resource";
  readonly uri: U;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
  readonly annotations?: Annotations | undefined;
  readonly cache?: Partial<CacheHint> | undefined;
  readonly list?: ((ctx: Context & C) => unknown) | undefined;
  readonly complete?: Record<string, CompletionHandler | readonly string[] | undefined> | undefined;
  readonly read: (variables: never, ctx: Context & C & { readonly uri: string }) => unknown;
}

/** The resources of a live server. */
export interface ResourceRegistry<C = any> extends Registry<Resource<string, C>> {
  /** Notifies the subscribers of a URI that the resource has changed. `meta` is the `_meta` of the notification. */
  updated(uri: string, meta?: JsonObject): void;
  /** Notifies clients that the results of the `list` functions of templates have changed. `set` and `delete` do so themselves. */
  listChanged(): void;
}
