import { Method, Notification } from "../../mcp/methods.ts";
import { readResult } from "../../mcp/read-message.ts";
import { type Progress, readProgress } from "../../mcp/progress.ts";
import { LocalError } from "../../rpc/errors.ts";
import { guarded } from "../../rpc/guarded.ts";
import { type JsonObject, isObject, notification } from "../../rpc/messages.ts";
import { PendingRequests } from "../../rpc/pending-requests.ts";
import type { ServerCore } from "../core/server-core.ts";
import type { Link, RequestOptions } from "../core/call.ts";
import type { Session, SessionSharing } from "./session.ts";

/** The input requests that take time, because a user or a model answers them. Clients can report their progress. */
const slow: ReadonlySet<string> = new Set([Method.elicit, Method.createMessage]);

/** Milliseconds that requests wait for `notifications/initialized`. Then they are sent without it. */
const READY_WAIT_MS = 1_000;

/** The requests of a server to the client of one session: input requests and pings. They wait until the client is ready. */
export class SessionRequests {
  readonly pending: PendingRequests;
  readonly #core: ServerCore;
  readonly #sharing: SessionSharing | undefined;
  /** Sends the requests that wait until the client is ready. Undefined once it is. */
  #early: Set<() => void> | undefined = new Set();
  #timer: unknown;

  constructor(core: ServerCore, sharing: SessionSharing | undefined) {
    this.#core = core;
    this.#sharing = sharing;
    this.pending = new PendingRequests(core.clock);
  }

  /** Sends the requests that waited. Later ones are sent at once. */
  start(): void {
    this.#core.clock.clearTimeout(this.#timer);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const send of early) send();
  }

  /** Sends a request when the client is ready. Resolves with its result. */
  send(
    method: string,
    requestParams: JsonObject,
    { link, signal, totalTimeout, timeout = totalTimeout ?? this.#core.limits.askTimeout, onProgress }: RequestOptions,
  ): Promise<JsonObject> {
    const number = this.pending.nextId();
    const id = this.#sharing ? `${this.#sharing.requestIdPrefix}${number}` : number;
    // The id is also the progress token.
    const params = slow.has(method)
      ? { ...requestParams, _meta: { ...(isObject(requestParams._meta) && requestParams._meta), progressToken: id } }
      : requestParams;
    let isSent = false;
    const send = (): void => {
      isSent = true;
      link.send({ jsonrpc: "2.0", id, method, params });
    };
    const answer = this.pending.wait(id, {
      what: method,
      idleTimeout: timeout,
      totalTimeout,
      signal,
      readResult: (result) => readResult(method, result),
      onProgress: onProgress && this.#increasing(onProgress),
      onAbandoned: (reason) => {
        // A request that was never sent needs no cancellation.
        if (this.#early?.delete(send) || !isSent) return;
        link.send(notification(Notification.cancelled, { requestId: id, reason }));
      },
    });
    const sendWhenReady = (): void => {
      if (!this.#early) return send();
      this.#early.add(send);
      this.#timer ??= this.#core.clock.setTimeout(() => this.start(), READY_WAIT_MS);
    };
    if (typeof id === "string") this.#sendShared(id, answer, sendWhenReady);
    else sendWhenReady();
    return answer;
  }

  /** Fails all requests. */
  end(cause: Error): void {
    this.#core.clock.clearTimeout(this.#timer);
    this.pending.failAll(cause);
  }

  /** Sends a request after the other processes know of it, because any of them may receive the response. */
  #sendShared(id: string, answer: Promise<unknown>, send: () => void): void {
    let isOver = false;
    const settle = (): void => {
      isOver = true;
      this.#sharing?.onSettled(id);
    };
    answer.then(settle, settle);
    void this.#sharing?.asking(id).then(() => isOver || send());
  }

  /** Returns the function that passes the progress of an input request to its handler. Progress that does not grow is ignored. */
  #increasing(onProgress: (progress: Progress) => void): (params: JsonObject) => void {
    let last = -Infinity;
    return (params) => {
      const progress = readProgress(params);
      if (!progress || !(progress.progress > last)) return;
      last = progress.progress;
      guarded(
        () => onProgress(progress),
        (error) => this.#core.report(error, undefined),
      );
    };
  }
}

/** The number of pings in a row without an answer after which the connection is closed. */
const maxFailures = 2;

/**
 * Pings the client of a session at each `interval`, in milliseconds, as long as its link is open (2025-11-25,
 * basic/utilities/ping). An answer with an error shows as well that the client is there. Returns a function that ends it.
 */
export function startPings(session: Session, link: Link, interval: number): () => void {
  const { clock } = session.core;
  const pingController = new AbortController();
  let failures = 0;
  let timer: unknown;

  async function ping(): Promise<void> {
    if (link.isOpen === false) return session.endPings();
    try {
      await session.request(Method.ping, {}, { link, signal: pingController.signal, timeout: interval });
      failures = 0;
    } catch (error) {
      const isSilent = error instanceof LocalError && error.code === "timeout";
      failures = isSilent ? failures + 1 : 0;
    }
    if (pingController.signal.aborted) return;
    if (failures === 0) timer = clock.setTimeout(() => void ping(), interval);
    else if (failures < maxFailures) void ping();
    else {
      session.endPings();
      link.reset?.(new LocalError("timeout", `The client answered none of ${maxFailures} pings.`));
    }
  }

  timer = clock.setTimeout(() => void ping(), interval);
  return () => {
    clock.clearTimeout(timer);
    pingController.abort(new LocalError("closed", "The session needs no more pings."));
  };
}
