import type { Awaitable } from "../../rpc/awaitable.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonObject, type Prepared, isObject } from "../../rpc/messages.ts";
import type { ServerCapabilities } from "../../mcp/capabilities.ts";
import type { Tool as ListedTool } from "../../mcp/tools.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Call } from "./call.ts";
import type { Principal } from "./context.ts";
import type { ServerCore } from "./server-core.ts";
import type { InputRequired } from "./input-required.ts";
import type { Prompt, ResourceRegistry, Tool } from "./definition-types.ts";
import type { Registry } from "./registry.ts";

/** A method that an extension adds to a server. */
export interface ExtensionMethod {
  /** The revisions that have the method. Default: modern revisions only. */
  revisionKinds?: readonly ("modern" | "legacy")[];
  /** Name of the param that HTTP clients must mirror in the `Mcp-Name` header. Default: none. */
  mirroredName?: string;
  /** Returns the result of a request. Throw `ProtocolError` for an error response. */
  answer(call: Call): Awaitable<JsonObject | Prepared | InputRequired>;
}

/** The subscription of an extension on one `subscriptions/listen` stream. */
export interface ExtensionSubscription {
  /** The part of the filter that the extension accepted. It is sent in the acknowledgment. */
  acknowledged: JsonObject;
  /** Called when the stream ends. */
  end(): void;
}

/**
 * Adds methods, a capability, result types and subscriptions to a server (2026-07-28, basic/versioning, Extension
 * Negotiation).
 *
 * @example
 * ```ts
 * import { type ServerExtension, createServer } from "mcparley/server";
 *
 * const clock: ServerExtension = {
 *   id: "com.example/clock",
 *   methods: { "clock/now": { answer: () => ({ now: new Date().toISOString() }) } },
 * };
 * const server = createServer({ name: "clock", version: "1.0.0", extensions: [clock] });
 * ```
 */
export interface ServerExtension {
  /** Identifier with prefix: `com.example/feature`. */
  readonly id: string;
  /** Settings that the server declares under the identifier. Default: an empty object. */
  readonly settings?: JsonObject;
  /**
   * Returns the capabilities that a legacy session declares in place of the extension. For features that a legacy revision
   * defines in another form.
   */
  legacyCapabilities?(session: { revision: Revision; principal: Principal | undefined }): ServerCapabilities;
  /** Methods that the extension answers, by name. Default: none. */
  readonly methods?: Readonly<Record<string, ExtensionMethod>>;
  /** Wraps every method, inside the middleware of the server. It can return custom result types. */
  readonly middleware?: (call: Call, next: () => Promise<JsonObject>) => Promise<JsonObject> | JsonObject;
  /** Called for each new stream. `send` sends a notification with the subscription id on the stream. */
  subscribe?(
    wanted: JsonObject,
    call: Call,
    send: (method: string, params: JsonObject) => void,
  ): ExtensionSubscription | undefined | Promise<ExtensionSubscription | undefined>;
  /** Features that the server declares because of the extension, even while it has no such definition. */
  readonly features?: readonly ("tools" | "prompts" | "resources")[];
  /**
   * Called once by `createServer`, after the definitions of the server were added. It can check them and add more. Its
   * errors are thrown by `createServer`.
   */
  offer?(server: {
    readonly tools: Registry<Tool>;
    readonly prompts: Registry<Prompt>;
    readonly resources: ResourceRegistry;
  }): void;
  /**
   * Returns the definitions of the extension that need scopes, such as `skill "refunds"`. A warning names them if the server
   * is served without credentials. Default: none.
   */
  scopedNames?(): Iterable<string>;
  /** Called when the server is closed. Stops work that does not depend on a connection. */
  close?(core: ServerCore): void | Promise<void>;
}

/** The part of an extension that applies to one tool. Listed in the `extensions` of the tool's definition. */
export interface ToolExtension {
  /** Identifier of the extension. */
  readonly id: string;
  /** Called after the arguments were validated and before the handler. If it throws, the call fails with that error. */
  beforeCall?(call: Call): void | Promise<void>;
  /** Changes how the tool is listed to the clients of a revision. */
  list?(listed: ListedTool, revision: Revision): ListedTool;
}

/** Whether the client has declared an extension. A modern client declares its extensions in each request. */
export function declaresExtension({ peer }: Call, id: string): boolean {
  const { extensions } = peer.capabilities;
  return isObject(extensions) && Object.hasOwn(extensions, id) && isObject(extensions[id]);
}

/** Throws -32021, naming the extension, if the client has not declared it. */
export function requireExtension(call: Call, id: string): void {
  if (declaresExtension(call, id)) return;
  throw new ProtocolError(
    ErrorCode.MissingRequiredClientCapability,
    `This request needs the extension ${id}, which the client has not declared.`,
    { data: { requiredCapabilities: { extensions: { [id]: {} } } } },
  );
}
