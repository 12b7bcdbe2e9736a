import type { JsonRpcRequest } from "../rpc/messages.ts";
import type { ReplyStream } from "../http/server/respond.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { FollowedStream } from "./followed-stream.ts";
import { type StreamHead, StreamLog, isRepeatable } from "./stream-log.ts";
import type { Resumption } from "../http/server/cluster.ts";
import type { EndpointContext } from "../http/server/endpoint-context.ts";
import type { HttpExchange } from "../http/exchange.ts";
import { type HttpSession, StandaloneStream } from "../http/server/sessions/http-session.ts";
import { type OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";
import type { EventOptions } from "../http/server/options.ts";
import { HttpRefusal, shortenValue } from "../http/server/refusal.ts";
import { type Connection, ResumableStream } from "./resumable-stream.ts";

/** Maximum number of standalone streams of a session that this process remembers without a connection. Their logs remain. */
const maxDisconnected = 8;
/** First letter of the id of a stream, by the method of the request that opened it. */
const postPrefix = "p";
const getPrefix = "g";
/** The id of an event: the id of its stream, which contains the node that opened it, and its position. */
const eventPattern = /^(([pg])([0-9a-f]{16})\.[0-9a-f-]+)_(.*)$/;

/** Makes the streams of legacy sessions resumable on every node. Their events are in logs of the store. */
export class ResumableStreams implements Resumption {
  readonly #context: EndpointContext;
  readonly #node: ClusterNode;
  readonly #options: { ttl: number; maxLength: number; retry: number };
  /** Ends connections after `events.maxStream`. */
  readonly #limits: OpenExchanges | undefined;
  /** The streams of this process that can still send events, by session and stream id. */
  readonly #streams = new WeakMap<HttpSession, Map<string, ResumableStream>>();
  /** The streams of this process whose logs are kept from expiring. */
  readonly #refreshedStreams = new Set<ResumableStream>();
  #timer: unknown;

  constructor(context: EndpointContext, node: ClusterNode, options: EventOptions = {}) {
    const { ttl = 300_000, maxLength = 1_000, retry = 1_000, maxStream } = options;
    this.#context = context;
    this.#node = node;
    this.#options = { ttl, maxLength, retry };
    this.#limits = maxStream === undefined ? undefined : new OpenExchanges(context.core.clock, maxStream);
  }

  replyStream(session: HttpSession, requests: readonly JsonRpcRequest[]): ReplyStream | undefined {
    const { resumable, polls } = session.session.revision;
    if (!resumable) return undefined;
    const { open, core } = this.#context;
    const create = (): ResumableStream => {
      // The stream counts as in flight until its last event is in the log, which may be after the reply.
      const writing: OpenExchange = { due: 0, onInterval: () => {} };
      open.add(writing);
      const head: StreamHead = { requests: requests.map((request) => [request.id, isRepeatable(core, request)]) };
      return this.#create(session, { id: this.#newId(postPrefix), head, onEnd: () => open.remove(writing) });
    };
    return makeReplyStream(create, polls ? this.#limits : undefined);
  }

  open(exchange: HttpExchange, session: HttpSession): void {
    const stream = this.#create(session, { id: this.#newId(getPrefix) });
    void new StandaloneStream(exchange, { open: this.#context.open, session }, (leave) => {
      stream.begin(exchange, leave);
      return stream;
    });
    this.#forgetDisconnected(session);
  }

  async resume(exchange: HttpExchange, session: HttpSession, lastEventId: string): Promise<void> {
    const [, id = "", prefix = "", owner = "", position = ""] = eventPattern.exec(lastEventId) ?? [];
    const isReply = prefix === postPrefix;
    const stream = this.#streamsOf(session).get(id);
    if (stream && isReply) return this.#resumeReply(exchange, stream, position);
    if (!stream) {
      const log = this.#logOf(session, id);
      const head = id === "" ? undefined : await log.head();
      if (!head) {
        // Not 404, because the client would conclude that the session has ended.
        const why = "belongs to no stream of this session, or the stream has expired";
        throw new HttpRefusal(400, `The Last-Event-ID "${shortenValue(lastEventId)}" ${why}.`);
      }
      if (isReply) {
        // The call of the reply runs on another node, or has ended.
        const init = { id, owner, log, head, sessionId: session.id, node: this.#node, limits: this.#limits };
        const { polls } = session.session.revision;
        const { retry } = this.#options;
        return new FollowedStream(exchange, { ...init, open: this.#context.open, polls, retry }).start(position);
      }
    }
    // A standalone stream has no end, so it continues even if this process forgot it or another one opened it.
    await this.#resumeStandalone(exchange, session, { stream: stream ?? this.#create(session, { id }), position });
  }

  /** Called when the client of a stream has resumed it on another node. */
  resumedElsewhere(session: HttpSession, id: string): void {
    const stream = this.#streamsOf(session).get(id);
    if (stream) stream.resumedElsewhere();
    // The stream has ended in the meantime, and the other node was not notified of its last events.
    else void this.#logOf(session, id).notify().catch(this.#node.report);
  }

  stop(): void {
    for (const stream of this.#refreshedStreams) stream.abandon();
    this.#limits?.stop();
    if (this.#timer !== undefined) this.#context.core.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #resumeReply(exchange: HttpExchange, stream: ResumableStream, position: string): Promise<void> {
    const { open } = this.#context;
    const openExchange: OpenExchange = { due: 0, onInterval: () => stream.comment() };
    const leave = (): void => open.remove(openExchange);
    open.add(openExchange);
    exchange.onGone(leave);
    await resumeOrLeave(stream, exchange, { position, leave });
  }

  async #resumeStandalone(
    exchange: HttpExchange,
    session: HttpSession,
    { stream, position }: { stream: ResumableStream; position: string },
  ): Promise<void> {
    let resumption: Promise<void> | undefined;
    this.#refreshedStreams.add(stream);
    this.#refreshLater();
    void new StandaloneStream(exchange, { open: this.#context.open, session }, (leave) => {
      resumption = resumeOrLeave(stream, exchange, { position, leave });
      return stream;
    });
    return resumption;
  }

  #create(
    session: HttpSession,
    { id, head = { requests: [] }, onEnd }: { id: string; head?: StreamHead; onEnd?: () => void },
  ): ResumableStream {
    const streams = this.#streamsOf(session);
    const { core } = this.#context;
    const stream = new ResumableStream({
      id,
      log: this.#logOf(session, id),
      head,
      retry: this.#options.retry,
      polls: session.session.revision.polls,
      limits: this.#limits,
      isStandalone: id.startsWith(getPrefix),
      onEnd: () => {
        streams.delete(id);
        this.#refreshedStreams.delete(stream);
        onEnd?.();
      },
      clock: core.clock,
      report: this.#node.report,
    });
    streams.set(id, stream);
    this.#refreshedStreams.add(stream);
    this.#refreshLater();
    return stream;
  }

  #logOf({ session, id: sessionId }: HttpSession, id: string): StreamLog {
    const { ttl, maxLength } = this.#options;
    return new StreamLog({ store: this.#node.store, session, sessionId, id, ttl, maxLength });
  }

  #streamsOf(session: HttpSession): Map<string, ResumableStream> {
    let streams = this.#streams.get(session);
    if (!streams) this.#streams.set(session, (streams = new Map()));
    return streams;
  }

  #newId(prefix: string): string {
    return `${prefix}${this.#node.id}.${crypto.randomUUID().slice(0, 18)}`;
  }

  /** Extends the lifetime of the logs of open streams, also of silent ones. */
  #refreshLater(): void {
    this.#timer ??= this.#context.core.clock.setTimeout(() => {
      this.#timer = undefined;
      for (const stream of this.#refreshedStreams) {
        if (stream.isConnected || stream.id.startsWith(postPrefix)) stream.refresh();
        else this.#refreshedStreams.delete(stream);
      }
      if (this.#refreshedStreams.size > 0) this.#refreshLater();
    }, this.#options.ttl / 3);
  }

  #forgetDisconnected(session: HttpSession): void {
    const streams = [...this.#streamsOf(session).values()];
    const waitingStreams = streams.filter(({ id, isConnected }) => id.startsWith(getPrefix) && !isConnected);
    for (const stream of waitingStreams.slice(0, Math.max(0, waitingStreams.length - maxDisconnected))) {
      this.#streamsOf(session).delete(stream.id);
      this.#refreshedStreams.delete(stream);
    }
  }
}

/**
 * Returns the stream that the reply to a POST may become. With `limits`, its connection ends after their interval: the client
 * then has an id to resume from, even if nothing was sent.
 */
function makeReplyStream(create: () => ResumableStream, limits: OpenExchanges | undefined): ReplyStream {
  let response: OpenExchange | undefined;
  let reply: { stream: ResumableStream; connection: Connection } | undefined;
  const limit: OpenExchange = {
    due: 0,
    onInterval: () => {
      limits?.remove(limit);
      // If the response is not a stream yet, its keep-alive turns it into one.
      response?.onInterval();
      reply?.stream.release(reply.connection);
    },
  };
  return {
    onOpen: (exchange) => {
      response = exchange;
      limits?.add(limit);
    },
    begin: (exchange) => {
      const stream = create();
      reply = { stream, connection: stream.begin(exchange, () => {}) };
      return stream;
    },
    onClose: () => limits?.remove(limit),
  };
}

async function resumeOrLeave(
  stream: ResumableStream,
  exchange: HttpExchange,
  { position, leave }: { position: string; leave: () => void },
): Promise<void> {
  try {
    await stream.resume(exchange, position, leave);
  } catch (error) {
    leave();
    throw error;
  }
}
