import type { JsonObject } from "../rpc/messages.ts";
import type { GetPromptResult } from "../mcp/prompts.ts";
import type { RequestOptions } from "./options.ts";

/** The types that a server carries of what it was defined with. */
interface Typed {
  readonly "~types"?: { tools: unknown; prompts: unknown } | undefined;
}

type Carried<S> = S extends { readonly "~types"?: infer T } ? NonNullable<T> : never;

/** Arguments may be left out where none of them is needed. */
type Args<A> = {} extends A ? [args?: A, options?: RequestOptions] : [args: A, options?: RequestOptions];

type ToolCalls<T> = {
  readonly [K in keyof T]: T[K] extends { readonly "~types"?: { input: infer I; output: infer O } }
    ? (...args: Args<I>) => Promise<O extends undefined ? unknown : O>
    : never;
};

type PromptGets<P> = {
  readonly [K in keyof P]: Carried<P[K]> extends { arguments: infer A }
    ? (...args: Args<A>) => Promise<GetPromptResult>
    : never;
};

/** What a client has besides, where the type of its server is known: its tools and prompts as functions. */
export type TypedClient<S> = S extends Typed
  ? Carried<S> extends { tools: infer T; prompts: infer P }
    ? { readonly tools: ToolCalls<T>; readonly prompts: PromptGets<P> }
    : unknown
  : unknown;

type Run = (name: string, args: JsonObject, options: RequestOptions | undefined) => Promise<unknown>;

/** An object each of whose properties is a function that runs what the property names. */
export function byName(run: Run): Record<string, (args?: JsonObject, options?: RequestOptions) => Promise<unknown>> {
  return new Proxy(Object.create(null) as Record<string, never>, {
    // `then` would make it look like a promise to whoever awaits it; symbols name nothing.
    get: (_, name) =>
      typeof name === "symbol" || name === "then"
        ? undefined
        : (args: JsonObject = {}, options?: RequestOptions) => run(name, args, options),
  });
}
