import { ProtocolError } from "../rpc/errors.ts";
import { ErrorCode } from "../mcp/errors.ts";
import {
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  isRequestId,
  notification,
} from "../rpc/messages.ts";
import { Notification } from "../mcp/methods.ts";
import { type Reply, replyToError } from "../server/dispatch/reply.ts";
import { notified } from "../server/protocol/legacy.ts";
import type { SharedBy } from "../server/protocol/session.ts";
import { isUnavailable } from "../store/reaching.ts";
import { type Heard, HttpSession } from "../http/server/sessions/http-session.ts";
import type { Standalone } from "../http/server/sessions/standalone.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { PendingRequests, askerOf } from "./pending-requests.ts";
import { type StateChange, changeBy, madeReady } from "./session-record.ts";
import type { SessionStream } from "./session-stream.ts";

/** Maximum length of the id and of the reason of a cancellation that is sent to all nodes, in characters. */
const maxId = 1_000;
const maxReason = 200;

/** What a copy of a session needs of the table that it is in. */
export interface SharedSessionInit {
  id: string;
  now: number;
  caller: string;
  node: ClusterNode;
  /** A number that no other copy on this node has, also of the same session. */
  copy: number;
  /** Milliseconds after which an input request expires in the store if its node no longer renews it. */
  requestTtl: number;
  /** Writes a change of the session's state to the store. Rejects if the store is unavailable. */
  change: (session: SharedSession, change: StateChange) => Promise<void>;
  streamOf: (session: SharedSession) => SessionStream;
  /** Called when a stream of the session was opened here. */
  onStream: (session: SharedSession) => void;
  /** Resolves when the changes that this process sent would outlive it. */
  told: () => Promise<void>;
}

/**
 * One node's copy of a legacy session that any node may serve.
 *
 * What the client tells of its session is in the store before it is acknowledged. Messages about a call on another node are
 * sent on to that node.
 */
export class SharedSession extends HttpSession {
  override readonly shared: SharedBy;
  /** The session's record in the store, as this copy read it last. */
  known = "";
  /** The number of its seat; see `SessionSeats`. */
  seat = -1;
  /** Time of the last renewal in the store. */
  touched: number = -Infinity;
  /** Position of the last change when the session was opened. */
  openedAt: string | undefined;
  readonly #init: SharedSessionInit;
  readonly #requests: PendingRequests;
  #stream: SessionStream | undefined;

  constructor(init: SharedSessionInit) {
    super(init.id, init.now, init.caller);
    this.#init = init;
    const requests = new PendingRequests(init.node, init.id, init.requestTtl);
    this.#requests = requests;
    this.shared = {
      questions: `${init.node.id}.${init.copy}.`,
      asking: (id) => requests.asking(id),
      settled: (id) => requests.settled(id),
    };
  }

  override async hear(heard: Heard): Promise<void> {
    if (heard.kind === "response") return this.#routeAnswer(heard);
    const { method, params = {} } = heard.message;
    if (method === Notification.progress) return this.#routeProgress(heard, params);
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
      const message = "The server's store is unavailable, so nothing was changed. Send the request again.";
      const refusal = new ProtocolError(ErrorCode.InternalError, message, { data: { retryAfter: 1 }, status: 503 });
      return replyToError(request.id, refusal, this.session.revision);
    }
  }

  /** Sends a message that belongs to no request: on the open stream, on whichever node, or on the next one. */
  override send(message: JsonRpcMessage): void {
    this.outgoing.send(message);
  }

  override attach(stream: Standalone): void {
    super.attach(stream);
    this.outgoing.attached();
    this.#init.onStream(this);
  }

  override detach(stream: Standalone): void {
    super.detach(stream);
    if (!this.stream) this.outgoing.detached();
  }

  /** The delivery of messages that belong to no request. */
  get outgoing(): SessionStream {
    return (this.#stream ??= this.#init.streamOf(this));
  }

  /** Takes an answer or progress that the client sent to another node. */
  heardElsewhere(message: JsonRpcResponse | JsonRpcNotification): void {
    if ("method" in message) notified(this.session, message);
    else this.session.answered(message);
  }

  /** Renews the input requests that still wait for an answer. */
  renewRequests(): void {
    this.#requests.renew();
  }

  /** Resolves when all writes about its stream so far are done. */
  async settled(): Promise<void> {
    await this.#stream?.settled();
  }

  /** Tells all nodes of a cancelled call that is not on this node, because nobody knows which node has it. */
  async #announceCancelled({ requestId, reason }: JsonObject): Promise<void> {
    if (!isRequestId(requestId) || String(requestId).length > maxId) return;
    const params = { requestId, ...(typeof reason === "string" && { reason: reason.slice(0, maxReason) }) };
    await this.#init.node.announce({ about: "cancelled", session: this.id, params });
  }

  /** Sends an answer to the node that asked, if it waits for one. Other answers are dropped, as without a store. */
  async #routeAnswer(heard: Heard & { kind: "response" }): Promise<void> {
    const { node } = this.#init;
    const { message } = heard;
    const asker = askerOf(message.id);
    if (asker === undefined || asker === node.id) return void super.hear(heard);
    if (!(await this.#requests.claim(message.id as string))) return;
    await node.post(asker, { about: "heard", session: this.id, message });
  }

  /** Sends progress to the node that asked, whose time limit it restarts. The rest of the notification has no use there. */
  async #routeProgress(heard: Heard, { progressToken: id, progress }: JsonObject): Promise<void> {
    const { node } = this.#init;
    const asker = askerOf(id);
    if (asker === undefined || asker === node.id) return void super.hear(heard);
    if (!(await this.#requests.takesProgress(id as string))) return;
    const params = { progressToken: id, ...(typeof progress === "number" && { progress }) };
    const message = notification(Notification.progress, params);
    await node.post(asker, { about: "heard", session: this.id, message });
  }
}
