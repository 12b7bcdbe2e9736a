import type { Clock } from "../rpc/clock.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { ServerCapabilities } from "../mcp/capabilities.ts";
import type { Tool } from "../mcp/tools.ts";
import type { Revision } from "../mcp/revisions/revision.ts";

/** A request of the user that is about to be sent. */
export interface PreparedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly revision: Revision;
  /** What the server has declared. */
  readonly capabilities: ServerCapabilities;
  /** The tool that a `tools/call` names, from the list where it was not listed yet. */
  tool(this: void): Promise<Tool | undefined>;
}

/** A request of the user whose result is not the final one. */
export interface FollowedRequest {
  readonly method: string;
  /** Its method and what it names, for errors. */
  readonly what: string;
  readonly revision: Revision;
  /** Aborted when the result is not wanted any more. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The milliseconds that are left of its total limit, where the user has set one; otherwise there is none. */
  readonly left: number;
  /** Sends another request on its behalf. Without `signal` it goes on when this one is given up. */
  send(this: void, method: string, params: JsonObject, options?: { signal?: AbortSignal }): Promise<JsonObject>;
  /** Has the client's handlers answer questions, by their keys, as if the server had asked them one by one. */
  answer(this: void, inputRequests: unknown): Promise<JsonObject>;
  /** Tells the user of what belongs to no call. */
  report(this: void, error: unknown): void;
}

/** Adds to a client what an extension brings. */
export interface ClientExtension {
  /** The identifier, with its prefix: `com.example/feature`. */
  readonly id: string;
  /** What is declared under the identifier; an empty object unless given. */
  readonly settings?: JsonObject;
  /** The params that are to be mirrored in the `Mcp-Name` header, by method. */
  readonly mirroredNames?: Readonly<Record<string, string>>;
  /** Gives params to add to a request. */
  prepare?(request: PreparedRequest): JsonObject | undefined | Promise<JsonObject | undefined>;
  /** Gives what goes on from a result to the final one; undefined where the result is not of a type of its own. */
  follow?(result: JsonObject, request: FollowedRequest): (() => Promise<JsonObject>) | undefined;
}
