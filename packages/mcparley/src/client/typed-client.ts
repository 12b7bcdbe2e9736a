import type { JsonObject } from "../rpc/messages.ts";
import type { GetPromptResult } from "../mcp/prompts.ts";
import type { RequestOptions } from "./options.ts";

/** The types of a server's tools and prompts. They exist at compile time only. */
interface Typed {
  readonly "~types"?: { tools: unknown; prompts: unknown } | undefined;
}

type Carried<S> = S extends { readonly "~types"?: infer T } ? NonNullable<T> : never;

/** A tool of a server, known by the types of its arguments and of its result. */
interface TypedTool {
  readonly "~types"?: { input: unknown; output: unknown } | undefined;
}

/** Arguments may be omitted if all of them are optional. */
type Call<A, R> = {} extends A
  ? (args?: A, options?: RequestOptions) => Promise<R>
  : (args: A, options?: RequestOptions) => Promise<R>;

/** The tools of a server as functions. */
export type ToolFunctions<T> = {
  readonly [K in keyof T]: T[K] extends TypedTool
    ? Call<NonNullable<T[K]["~types"]>["input"], NonNullable<T[K]["~types"]>["output"]>
    : never;
};

/** The prompts of a server as functions. */
export type PromptFunctions<P> = {
  readonly [K in keyof P]: P[K] extends { readonly "~types"?: { arguments: infer A } }
    ? Call<A, GetPromptResult>
    : never;
};

/**
 * The tools and prompts of a client as functions, if the type of its server is known. Names that every object has, such as
 * `toString` and `constructor`, and `then`, `toJSON` and `inspect` are not tools here; use `callTool`.
 */
export type TypedClient<S> = S extends Typed
  ? Carried<S> extends { tools: infer T; prompts: infer P }
    ? { readonly tools: ToolFunctions<T>; readonly prompts: PromptFunctions<P> }
    : unknown
  : unknown;

/** The arguments and options of `callTool` for a tool: those of the server's type, if the client has it. */
export type ToolCallArguments<C, N extends string> =
  ToolCall<C, N> extends (...args: infer A extends [args?: any, options?: RequestOptions | undefined]) => unknown
    ? A
    : [args?: object, options?: RequestOptions];

/** The function of a tool in the type of a client. `unknown` if the type of the server is not known. */
type ToolCall<C, N extends string> = C extends { readonly tools: { readonly [K in N]: infer F } } ? F : unknown;

/** The value that `callTool` returns for a tool: that of the server's type, if the client has it. */
export type ToolCallValue<C, N extends string> = ToolCall<C, N> extends (...args: never) => Promise<infer V> ? V : any;

/** Looked up by `await`, by `JSON.stringify`, and by programs that print or compare values. */
const lookedUp: ReadonlySet<string> = new Set(["then", "toJSON", "inspect", "asymmetricMatch", "nodeType", "$$typeof"]);

type Run = (name: string, args: JsonObject, options: RequestOptions | undefined) => Promise<unknown>;

/**
 * Makes an object that has a function for every name, except the names that the language and its tools look up by
 * themselves: symbols, the members of every object such as `toString`, and those below. Otherwise `JSON.stringify` or
 * a template string would call a tool.
 */
export function byName(run: Run): Record<string, (args?: JsonObject, options?: RequestOptions) => Promise<unknown>> {
  return new Proxy(
    {},
    {
      get: (target, name) =>
        typeof name === "symbol" || name in target || lookedUp.has(name)
          ? Reflect.get(target, name)
          : (args: JsonObject = {}, options?: RequestOptions) => run(name, args, options),
    },
  );
}
