import type { Clock } from "../rpc/clock.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { ServerCapabilities } from "../mcp/capabilities.ts";
import type { Progress } from "../mcp/progress.ts";
import type { Tool } from "../mcp/tools.ts";
import type { Revision } from "../mcp/revisions/revision.ts";

/** A call of the user before it is sent. */
export interface PreparedCall {
  /** The JSON-RPC method. */
  readonly method: string;
  /** The params of the request, without those that extensions add. */
  readonly params: JsonObject;
  /** The protocol revision of the connection. */
  readonly revision: Revision;
  /** The capabilities that the server has declared. */
  readonly capabilities: ServerCapabilities;
  /** Returns the tool that a `tools/call` names. Lists the tools if it is unknown. */
  tool(this: void): Promise<Tool | undefined>;
}

/** A call of the user whose result is not the final one. */
export interface FollowedCall {
  /** The JSON-RPC method. */
  readonly method: string;
  /** The method and the name in the params, for error messages. */
  readonly what: string;
  /** The protocol revision of the connection. */
  readonly revision: Revision;
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
  /** The clock of the client. */
  readonly clock: Clock;
  /** The milliseconds left of the total timeout. Infinity if the user has set none. */
  readonly left: number;
  /** Sends another request for the call. Without `signal` the request continues when the call is cancelled. */
  send(this: void, method: string, params: JsonObject, options?: { signal?: AbortSignal }): Promise<JsonObject>;
  /** Answers input requests with the client's handlers. Returns the answers by the keys of the requests. */
  answer(this: void, inputRequests: unknown): Promise<JsonObject>;
  /** The last progress that the caller received, from a notification or by `notifyProgress`. */
  readonly progress: Progress | undefined;
  /** Passes progress to `onProgress` of the call. */
  notifyProgress(this: void, progress: Progress): void;
  /** Reports an error that belongs to no call. */
  report(this: void, error: unknown): void;
}

/** An extension of the protocol on the client. */
export interface ClientExtension {
  /** The identifier, with its prefix: `com.example/feature`. */
  readonly id: string;
  /** The settings that are declared under the identifier. Default: an empty object. */
  readonly settings?: JsonObject;
  /** The params that are mirrored in the `Mcp-Name` header, by method. */
  readonly mirroredNames?: Readonly<Record<string, string>>;
  /**
   * The methods of the extension that can be repeated without harm. It sets `data.safeToRepeat` of errors that leave open
   * whether the server has run the request. Default: none.
   */
  readonly repeatable?: readonly string[];
  /** Returns params to add to a request. If the server refuses them with -32601, the request is sent once more without them. */
  prepare?(request: PreparedCall): JsonObject | undefined | Promise<JsonObject | undefined>;
  /** Returns a function that follows a result to the final one. Undefined if the result has no type of this extension. */
  follow?(result: JsonObject, request: FollowedCall): (() => Promise<JsonObject>) | undefined;
}
