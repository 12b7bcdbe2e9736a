import type { RequestId } from "../jsonrpc/messages.ts";
import { principalKey } from "../server/context.ts";
import type { Store } from "../store/store.ts";
import type { AnswerStream } from "./answering.ts";
import type { EndpointContext } from "./endpoint-context.ts";
import type { Exchange } from "./exchange.ts";
import type { HttpSession } from "./http-session.ts";
import { type OpenExchange, OpenExchanges } from "./open-exchanges.ts";
import type { EventOptions } from "./options.ts";
import { HttpRefusal, shown } from "./refusal.ts";
import { ResumableAnswer } from "./resumable-answer.ts";
import { type EventLog, ResumableStream } from "./resumable-stream.ts";
import { Standalone } from "./standalone.ts";

/** Entries that are read from a log at a time. */
const pageSize = 100;
/** Streams that a session's GETs opened and that are known without a connection; the logs of others outlive them. */
const maxStandby = 8;
/** What the id of a stream begins with, by what opened it. */
const byPost = "p";
const byGet = "g";

/**
 * Makes the streams of legacy sessions resumable, on the logs of a store.
 *
 * A log is named by principal, session and stream. A request is matched with its session and principal before, so the
 * id of an event that anyone else was sent names nothing.
 */
export class Resumption {
  readonly #context: EndpointContext;
  readonly #store: Store;
  readonly #options: { ttl: number; maxLength: number; retry: number };
  readonly #limits: OpenExchanges | undefined;
  /** The streams of each session that may still say something, by their ids. */
  readonly #live = new WeakMap<HttpSession, Map<string, ResumableStream>>();

  constructor(context: EndpointContext, store: Store, options: EventOptions = {}) {
    const { ttl = 300_000, maxLength = 1_000, retry = 1_000, maxStream } = options;
    this.#context = context;
    this.#store = store;
    this.#options = { ttl, maxLength, retry };
    this.#limits = maxStream === undefined ? undefined : new OpenExchanges(context.core.clock, maxStream);
  }

  /** The stream that the answer to a POST may become. Undefined where the revision resumes none. */
  answer(session: HttpSession, _ids: readonly RequestId[]): AnswerStream | undefined {
    const { resumable, polls } = session.session.revision;
    if (!resumable) return undefined;
    return new ResumableAnswer(() => this.#createAnswer(session), polls ? this.#limits : undefined);
  }

  /** Opens a stream for what belongs to no request. */
  open(exchange: Exchange, session: HttpSession): void {
    const stream = this.#create(session, `${byGet}${newId()}`);
    void new Standalone(exchange, this.#context.open, session, (leave) => {
      stream.begin(exchange, undefined, leave);
      return stream;
    });
    this.#forgetStandby(session);
  }

  /** Goes on with the stream that the id of an event names. Throws a refusal of 400 where there is none. */
  async resume(exchange: Exchange, session: HttpSession, lastEventId: string): Promise<void> {
    const [, id = "", after = ""] = /^([pg][0-9a-f-]+)_(.*)$/.exec(lastEventId) ?? [];
    const stream = id === "" ? undefined : await this.#find(session, id);
    if (!stream) {
      // Not 404, which would say that the session is gone.
      const why = "is of no stream of this session, or its events are not kept any more";
      throw new HttpRefusal(400, `The Last-Event-ID "${shown(lastEventId)}" ${why}.`);
    }
    if (!id.startsWith(byGet)) return this.#resumeAnswer(exchange, stream, after);
    let resumed: Promise<void> | undefined;
    void new Standalone(exchange, this.#context.open, session, (leave) => {
      resumed = resumeOrLeave(stream, exchange, { after, leave });
      return stream;
    });
    return resumed;
  }

  stop(): void {
    this.#limits?.stop();
  }

  async #resumeAnswer(exchange: Exchange, stream: ResumableStream, after: string): Promise<void> {
    const { open } = this.#context;
    const carrying: OpenExchange = { due: 0, beat: () => stream.comment(), endStream: () => {} };
    const leave = (): void => open.remove(carrying);
    open.add(carrying);
    exchange.onGone(leave);
    await resumeOrLeave(stream, exchange, { after, leave });
  }

  /** Its log may take longer than its answer: the endpoint must not close before all of it is sent. */
  #createAnswer(session: HttpSession): ResumableStream {
    const { open } = this.#context;
    const writing: OpenExchange = { due: 0, beat: () => {}, endStream: () => {} };
    open.add(writing);
    return this.#create(session, `${byPost}${newId()}`, () => open.remove(writing));
  }

  #create(session: HttpSession, id: string, onEnd: () => void = () => {}): ResumableStream {
    const live = this.#liveOf(session);
    const stream = this.#streamOf(session, id, () => {
      live.delete(id);
      onEnd();
    });
    live.set(id, stream);
    return stream;
  }

  async #find(session: HttpSession, id: string): Promise<ResumableStream | undefined> {
    const live = this.#liveOf(session).get(id);
    if (live) return live;
    const [kept] = await this.#logOf(session, id).readFrom(undefined, 1);
    if (!kept) return undefined;
    // A stream of a GET has no end: it goes on though it was forgotten.
    return id.startsWith(byGet) ? this.#create(session, id) : this.#streamOf(session, id);
  }

  /** A stream; without `onEnd` one that has ended. */
  #streamOf(session: HttpSession, id: string, onEnd?: () => void): ResumableStream {
    return new ResumableStream({
      id,
      log: this.#logOf(session, id),
      retry: this.#options.retry,
      polls: session.session.revision.polls,
      limits: this.#limits,
      endless: id.startsWith(byGet),
      ended: onEnd === undefined,
      onEnd: onEnd ?? (() => {}),
      report: (error) => this.#context.core.report(error, undefined),
    });
  }

  #logOf(session: HttpSession, id: string): EventLog {
    const name = `events ${principalKey(session.session.principal)} ${session.id} ${id}`;
    const { ttl, maxLength } = this.#options;
    return {
      append: (value) => this.#store.append(name, value, { ttl, maxLength }),
      readFrom: (after, limit = pageSize) => this.#store.readFrom(name, after, limit),
    };
  }

  #liveOf(session: HttpSession): Map<string, ResumableStream> {
    let live = this.#live.get(session);
    if (!live) this.#live.set(session, (live = new Map()));
    return live;
  }

  #forgetStandby(session: HttpSession): void {
    const live = this.#liveOf(session);
    const standby = [...live.values()].filter(({ id, isConnected }) => id.startsWith(byGet) && !isConnected);
    for (const { id } of standby.slice(0, Math.max(0, standby.length - maxStandby))) live.delete(id);
  }
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

function newId(): string {
  return crypto.randomUUID().slice(0, 18);
}
