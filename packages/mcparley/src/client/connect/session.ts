import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ClientCapabilities, Implementation, ServerCapabilities } from "../../mcp/capabilities.ts";
import { MetaKey } from "../../mcp/methods.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { ClientConnection } from "./client-connection.ts";

/** A server's description of itself in the handshake. */
export interface ServerInfo {
  /** Its name and version; not verified. */
  readonly info: Implementation | undefined;
  /** The capabilities that the server declared. */
  readonly capabilities: ServerCapabilities;
  /** How to use the server, for the model. */
  readonly instructions: string | undefined;
  /** The negotiated protocol version. */
  readonly revision: string;
  /** `modern`: stateless, since 2026-07-28. `legacy`: an older revision, with `initialize`. */
  readonly revisionKind: "modern" | "legacy";
  /** The versions that the server supports. A legacy server names one. */
  readonly supportedVersions: readonly string[];
}

/** A connection with a negotiated revision. */
export interface Session {
  readonly connection: ClientConnection;
  readonly revision: Revision;
  readonly server: ServerInfo;
  /** Tool parameters must be mirrored in headers. */
  readonly mirrors: boolean;
}

/** The client's own name and capabilities. */
export interface Offer {
  info: Implementation;
  capabilities: (kind: "modern" | "legacy") => ClientCapabilities;
}

/** The `_meta` of each request of a modern revision (2026-07-28, basic, Per-request protocol fields). */
export function modernMeta(revision: Revision, offer: Offer): JsonObject {
  return {
    [MetaKey.protocolVersion]: revision.version,
    [MetaKey.clientInfo]: offer.info,
    [MetaKey.clientCapabilities]: offer.capabilities("modern"),
  };
}

interface SessionsInit {
  /** Opens a connection to the target and negotiates the revision. */
  open: () => Promise<Session>;
  /** A lost connection cannot be opened again. */
  opensOnce: boolean;
  /** Called when the connection of the current session is lost. */
  onLost: (reason: LocalError) => void;
}

/** The sessions of a client, one after another. A lost session is replaced once for all callers that wait for it. */
export class Sessions {
  /** Settles when no further session can be opened. */
  readonly closed: Promise<void>;
  readonly #init: SessionsInit;
  #current: Session | undefined;
  /** The connections of dropped sessions that may still have requests in flight. */
  #replaced: ClientConnection[] = [];
  #opening: Promise<Session> | undefined;
  #ended: LocalError | undefined;
  #settleClosed!: () => void;

  constructor(init: SessionsInit) {
    this.#init = init;
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
  }

  get isClosed(): boolean {
    return this.#ended !== undefined;
  }

  /** The session that is open now, if any. */
  get current(): Session | undefined {
    return !this.#ended && this.#current?.connection.isOpen ? this.#current : undefined;
  }

  /** Returns the open session, or opens one. */
  async ensure(): Promise<Session> {
    if (this.#ended) throw this.#ended;
    const { current } = this;
    if (current) return current;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Ends the use of a session that the server no longer knows. Its requests in flight may still be answered. */
  drop(session: Session): void {
    if (this.#current === session) this.#current = undefined;
    const { connection } = session;
    const otherConnections = this.#replaced.filter((candidate) => candidate !== connection && !candidate.hasEnded);
    this.#replaced = [...otherConnections, connection];
    connection.retire();
  }

  /** Closes the current session, after `lastWork` if it is passed. No session is opened any more. */
  async close(lastWork?: Promise<void>): Promise<void> {
    const current = this.#current;
    const opening = this.#opening;
    this.#end(new LocalError("closed", "The client was closed."));
    if (lastWork) await lastWork;
    const connections = current ? [current.connection, ...this.#replaced] : this.#replaced;
    await Promise.allSettled(connections.map((connection) => connection.close()));
    await opening?.catch(() => {});
    await this.closed;
  }

  async #open(): Promise<Session> {
    const session = await this.#init.open().catch((error: unknown) => {
      throw this.#ended ?? error;
    });
    const { connection } = session;
    if (this.#ended) {
      await connection.close().catch(() => {});
      throw this.#ended;
    }
    this.#current = session;
    void connection.loss.then((reason) => {
      if (this.#current !== session) return;
      this.#current = undefined;
      if (this.#ended) return;
      this.#init.onLost(reason);
      if (this.#init.opensOnce) this.#end(reason);
    });
    return session;
  }

  #end(reason: LocalError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#settleClosed();
  }
}
