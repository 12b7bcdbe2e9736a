import { LocalError } from "../../../rpc/errors.ts";
import { type Principal, principalKey } from "../../../server/core/context.ts";
import { explainUnknownId, makeId } from "../../../server/core/local-id.ts";
import { requireEventStream, type Part, readJson } from "../read-request.ts";
import type { Cluster, HttpSseRelay } from "../cluster.ts";
import type { EndpointContext, Sender } from "../endpoint-context.ts";
import { EventStream } from "../event-stream.ts";
import type { HttpExchange, ReadLimits } from "../../exchange.ts";
import { HttpSseSession, checkPosted } from "./http-sse-session.ts";
import type { SessionOptions } from "../options.ts";
import { SessionShares, displacedError, neverUsedError, tableIsFull } from "../sessions/session-shares.ts";
import { HttpRefusal, notAllowed, shortenValue, shuttingDown } from "../refusal.ts";

/** The connection to the other processes of the server. */
interface SharedRelay extends Pick<Cluster, "withStore"> {
  relay: HttpSseRelay;
}

interface HttpSseOptions {
  /** The path to which clients post their messages. */
  messages: string | undefined;
  /** The limits of the bodies of posted messages. */
  bodies: ReadLimits;
  sessions: SessionOptions | boolean | undefined;
}

/**
 * The HTTP+SSE transport (2024-11-05, basic/transports). A GET opens a session and its stream. The first event contains the
 * URL for the client's messages, and the stream carries all messages to the client. The session ends with its stream.
 *
 * This module is loaded when the first client uses the transport.
 */
export class HttpSse {
  readonly #context: EndpointContext;
  readonly #options: HttpSseOptions;
  readonly #sessions = new Map<string, HttpSseSession>();
  /** A session counts as unused until it is initialized, and as busy from then on, because its stream is open. */
  readonly #shares: SessionShares<HttpSseSession>;
  #sharedRelay: Promise<SharedRelay> | undefined;

  constructor(context: EndpointContext, options: HttpSseOptions) {
    this.#context = context;
    this.#options = options;
    const { clock } = context.core;
    this.#shares = new SessionShares({
      clock,
      options: typeof options.sessions === "object" ? options.sessions : {},
      onUnused: (session) => session.end(neverUsedError),
    });
  }

  /** The number of open sessions. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Answers a request at one of the two paths. */
  serve(part: Part, exchange: HttpExchange, sender: Sender): Promise<void> {
    return part === "stream" ? this.#getStream(exchange, sender) : this.#postMessage(exchange, sender.principal);
  }

  /** Opens a session and its stream. */
  async #getStream(exchange: HttpExchange, sender: Sender): Promise<void> {
    const { core, open } = this.#context;
    if (exchange.method !== "GET") throw notAllowed(exchange.method, "GET");
    if (open.isEnding) throw shuttingDown();
    requireEventStream(exchange);
    if (!this.#shares.hasRoomFor(sender.caller)) throw tableIsFull(60);
    const sharedRelay = await this.#useShared();
    const { principal } = sender;
    // A POST names the session only by this id, so it must not be guessable.
    const id = sharedRelay ? await sharedRelay.withStore(() => sharedRelay.relay.open(principal)) : makeId(core);

    const events = new EventStream(exchange);
    const onEnd = (): void => {
      this.#shares.delete(session);
      this.#sessions.delete(id);
      sharedRelay?.relay.close(id);
      open.remove(session);
    };
    const session = new HttpSseSession({ context: this.#context, sender, events, onEnd });
    // There is room: `hasRoomFor` has checked it, and a new session stores nothing yet.
    this.#shares.makeRoomFor(session, (victim) => victim.end(displacedError));
    this.#shares.open(session);
    this.#sessions.set(id, session);
    open.add(session);
    events.write(`event: endpoint\ndata: ${this.#options.messages}?sessionId=${id}\n\n`);
    exchange.onGone(() => session.end(new LocalError("closed", "The client closed its stream.")));
  }

  /** Accepts the POST of a message with 202. The reply is sent on the stream of the session. */
  async #postMessage(exchange: HttpExchange, principal: Principal | undefined): Promise<void> {
    if (exchange.method !== "POST") throw notAllowed(exchange.method, "POST");
    const id = new URLSearchParams(exchange.query).get("sessionId");
    if (id === null) {
      throw new HttpRefusal(400, "The URL has no sessionId. Open a stream, and post to the URL of its endpoint event.");
    }
    const session = this.#find(id, principal);
    if (session) await readJson(exchange, this.#options.bodies, (value) => this.#receive(session, value, principal));
    else await this.#forward(exchange, id, principal);
    exchange.respond(202, {});
  }

  /** Forwards a posted message to the process that has the session's stream. Throws a refusal of 404 if no process has it. */
  async #forward(exchange: HttpExchange, id: string, principal: Principal | undefined): Promise<void> {
    const sharedRelay = await this.#useShared();
    if (!sharedRelay || !(await sharedRelay.withStore(() => sharedRelay.relay.isOnOtherNode(id, principal)))) {
      const reason = explainUnknownId(this.#context.core, id) ?? "does not exist or has expired.";
      throw new HttpRefusal(404, `Session "${shortenValue(id)}" ${reason} Open a new stream.`);
    }
    const value = await readJson(exchange, this.#options.bodies, (message) => message);
    checkPosted(value);
    await sharedRelay.withStore(() => sharedRelay.relay.forward(id, value, principal));
  }

  /** Ends the sessions and their calls. */
  async end(cause: Error): Promise<void> {
    for (const session of this.#sessions.values()) session.end(cause);
    this.#shares.stop();
    await (await this.#sharedRelay)?.relay.stop();
  }

  #useShared(): Promise<SharedRelay | undefined> | undefined {
    this.#sharedRelay ??= this.#context.cluster?.load().then(({ openHttpSse, withStore }) => ({
      // Called with a message that was posted to another process, which has answered the POST.
      relay: openHttpSse((id, value, principal) => {
        try {
          const session = this.#find(id, principal);
          if (session) this.#receive(session, value, principal);
        } catch (error) {
          this.#context.core.report(error, undefined);
        }
      }),
      withStore,
    }));
    return this.#sharedRelay;
  }

  #receive(session: HttpSseSession, value: unknown, principal: Principal | undefined): void {
    session.receive(value, principal);
    if (!session.isInitialized) return;
    session.lastUsed = this.#context.core.clock.now();
    this.#shares.noteUse(session);
    this.#shares.makeRoomForGrowth(session, (victim) => victim.end(displacedError));
  }

  /** Returns a session of a caller. Undefined for the session of another caller. */
  #find(id: string, principal: Principal | undefined): HttpSseSession | undefined {
    const session = this.#sessions.get(id);
    return session && principalKey(session.principal) === principalKey(principal) ? session : undefined;
  }
}
