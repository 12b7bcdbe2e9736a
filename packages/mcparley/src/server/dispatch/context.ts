import type { JsonObject } from "../../rpc/messages.ts";
import type { ClientCapabilities, Implementation } from "../../mcp/capabilities.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Root } from "../../mcp/roots.ts";
import type { CreateMessageParams, CreateMessageResult } from "../../mcp/sampling.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { InferOutput, NotAShape, StandardSchema } from "../../schema/standard-schema.ts";

/** Who a verified credential says the caller is. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly clientId?: string;
  readonly claims?: JsonObject;
}

/** The key of a principal, for whatever must not be shared between two of them. */
export function principalKey(principal: Principal | undefined): string {
  return principal ? JSON.stringify([principal.issuer, principal.subject]) : "";
}

/** The other side of a call. What it says of itself is not verified: show it, never decide by it. */
export interface Peer {
  /** Undefined where the client has not said who it is. */
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** The version of the protocol that the call is made in. */
  readonly revision: string;
  /**
   * The IP address that the request came from. Undefined over stdio, and if the runtime does not tell it. Behind a proxy
   * it is the proxy's, unless the endpoint has the option `trustProxy`.
   */
  readonly address?: string | undefined;
}

/** Sends a log message to the client, where it asked for messages of this level. `data` is any JSON value. */
type LogFunction = (data: unknown, logger?: string) => void;

/** Sends log messages to the client, one method for each level. */
export type Logger = { readonly [Level in LoggingLevel]: LogFunction };

/** An elicitation that shows a form. */
export interface FormQuestion<S extends StandardSchema | JsonSchema> {
  message: string;
  /** A flat object of strings, numbers, booleans and choices (client/elicitation, Requested Schema). */
  schema: S & NotAShape<S>;
  /** Tells this question from the others of its call; its order where it is left out. */
  key?: string;
}

/** An elicitation that sends the user to a URL. */
export interface UrlQuestion {
  message: string;
  /** Where the user is to go; it must hold no secret. */
  url: string;
  key?: string;
}

/** The type of an elicitation's answer: the schema's output type, or any object for a JSON Schema. */
export type Answer<S> = S extends StandardSchema ? InferOutput<S> : JsonObject;

/**
 * What a handler may use besides its input. It is the same for every revision and transport.
 */
export interface Context {
  /** Aborted when the client cancels the call, vanishes, or the server closes. */
  readonly signal: AbortSignal;
  readonly peer: Peer;
  /** The verified caller; undefined where the server does not ask for credentials. */
  readonly principal: Principal | undefined;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  readonly log: Logger;
  /**
   * The answers to `inputRequired`, by the key of their question, as the client sent them: check what they hold. Where
   * there is a `requestState` they are to what was asked with it; else a client may send any, asked or not.
   */
  readonly inputResponses: JsonObject;
  /** The `requestState` that this handler gave to `inputRequired` before, verified. */
  readonly requestState: string | undefined;
  /**
   * Reports how much is done. Does nothing where the client did not ask for progress, or where `done` is not more
   * than it was before.
   */
  progress: (done: number, total?: number, message?: string) => void;
  /**
   * Asks the user to fill in a form, or to visit a URL, and returns the answer.
   *
   * Throws `Declined` or `Cancelled`. On a modern revision the call ends here, and the handler runs again from the top
   * when the client comes back with the answer: put what must not happen twice into `once`, and do not catch errors
   * that you do not know.
   */
  elicit: {
    <S extends StandardSchema | JsonSchema>(question: FormQuestion<S>): Promise<Answer<S>>;
    (question: UrlQuestion): Promise<void>;
  };
  /** Asks the client's model. The same holds as for `elicit`. */
  sample: (params: CreateMessageParams & { key?: string }) => Promise<CreateMessageResult>;
  /** Asks for the directories that the client considers relevant. The same holds as for `elicit`. */
  roots: () => Promise<Root[]>;
  /** Runs `fn` once for the whole call, however often its handler runs, and returns what it returned (as JSON). */
  once: <T>(key: string, fn: () => T | Promise<T>) => Promise<T>;
}
