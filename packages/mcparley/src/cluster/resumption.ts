import type { JsonRpcRequest } from "../rpc/messages.ts";
import type { AnswerStream } from "../http/server/respond.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type FollowedInit, FollowedStream } from "./followed-stream.ts";
import { type StreamHead, StreamLog, isRepeatable } from "./stream-log.ts";
import type { Resumption as EndpointResumption } from "../http/server/cluster.ts";
import type { EndpointContext } from "../http/server/endpoint-context.ts";
import type { Exchange } from "../http/exchange.ts";
import type { HttpSession } from "../http/server/sessions/http-session.ts";
import { type OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";
import type { EventOptions } from "../http/server/options.ts";
import { HttpRefusal, shown } from "../http/server/refusal.ts";
import { ResumableAnswer } from "./resumable-answer.ts";
import { ResumableStream } from "./resumable-stream.ts";
import { Standalone } from "../http/server/sessions/standalone.ts";

/** Maximum number of standalone streams of a session that are remembered without a connection. The logs of others remain. */
const maxStandby = 8;
/** First letter of the id of a stream, by the method that opened it. */
const byPost = "p";
const byGet = "g";
/** The id of an event: its stream, which contains the node that opened it, and its position. */
const eventPattern = /^(([pg])([0-9a-f]{16})\.[0-9a-f-]+)_(.*)$/;

/** Makes the streams of legacy sessions resumable on every node, with their events in logs of the store. */
export class Resumption implements EndpointResumption {
  readonly #context: EndpointContext;
  readonly #node: ClusterNode;
  readonly #options: { ttl: number; maxLength: number; retry: number };
  readonly #limits: OpenExchanges | undefined;
  /** The streams of each session that may still send events here, by id. */
  readonly #live = new WeakMap<HttpSession, Map<string, ResumableStream>>();
  /** The streams that a client may resume. */
  readonly #kept = new Set<ResumableStream>();
  #timer: unknown;

  constructor(context: EndpointContext, node: ClusterNode, options: EventOptions = {}) {
    const { ttl = 300_000, maxLength = 1_000, retry = 1_000, maxStream } = options;
    this.#context = context;
    this.#node = node;
    this.#options = { ttl, maxLength, retry };
    this.#limits = maxStream === undefined ? undefined : new OpenExchanges(context.core.clock, maxStream);
  }

  answer(session: HttpSession, requests: readonly JsonRpcRequest[]): AnswerStream | undefined {
    const { resumable, polls } = session.session.revision;
    if (!resumable) return undefined;
    return new ResumableAnswer(() => this.#createAnswer(session, requests), polls ? this.#limits : undefined);
  }

  open(exchange: Exchange, session: HttpSession): void {
    const stream = this.#create(session, this.#newId(byGet));
    void new Standalone(exchange, { open: this.#context.open, session }, (leave) => {
      stream.begin(exchange, leave);
      return stream;
    });
    this.#forgetStandby(session);
  }

  async resume(exchange: Exchange, session: HttpSession, lastEventId: string): Promise<void> {
    const [, id = "", kind = "", owner = "", after = ""] = eventPattern.exec(lastEventId) ?? [];
    let stream = this.#liveOf(session).get(id);
    const log = this.#logOf(session, id, { requests: [] });
    const head = stream || id === "" ? undefined : await log.head();
    if (!stream && !head) throw unknownEvent(lastEventId);
    if (kind === byPost) {
      if (stream) return this.#resumeAnswer(exchange, stream, after);
      return this.#follow(exchange, session, { id, owner, log, head: head! }).start(after);
    }
    // A standalone stream has no end, so it continues even if it was forgotten here or opened elsewhere.
    stream ??= this.#create(session, id);
    await this.#resumeStanding(exchange, session, { stream, after });
  }

  /** Called when the client of a stream has resumed it on another node. */
  carried(session: HttpSession, id: string): void {
    this.#liveOf(session).get(id)?.carriedElsewhere();
  }

  stop(): void {
    for (const stream of this.#kept) stream.abandon();
    this.#limits?.stop();
    if (this.#timer !== undefined) this.#context.core.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #resumeAnswer(exchange: Exchange, stream: ResumableStream, after: string): Promise<void> {
    const { open } = this.#context;
    const carrying: OpenExchange = { due: 0, beat: () => stream.comment(), endStream: () => {} };
    const leave = (): void => open.remove(carrying);
    open.add(carrying);
    exchange.onGone(leave);
    await resumeOrLeave(stream, exchange, { after, leave });
  }

  async #resumeStanding(
    exchange: Exchange,
    session: HttpSession,
    { stream, after }: { stream: ResumableStream; after: string },
  ): Promise<void> {
    let resumed: Promise<void> | undefined;
    this.#kept.add(stream);
    this.#refreshLater();
    void new Standalone(exchange, { open: this.#context.open, session }, (leave) => {
      resumed = resumeOrLeave(stream, exchange, { after, leave });
      return stream;
    });
    return resumed;
  }

  /** Follows a stream whose call runs on another node, or has ended. */
  #follow(
    exchange: Exchange,
    session: HttpSession,
    { id, owner, log, head }: { id: string; owner: string; log: StreamLog; head: StreamHead },
  ): FollowedStream {
    const init: FollowedInit = {
      id,
      owner,
      log,
      head,
      sessionId: session.id,
      node: this.#node,
      open: this.#context.open,
      limits: this.#limits,
      polls: session.session.revision.polls,
      retry: this.#options.retry,
    };
    return new FollowedStream(exchange, init);
  }

  /** Counts as in flight until its last event is in the log, which may take longer than the reply. */
  #createAnswer(session: HttpSession, requests: readonly JsonRpcRequest[]): ResumableStream {
    const { open, core } = this.#context;
    const writing: OpenExchange = { due: 0, beat: () => {}, endStream: () => {} };
    open.add(writing);
    const head: StreamHead = { requests: requests.map((request) => [request.id, isRepeatable(core, request)]) };
    return this.#create(session, this.#newId(byPost), { head, onEnd: () => open.remove(writing) });
  }

  #create(
    session: HttpSession,
    id: string,
    { head = { requests: [] }, onEnd }: { head?: StreamHead; onEnd?: () => void } = {},
  ): ResumableStream {
    const live = this.#liveOf(session);
    const { core } = this.#context;
    const stream = new ResumableStream({
      id,
      log: this.#logOf(session, id, head),
      retry: this.#options.retry,
      polls: session.session.revision.polls,
      limits: this.#limits,
      endless: id.startsWith(byGet),
      onEnd: () => {
        live.delete(id);
        this.#kept.delete(stream);
        onEnd?.();
      },
      clock: core.clock,
      report: (error) => core.report(error, undefined),
    });
    live.set(id, stream);
    this.#kept.add(stream);
    this.#refreshLater();
    return stream;
  }

  #logOf({ session, id: sessionId }: HttpSession, id: string, head: StreamHead): StreamLog {
    const { ttl, maxLength } = this.#options;
    return new StreamLog({ store: this.#node.store, session, sessionId, id, ttl, maxLength, head });
  }

  #liveOf(session: HttpSession): Map<string, ResumableStream> {
    let live = this.#live.get(session);
    if (!live) this.#live.set(session, (live = new Map()));
    return live;
  }

  #newId(kind: string): string {
    return `${kind}${this.#node.id}.${crypto.randomUUID().slice(0, 18)}`;
  }

  /** Extends the lifetime of open streams, also of silent ones. */
  #refreshLater(): void {
    this.#timer ??= this.#context.core.clock.setTimeout(() => {
      this.#timer = undefined;
      for (const stream of this.#kept) {
        if (stream.isConnected || stream.id.startsWith(byPost)) stream.refresh();
        else this.#kept.delete(stream);
      }
      if (this.#kept.size > 0) this.#refreshLater();
    }, this.#options.ttl / 3);
  }

  #forgetStandby(session: HttpSession): void {
    const live = this.#liveOf(session);
    const standby = [...live.values()].filter(({ id, isConnected }) => id.startsWith(byGet) && !isConnected);
    for (const stream of standby.slice(0, Math.max(0, standby.length - maxStandby))) {
      live.delete(stream.id);
      this.#kept.delete(stream);
    }
  }
}

function unknownEvent(lastEventId: string): HttpRefusal {
  // Not 404, which would say that the session is gone.
  const why = "is of no stream of this session, or its events are not kept any more";
  return new HttpRefusal(400, `The Last-Event-ID "${shown(lastEventId)}" ${why}.`);
}

async function resumeOrLeave(
  stream: ResumableStream,
  exchange: Exchange,
  { after, leave }: { after: string; leave: () => void },
): Promise<void> {
  try {
    await stream.resume(exchange, after, leave);
  } catch (error) {
    leave();
    throw error;
  }
}
