import type { JsonObject, Prepared } from "../jsonrpc/messages.ts";
import type { Call } from "./call.ts";
import type { InputRequired } from "./input-required.ts";
import type { Middleware } from "./middleware.ts";

export interface ExtensionMethod {
  /** The clients that have the method; of modern revisions alone unless given. */
  eras?: readonly ("modern" | "legacy")[];
  /** The param that HTTP clients mirror in the `Mcp-Name` header, where the extension asks them to. */
  mirroredName?: string;
  answer(call: Call): Promise<JsonObject | Prepared | InputRequired>;
}

/** What an extension keeps open for one `subscriptions/listen` stream. */
export interface ExtensionSubscription {
  /** The part of the filter that is honoured, for the acknowledgment. */
  acknowledged: JsonObject;
  end(): void;
}

/**
 * Adds methods, a capability, result types and subscriptions to a server (2026-07-28, basic/versioning, Extension
 * Negotiation).
 */
export interface ServerExtension {
  /** The identifier, with its prefix: `com.example/feature`. */
  readonly id: string;
  /** What is advertised under the identifier; an empty object unless given. */
  readonly settings?: JsonObject;
  readonly methods?: Readonly<Record<string, ExtensionMethod>>;
  /** Wraps every method, inside the server's own middleware: the place for result types of one's own. */
  readonly middleware?: Middleware;
  /** Called for each new stream; `send` sends a notification on it, tagged with its subscription. */
  subscribe?(
    wanted: JsonObject,
    call: Call,
    send: (method: string, params: JsonObject) => void,
  ): ExtensionSubscription | undefined;
}

const idPattern = /^([a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

/** Throws for an identifier that is not a prefixed `_meta` key. */
export function checkExtensionId(id: string): void {
  if (id.length > 256 || !idPattern.test(id)) {
    throw new TypeError(`An extension's id must look like "com.example/feature"; got ${JSON.stringify(id)}.`);
  }
}
