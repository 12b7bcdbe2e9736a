import { type Awaitable, isPromise } from "../rpc/awaitable.ts";
import { ProtocolError } from "../rpc/errors.ts";
import { ErrorCode } from "../mcp/errors.ts";
import {
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  isRequestId,
  notification,
} from "../rpc/messages.ts";
import { Notification } from "../mcp/methods.ts";
import type { Reply } from "../server/core/call.ts";
import { replyToError } from "../server/dispatch/reply.ts";
import type { SessionEnd } from "../server/core/observer.ts";
import type { SessionState, SessionSharing } from "../server/protocol/session.ts";
import { isUnavailable } from "../store/store-errors.ts";
import { HttpSession, type OneWayMessage, type StandaloneStream } from "../http/server/sessions/http-session.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { PendingRequests, inputRequestOf } from "./pending-requests.ts";
import { type StateChange, type StoredSessions, changeBy, markReady } from "./stored-sessions.ts";
import { SessionStream } from "./session-stream.ts";
import { type SharedChanges, maxFlushWait } from "./shared-changes.ts";
import { noteVisit } from "./stored-visits.ts";

/** Maximum length of an id, and of the reason of a cancellation or the message of a progress, in characters. */
const maxIdLength = 1_000;
const maxReasonLength = 200;

interface SharedSessionInit {
  id: string;
  caller: string;
  node: ClusterNode;
  sessionStore: StoredSessions;
  changes: SharedChanges;
  /** A number that no other copy on this node has, also of the same session. */
  copy: number;
  /** Milliseconds after which an idle session expires. */
  idle: number;
  /** Milliseconds after which an input request expires in the store if its node no longer renews it. */
  requestTtl: number;
  /** Called when the session has ended, unless another node reports its end. */
  onEnded: (session: SharedSession, end: SessionEnd) => void;
}

/**
 * One node's copy of a legacy session that any node may serve.
 *
 * The state that the client sets is stored before the reply. Messages about a call on another node are forwarded to that
 * node.
 */
export class SharedSession extends HttpSession {
  override readonly sharing: SessionSharing;
  /** The session's record in the store, as this copy last read or wrote it. */
  record = "";
  /** The number of its seat; see `SessionSeats`. */
  seat = -1;
  /** Time of the last renewal in the store. */
  renewedAt: number = -Infinity;
  /** Position of the last change when the session was opened, in the server's change log. */
  openedAt: string | undefined;
  readonly #init: SharedSessionInit;
  /** The input requests of all copies that wait for a response. */
  readonly requests: PendingRequests;
  #delivery: SessionStream | undefined;
  /** Whether only this copy has ended, or another node reports the end of the session. */
  #isLeft = false;

  constructor(init: SharedSessionInit) {
    super(init.id, init.node.core.clock.now(), init.caller);
    this.#init = init;
    this.requests = new PendingRequests(init.node, init.id, init.requestTtl);
    this.sharing = {
      requestIdPrefix: `${init.node.id}.${init.copy}.`,
      asking: (id) => this.requests.asking(id),
      onSettled: (id) => this.requests.remove(id),
      visiting: (elicitationId) => noteVisit(init.node, elicitationId, init.id),
      onEnded: (end) => {
        if (!this.#isLeft) init.onEnded(this, end);
      },
    };
  }

  /** Applies a record that was read from the store, or written to it. */
  apply(record: string, state: SessionState): void {
    this.record = record;
    this.session.restore(state);
  }

  /** Ends this copy, with its calls and streams. The session continues on other nodes, or another node has ended it. */
  leave(cause: Error): void {
    this.#isLeft = true;
    this.end(cause);
  }

  override async receive(incoming: OneWayMessage): Promise<void> {
    if (incoming.kind === "response") return this.#receiveResponse(incoming);
    const { method, params = {} } = incoming.message;
    if (method === Notification.progress) return this.#receiveProgress(incoming, params);
    if (method === Notification.cancelled) {
      const { requestId } = params;
      const isHere = isRequestId(requestId) && this.session.isAnswering(requestId);
      if (!isHere) return this.#broadcastCancelled(params);
    }
    if (method === Notification.initialized) await this.#init.sessionStore.update(this, markReady);
    void super.receive(incoming);
  }

  override beforeReply(request: JsonRpcRequest, pending: Awaitable<Reply | undefined>): Awaitable<Reply | undefined> {
    // Most requests change nothing. A promise would cost time in each of them.
    if (!isPromise(pending) && this.#init.changes.isFlushed && !changeOf(request, pending)) return pending;
    return this.#storeBeforeReply(request, pending);
  }

  async #storeBeforeReply(request: JsonRpcRequest, pending: Awaitable<Reply | undefined>): Promise<Reply | undefined> {
    const reply = await pending;
    const change = changeOf(request, reply);
    const { changes, sessionStore } = this.#init;
    await changes.waitUntilFlushed(maxFlushWait);
    if (!change) return reply;
    try {
      await sessionStore.update(this, change);
      return reply;
    } catch (error) {
      if (error instanceof ProtocolError) return replyToError(request.id, error, this.session.revision);
      if (!isUnavailable(error)) throw error;
      this.#init.node.report(error);
      const message = "The server's store is unavailable, so nothing was changed. Send the request again.";
      const refusal = new ProtocolError(ErrorCode.InternalError, message, { data: { retryAfter: 1 }, status: 503 });
      return replyToError(request.id, refusal, this.session.revision);
    }
  }

  /** Sends a message that belongs to no request: on the open stream, on whichever node, or on the next one. */
  override send(message: JsonRpcMessage): void {
    this.delivery.send(message);
  }

  override attach(stream: StandaloneStream): void {
    super.attach(stream);
    this.delivery.streamOpened();
    void this.#init.sessionStore.renewSeat(this);
  }

  override detach(stream: StandaloneStream): void {
    super.detach(stream);
    if (!this.stream) this.delivery.streamClosed();
  }

  /** The delivery of messages that belong to no request. */
  get delivery(): SessionStream {
    const { node, changes, idle } = this.#init;
    return (this.#delivery ??= new SessionStream({ session: this, node, changes, ttl: idle }));
  }

  /** Processes a response or progress that the client sent to another node. */
  receiveForwarded(message: JsonRpcResponse | JsonRpcNotification): void {
    if ("method" in message) this.session.receiveNotification(message);
    else this.session.receiveResponse(message);
  }

  /** Resolves when all writes of its delivery so far are done. */
  async waitForWrites(): Promise<void> {
    await this.#delivery?.waitForWrites();
  }

  /** Sends a cancellation to all nodes, because the node of the call is not known. */
  async #broadcastCancelled({ requestId, reason }: JsonObject): Promise<void> {
    if (!isRequestId(requestId) || String(requestId).length > maxIdLength) return;
    const params = { requestId, ...(typeof reason === "string" && { reason: reason.slice(0, maxReasonLength) }) };
    await this.#init.node.broadcast({ about: "cancelled", session: this.id, params });
  }

  /** Forwards a response to the node that sent the request, if it waits for one. Drops other responses. */
  async #receiveResponse(incoming: OneWayMessage & { kind: "response" }): Promise<void> {
    const { node } = this.#init;
    const { message } = incoming;
    const request = inputRequestOf(message.id);
    if (!request || request.node === node.id) return void super.receive(incoming);
    if (!(await this.requests.claimResponse(request))) return;
    await node.send(request.node, { about: "heard", session: this.id, message });
  }

  /** Forwards progress to the node that sent the request. Its message is shortened, because it goes through the store. */
  async #receiveProgress(incoming: OneWayMessage, progressParams: JsonObject): Promise<void> {
    const { progressToken, progress, total, message: text } = progressParams;
    const { node } = this.#init;
    const request = inputRequestOf(progressToken);
    if (!request || request.node === node.id) return void super.receive(incoming);
    if (!(await this.requests.claimProgress(request))) return;
    const params = {
      progressToken: request.id,
      ...(typeof progress === "number" && { progress }),
      ...(typeof total === "number" && { total }),
      ...(typeof text === "string" && { message: text.slice(0, maxReasonLength) }),
    };
    const message = notification(Notification.progress, params);
    await node.send(request.node, { about: "heard", session: this.id, message });
  }
}

/** Returns how a successful request changes the state of its session. Undefined if it does not, or has failed. */
function changeOf(request: JsonRpcRequest, reply: Reply | undefined): StateChange | undefined {
  return reply && "result" in reply.message ? changeBy(request) : undefined;
}
