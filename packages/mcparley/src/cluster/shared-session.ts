import { ErrorCode, ProtocolError } from "../rpc/errors.ts";
import {
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  isRequestId,
} from "../rpc/messages.ts";
import { Notification } from "../mcp/methods.ts";
import { type Reply, replyToError } from "../server/dispatch/answer.ts";
import { notified } from "../server/protocol/legacy.ts";
import { isUnavailable } from "../store/reaching.ts";
import { type Heard, HttpSession } from "../http/server/sessions/http-session.ts";
import type { Standalone } from "../http/server/sessions/standalone.ts";
import { type ClusterNode, nodeIn } from "./cluster-node.ts";
import { type StateChange, changeBy, madeReady } from "./session-record.ts";
import type { SessionStream } from "./session-stream.ts";

/** Characters of what clients say that all nodes are told: the id of a call, and why it is given up. */
const maxId = 1_000;
const maxReason = 200;

/** What a session in this process needs of the sessions that it is one of. */
export interface SharedSessionInit {
  id: string;
  now: number;
  caller: string;
  node: ClusterNode;
  /** Tells this copy of the session from all others there were and will be. */
  copy: number;
  /** Writes a change of the session's state to the store. Rejects where it is out of reach. */
  change: (session: SharedSession, change: StateChange) => Promise<void>;
  streamOf: (session: SharedSession) => SessionStream;
  /** Settles once what this process told of changes is where it outlasts the process. */
  told: () => Promise<void>;
}

/**
 * A legacy session that any node may serve: this one's copy of it.
 *
 * What its client tells of it is in the store before it is acknowledged. What concerns a call of it that runs on another
 * node is handed on to that node.
 */
export class SharedSession extends HttpSession {
  override readonly shared: { questions: string };
  /** What the store holds of it, as this copy has read it last. */
  known = "";
  /** When the store was told last that it is in use. */
  touched = 0;
  /** How far the changes of the server had come when it was opened. */
  openedAt: string | undefined;
  readonly #init: SharedSessionInit;
  #stream: SessionStream | undefined;

  constructor(init: SharedSessionInit) {
    super(init.id, init.now, init.caller);
    this.#init = init;
    this.shared = { questions: `${init.node.id}.${init.copy}.` };
  }

  override async hear(heard: Heard): Promise<void> {
    if (heard.kind === "response") return this.#route(heard, heard.message.id);
    const { method, params = {} } = heard.message;
    if (method === Notification.progress) return this.#route(heard, params.progressToken);
    if (method === Notification.cancelled && !this.session.isAnswering(params.requestId as RequestId)) {
      return this.#announceCancelled(params);
    }
    if (method === Notification.initialized) await this.#init.change(this, madeReady);
    void super.hear(heard);
  }

  override async keep(request: JsonRpcRequest, reply: Reply | undefined): Promise<Reply | undefined> {
    const change = reply && "result" in reply.message ? changeBy(request) : undefined;
    await this.#init.told();
    if (!change) return reply;
    try {
      await this.#init.change(this, change);
      return reply;
    } catch (error) {
      if (error instanceof ProtocolError) return replyToError(request.id, error, this.session.revision);
      if (!isUnavailable(error)) throw error;
      this.#init.node.core.report(error, undefined);
      const message = "This could not be kept, since the server's store is out of reach. Send it again.";
      const refusal = new ProtocolError(ErrorCode.InternalError, message, { data: { retryAfter: 1 }, status: 503 });
      return replyToError(request.id, refusal, this.session.revision);
    }
  }

  /** Sends what belongs to no request: on the stream that is open, on whichever node, or on the next one. */
  override send(message: JsonRpcMessage): void {
    this.outgoing.send(message);
  }

  override attach(stream: Standalone): void {
    super.attach(stream);
    this.outgoing.attached();
  }

  override detach(stream: Standalone): void {
    super.detach(stream);
    if (!this.stream) this.outgoing.detached();
  }

  /** What is sent on the session's stream. */
  get outgoing(): SessionStream {
    return (this.#stream ??= this.#init.streamOf(this));
  }

  /** Takes what another node was told of a question of this one. */
  heardElsewhere(message: JsonRpcResponse | JsonRpcNotification): void {
    if ("method" in message) notified(this.session, message);
    else this.session.answered(message);
  }

  /** Settles when all that was to be written of its stream until now is written. */
  async settled(): Promise<void> {
    await this.#stream?.settled();
  }

  /** Tells all nodes that a call is given up which is on one of the others, if it is there at all. */
  async #announceCancelled({ requestId, reason }: JsonObject): Promise<void> {
    if (!isRequestId(requestId) || String(requestId).length > maxId) return;
    const params = { requestId, ...(typeof reason === "string" && { reason: reason.slice(0, maxReason) }) };
    await this.#init.node.announce({ about: "cancelled", session: this.id, params });
  }

  /** Hands on what is about a question to the node that asked it. */
  async #route(heard: Heard, id: unknown): Promise<void> {
    const { node } = this.#init;
    const asker = nodeIn(id);
    if (asker === node.id) void super.hear(heard);
    else if (asker !== undefined) {
      await node.post(asker, { about: "heard", session: this.id, message: heard.message });
    }
  }
}
