import type { Awaitable } from "../../rpc/awaitable.ts";
import { type JsonObject, Prepared } from "../../rpc/messages.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Answer } from "../core/call.ts";
import type { Context } from "../core/context.ts";
import type { InputRequired } from "../core/input-required.ts";

/** The params of each request that middleware receives: all but `initialize`, which opens a session. */
interface MethodParams {
  ping: JsonObject;
  "server/discover": JsonObject;
  "tools/list": ListParams;
  "tools/call": { name: string; arguments?: JsonObject };
  "prompts/list": ListParams;
  "prompts/get": { name: string; arguments?: Record<string, string> };
  "resources/list": ListParams;
  "resources/templates/list": ListParams;
  "resources/read": { uri: string };
  "resources/subscribe": { uri: string };
  "resources/unsubscribe": { uri: string };
  "subscriptions/listen": JsonObject;
  "completion/complete": { ref: JsonObject; argument: { name: string; value: string } };
  "logging/setLevel": { level: LoggingLevel };
}

interface ListParams {
  cursor?: string;
}

/** The call that middleware receives. Its params are an object, and are not validated further. */
export type MiddlewareCall<M extends string = string> = Context & {
  /** The JSON-RPC method. */
  readonly method: M;
  /** The params of the request. Only their type is checked. */
  readonly params: M extends keyof MethodParams ? MethodParams[M] : JsonObject;
};

type Layer<M extends string> = (call: MiddlewareCall<M>, next: () => Promise<JsonObject>) => Awaitable<object>;

/**
 * Wraps every method. It calls `next` once to continue, returns its own result, or throws.
 *
 * The result has the shape of the newest revision. It belongs to the server: return a changed copy, and do not modify it.
 *
 * @example
 * ```ts
 * import { type Middleware, ProtocolError } from "mcparley/server";
 *
 * const requirePrincipal: Middleware = async (call, next) => {
 *   if (!call.principal) throw new ProtocolError(403, "Sign in first.", { status: 403 });
 *   return next();
 * };
 * ```
 */
export type Middleware = Layer<string>;

/** Middleware by method, with typed params. `M` are its methods. Calls of other methods are not affected. */
export type MethodMiddleware<M extends string = keyof MethodParams> = { readonly [Name in M]?: Layer<Name> };

/** Combines middleware by method into one middleware. */
export function byMethod(layers: Readonly<Record<string, Layer<any> | undefined>>): Middleware {
  const byName = new Map(Object.entries(layers));
  return (call, next) => byName.get(call.method)?.(call, next) ?? next();
}

/**
 * Wraps an answer function in middleware, the first outermost. Without middleware, returns the function itself.
 *
 * Middleware receives plain results. If it returns the same object, the prepared bytes are sent.
 */
export function wrap(middleware: readonly Middleware[], answer: Answer): Answer {
  return middleware.reduceRight<Answer>(
    (inner, layer) => async (call) => {
      let innerResult: JsonObject | Prepared | InputRequired | undefined;
      const result = (await layer(call, async () => {
        innerResult = await inner(call);
        return (innerResult instanceof Prepared ? innerResult.value : innerResult) as JsonObject;
      })) as JsonObject;
      return innerResult instanceof Prepared && innerResult.value === result ? innerResult : result;
    },
    answer,
  );
}
