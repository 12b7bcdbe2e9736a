import type { Awaitable } from "../rpc/awaitable.ts";
import { ProtocolError } from "../rpc/errors.ts";
import { ErrorCode } from "../mcp/errors.ts";
import { type JsonObject, type Prepared, isObject } from "../rpc/messages.ts";
import type { ServerCapabilities } from "../mcp/capabilities.ts";
import type { Tool as ListedTool } from "../mcp/tools.ts";
import type { Revision } from "../mcp/revisions/revision.ts";
import type { Call } from "./dispatch/call.ts";
import type { Principal } from "./dispatch/context.ts";
import type { ServerCore } from "./core.ts";
import type { InputRequired } from "./input/input-required.ts";
import type { Server } from "./create-server.ts";

/** A method that an extension adds to a server. */
export interface ExtensionMethod {
  /** The clients that have the method; of modern revisions alone unless given. */
  eras?: readonly ("modern" | "legacy")[];
  /** The param that HTTP clients mirror in the `Mcp-Name` header, where the extension asks them to. */
  mirroredName?: string;
  answer(call: Call): Awaitable<JsonObject | Prepared | InputRequired>;
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
  /** What is declared to the client of a session instead, where a legacy revision has words of its own for it. */
  legacyCapabilities?(session: { revision: Revision; principal: Principal | undefined }): ServerCapabilities;
  readonly methods?: Readonly<Record<string, ExtensionMethod>>;
  /** Wraps every method, inside the server's own middleware: the place for result types of one's own. */
  readonly middleware?: (call: Call, next: () => Promise<JsonObject>) => Promise<JsonObject> | JsonObject;
  /** Called for each new stream; `send` sends a notification on it, tagged with its subscription. */
  subscribe?(
    wanted: JsonObject,
    call: Call,
    send: (method: string, params: JsonObject) => void,
  ): ExtensionSubscription | undefined | Promise<ExtensionSubscription | undefined>;
  /** What the server offers on account of the extension, even while there is none of the kind. */
  readonly features?: readonly ("tools" | "prompts" | "resources")[];
  /**
   * Called once for each server that is made with the extension, when all that it was defined with is offered: the
   * place to check that, and to offer more. What it throws, `createServer` throws.
   */
  offer?(server: Pick<Server<any, any, any>, "tools" | "prompts" | "resources">): void;
  /** Called when the server is closed: ends what goes on without a connection. */
  close?(core: ServerCore): void | Promise<void>;
}

/** What an extension adds to one tool, as the tool's definition carries it. */
export interface ToolExtension {
  /** The extension that it belongs to. */
  readonly id: string;
  /** Called before the handler, once the arguments are checked. What it throws is the answer to the call. */
  beforeCall?(call: Call): void | Promise<void>;
  /** Changes how the tool is listed to the clients of a revision. */
  list?(listed: ListedTool, revision: Revision): ListedTool;
}

/** Whether the client has declared an extension; a modern client does so anew in each request. */
export function declaresExtension({ peer }: Call, id: string): boolean {
  const { extensions } = peer.capabilities;
  return isObject(extensions) && Object.hasOwn(extensions, id) && isObject(extensions[id]);
}

/** Throws -32021, which names the extension, where the client has not declared it. */
export function requireExtension(call: Call, id: string): void {
  if (declaresExtension(call, id)) return;
  throw new ProtocolError(
    ErrorCode.MissingRequiredClientCapability,
    `This request needs the extension ${id}, which the client has not declared.`,
    { data: { requiredCapabilities: { extensions: { [id]: {} } } } },
  );
}
