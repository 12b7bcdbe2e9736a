import type { LocalError } from "../../rpc/errors.ts";
import { networkOf } from "../../net/ip-address.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ClientCapabilities, Implementation, InputKind } from "../../mcp/capabilities.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Progress } from "../../mcp/progress.ts";
import type { Root } from "../../mcp/roots.ts";
import type { CreateMessageParams, CreateMessageResult } from "../../mcp/sampling.ts";
import type { ObjectFromJsonSchema } from "../../schema/infer-json-schema.ts";
import type { OtherContextNames } from "./other-libraries.ts";
import type { FormCheck, Schema, SchemaCheck, SchemaTypes, TypedSchema } from "../../schema/standard-schema.ts";

/** The identity of a caller, from a verified credential. */
export interface Principal {
  /** The issuer of the credentials. */
  readonly issuer: string;
  /** Identifies the caller at the issuer. */
  readonly subject: string;
  /** The granted scopes. `requireScopes` and `scopes` of definitions compare them. */
  readonly scopes: readonly string[];
  /** The OAuth client that calls, if the credentials name it. */
  readonly clientId?: string;
  /** Other verified claims of the credentials. */
  readonly claims?: JsonObject;
}

/** Returns a key for data that principals must not share. It is empty if there is no principal. */
export function principalKey(principal: Principal | undefined): string {
  return principal ? JSON.stringify([principal.issuer, principal.subject]) : "";
}

/** Key of anonymous callers whose address is unknown. Limits count them as one caller. */
export const unknownCaller = "";

/**
 * Returns the key of the caller that a request counts for: its principal, or the network of its address if it is
 * anonymous. Keys of principals start with `[`, so they never equal a network.
 */
export function callerKey(principal: Principal | undefined, address: string | undefined): string {
  if (principal) return principalKey(principal);
  return address === undefined ? unknownCaller : networkOf(address);
}

/** The client of a call. Its name and capabilities are not verified. Display them, but base no decision on them. */
export interface Peer {
  /** Name and version of the client. Undefined if it did not send them. */
  readonly info: Implementation | undefined;
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities;
  /** Protocol revision of the call. */
  readonly revision: string;
  /**
   * The IP address that the request came from. Undefined over stdio, and if the runtime does not provide it. Behind a proxy
   * it is the address of the proxy, unless the endpoint has the option `trustProxy`.
   */
  readonly address?: string | undefined;
}

/**
 * The session of a client, in revisions up to 2025-11-25. It continues after the call in which a handler received it.
 *
 * Over HTTP with a store, each process has its own object for a session, and messages reach the client through any of them.
 */
export interface ClientSession {
  /** The client, as it described itself when it opened the session. */
  readonly peer: Peer;
  /** The verified caller who opened the session. Undefined if the server does not require credentials. */
  readonly principal: Principal | undefined;
  /**
   * Sends a custom notification that belongs to no call. Returns false, and sends nothing, if the session has ended, or if
   * the endpoint has no sessions. While an HTTP client has no stream open, up to 100 messages wait for it; more displace the
   * oldest. Throws `TypeError` for a name that MCP reserves.
   */
  notify(method: string, params?: JsonObject): boolean;
}

/**
 * Sends a log message to the client if the client's log level includes it. `data` is any JSON value. A message with other
 * data, such as `undefined`, is not sent, and the server's `onError` receives an error.
 */
type LogFunction = (data: unknown, logger?: string, meta?: JsonObject) => void;

/** Sends log messages to the client, one method for each level. */
export type Logger = { readonly [Level in LoggingLevel]: LogFunction };

/** An elicitation that shows a form. */
export interface FormElicitation<S extends Schema> {
  /** The question to show to the user. */
  message: string;
  /** A flat object of strings, numbers, booleans and choices (client/elicitation, Requested Schema). */
  schema: S & SchemaCheck<S> & FormCheck<S>;
  /** Unique key of this request within its call. Default: a key made from its position. */
  key?: string;
  /** Called with each progress that the client reports while it waits for its user. Only on revisions up to 2025-11-25. */
  onProgress?: (progress: Progress) => void;
  /** The `_meta` of the request. */
  meta?: JsonObject;
}

/** An elicitation that sends the user to a URL. */
export interface UrlElicitation {
  /** The reason to visit the page, for the user. */
  message: string;
  /** The URL that the user should visit. It must not contain a secret. */
  url: string;
  /** Identifies the request when the handler runs again. Default: its position among the requests. */
  key?: string;
  /**
   * Identifies the visit in `server.elicitationComplete`. 1 to 256 characters that no other visit has. Only 2025-11-25 has
   * such ids; other revisions ignore it. Default: a random id.
   */
  elicitationId?: string;
  /** Called with each progress that the client reports while it waits for its user. Only on revisions up to 2025-11-25. */
  onProgress?: (progress: Progress) => void;
  /** The `_meta` of the request. */
  meta?: JsonObject;
}

/** A sampling request, with its options. */
export interface SampleQuestion extends CreateMessageParams {
  /** Unique key of this request within its call. Default: a key made from its position. */
  key?: string;
  /** Called with each progress that the client reports. Only on revisions up to 2025-11-25. */
  onProgress?: (progress: Progress) => void;
}

/** The time limit of an input request, and the value to continue with when it is over. */
export interface InputOptions<F = never> {
  /**
   * Milliseconds from the first time that the request is sent, in spite of progress. 1 to `limits.stateTtl`. Default: with
   * `fallback`, `limits.askTimeout`. Without `fallback`, `limits.askTimeout` after the last progress, up to 2025-11-25, and no
   * limit on modern revisions.
   */
  timeout?: number;
  /**
   * Returns the result if there is no answer in time. An error that it throws is the error of the request. Default: the request
   * rejects with a `ToolError`, whose `cause` is the error that `fallback` receives.
   *
   * It is called when the time is over, up to 2025-11-25 and in a task, and the request to the client is cancelled. On modern
   * revisions it is called when the client retries later than `timeout`, or without an answer to this request, and again in each
   * further run of the handler. A client that never retries ends the call, and `fallback` is not called.
   */
  fallback?: (error: LocalError) => F | Promise<F>;
}

/** The result type of an elicitation: the output type of the schema. */
export type ElicitedValue<S> = S extends TypedSchema ? SchemaTypes<S>["output"] : ObjectFromJsonSchema<S>;

/**
 * The context of a handler. It is the same for every revision and transport.
 */
export interface Context extends OtherContextNames {
  /** Aborted when the client cancels the call or disconnects, or when the server closes. */
  readonly signal: AbortSignal;
  /** The client, as it describes itself. Not verified. */
  readonly peer: Peer;
  /** The verified caller. Undefined if the server does not require credentials. */
  readonly principal: Principal | undefined;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** Sends log messages to the client, if it requested their level. */
  readonly log: Logger;
  /**
   * The client's responses to `inputRequired`, by the key of their request. They are not validated. If `requestState` is set,
   * they contain only responses to the requests that were sent with it. Otherwise a client may send any responses.
   */
  readonly inputResponses: JsonObject;
  /** The verified `requestState` that this handler passed to `inputRequired` in the previous round. */
  readonly requestState: string | undefined;
  /** The session of the client. Undefined in modern revisions, which have none. */
  readonly session: ClientSession | undefined;
  /**
   * Reports progress. Does nothing if the client did not request progress, or if the progress is not a finite number that has
   * increased. A `total` that is not a finite number is omitted. The object form can have `_meta`.
   *
   * @example
   * ```ts
   * import { tool } from "mcparley/server";
   *
   * const index = tool({
   *   description: "Indexes the documents.",
   *   call: async (_, { progress }) => {
   *     for (let done = 1; done <= 3; done++) progress(done, 3, `Document ${done}`);
   *     return "Indexed 3 documents.";
   *   },
   * });
   * ```
   */
  progress: {
    (done: number, total?: number, message?: string): void;
    (progress: Progress): void;
  };
  /**
   * Sends a custom notification, before the result of the call. Does nothing once the call has its result. Throws
   * `TypeError` for a name that MCP reserves.
   */
  notify: (method: string, params?: JsonObject) => void;
  /**
   * Returns whether the client can answer a request: its revision has the request, and the client declared the capability.
   *
   * @example
   * ```ts
   * import { tool, ToolError } from "mcparley/server";
   * import { z } from "zod";
   *
   * const book = tool({
   *   description: "Books a table.",
   *   input: z.object({ guests: z.number().optional() }),
   *   call: async ({ guests }, ctx) => {
   *     if (guests === undefined && !ctx.can("elicit")) throw new ToolError("Call again with the number of guests.");
   *     const schema = z.object({ guests: z.number() });
   *     guests ??= (await ctx.elicit({ message: "How many guests?", schema })).guests;
   *     return `Booked a table for ${guests}.`;
   *   },
   * });
   * ```
   */
  can: (kind: InputKind) => boolean;
  /**
   * Asks the user to fill in a form or to visit a URL. Resolves with the content of the form.
   *
   * Throws `Declined` or `Cancelled`. On a modern revision the call ends here, and the handler runs again from the start
   * when the client retries with the response. Put side effects that must not happen twice into `once`. Do not catch
   * unknown errors. If the client lacks the capability, the call fails with an error that names it. With `timeout` or
   * `fallback`, a question that the client never answers does not keep the handler waiting.
   *
   * @example
   * ```ts
   * import { tool } from "mcparley/server";
   * import { z } from "zod";
   *
   * const book = tool({
   *   description: "Books a table.",
   *   input: z.object({ date: z.string() }),
   *   call: async ({ date }, ctx) => {
   *     const schema = z.object({ guests: z.number().min(1).max(12) });
   *     const { guests } = await ctx.elicit({ message: `How many guests on ${date}?`, schema });
   *     return `Booked a table for ${guests} on ${date}.`;
   *   },
   * });
   * ```
   */
  elicit: {
    <F = never>(question: UrlElicitation, options?: InputOptions<F>): Promise<void | F>;
    // The last one, because the error of the compiler is that of the last one.
    <const S extends Schema, F = never>(
      question: FormElicitation<S>,
      options?: InputOptions<F>,
    ): Promise<ElicitedValue<S> | F>;
  };
  /**
   * Samples the client's model. Resolves with its message. The call ends and restarts as with `elicit`.
   *
   * @example
   * ```ts
   * import { tool } from "mcparley/server";
   *
   * const title = tool({
   *   description: "Suggests a title.",
   *   call: async (_, ctx) => {
   *     const content = { type: "text", text: "Suggest a title for a talk about MCP." } as const;
   *     const { model } = await ctx.sample({ messages: [{ role: "user", content }], maxTokens: 50 });
   *     return `A title by ${model}.`;
   *   },
   * });
   * ```
   */
  sample: <F = never>(params: SampleQuestion, options?: InputOptions<F>) => Promise<CreateMessageResult | F>;
  /** Requests the client's roots, the directories that it considers relevant. The call ends and restarts as with `elicit`. */
  roots: <F = never>(options?: InputOptions<F>) => Promise<Root[] | F>;
  /**
   * Runs `fn` once per call, even if the handler runs several times. Resolves with its result, which must be JSON.
   *
   * `key` identifies the function within the call. On a modern revision the client carries the result between the runs, sealed
   * so that it can neither read nor change it.
   *
   * @example
   * ```ts
   * import { tool } from "mcparley/server";
   * import { z } from "zod";
   *
   * const order = tool({
   *   description: "Orders a book.",
   *   call: async (_, ctx) => {
   *     const id = await ctx.once("id", () => crypto.randomUUID());
   *     await ctx.elicit({ message: `Confirm order ${id}.`, schema: z.object({}) });
   *     return `Ordered: ${id}.`;
   *   },
   * });
   * ```
   */
  once: <T>(key: string, fn: () => T | Promise<T>) => Promise<T>;
}
