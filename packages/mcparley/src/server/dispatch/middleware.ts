import type { Awaitable } from "../../rpc/awaitable.ts";
import { type JsonObject, Prepared } from "../../rpc/messages.ts";
import type { Call } from "./call.ts";
import type { Context } from "./context.ts";
import type { InputRequired } from "../input/input-required.ts";

interface MethodParams {
  "tools/call": { name: string; arguments?: JsonObject };
  "prompts/get": { name: string; arguments?: Record<string, string> };
  "resources/read": { uri: string };
  "resources/subscribe": { uri: string };
  "resources/unsubscribe": { uri: string };
  "completion/complete": { ref: JsonObject; argument: { name: string; value: string } };
}

/** A call as middleware sees it. Its params are as the client sent them: only their being an object is checked. */
export type MiddlewareCall<M extends string = string> = Context & {
  readonly method: M;
  readonly params: M extends keyof MethodParams ? MethodParams[M] : JsonObject;
};

type Layer<M extends string> = (
  call: MiddlewareCall<M>,
  next: () => Promise<JsonObject>,
) => Promise<JsonObject> | JsonObject;

/**
 * Wraps the answering of every method. It calls `next` once to go on, or answers itself, or throws.
 *
 * The result is in the neutral shape, that of the newest revision. It belongs to the server: return another rather
 * than change it.
 */
export type Middleware = Layer<string>;

/** Middleware by method: each knows the params of its own, and the other methods pass by. */
export type MethodMiddleware = { readonly [M in keyof MethodParams]?: Layer<M> };

/** Makes one middleware of middleware by method. */
export function byMethod(layers: MethodMiddleware): Middleware {
  const byName = new Map(Object.entries(layers)) as unknown as Map<string, Middleware>;
  return (call, next) => byName.get(call.method)?.(call, next) ?? next();
}

export type Answer = (call: Call) => Awaitable<JsonObject | Prepared | InputRequired>;

/**
 * Wraps an answer in middleware, the first outermost. Without middleware it is the answer itself.
 *
 * Middleware sees plain results; one that it passes on untouched is sent as the prepared bytes it came as.
 */
export function wrap(middleware: readonly Middleware[], answer: Answer): Answer {
  return middleware.reduceRight<Answer>(
    (inner, layer) => async (call) => {
      let passed: JsonObject | Prepared | InputRequired | undefined;
      const result = await layer(call, async () => {
        passed = await inner(call);
        return (passed instanceof Prepared ? passed.value : passed) as JsonObject;
      });
      return passed instanceof Prepared && passed.value === result ? passed : result;
    },
    answer,
  );
}
