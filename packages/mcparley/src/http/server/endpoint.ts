import { type Awaitable, recover } from "../../rpc/awaitable.ts";
import { ErrorCode, LocalError } from "../../rpc/errors.ts";
import { classify } from "../../rpc/messages.ts";
import type { ServerCore } from "../../server/dispatch/core.ts";
import { readAccept } from "../accept.ts";
import { type BodyLimits, readMessage } from "./body.ts";
import type { CheckSender } from "./check-sender.ts";
import { useCluster } from "./cluster.ts";
import type { EndpointContext, Posted, Sender } from "./endpoint-context.ts";
import type { Exchange } from "../exchange.ts";
import { type Guard, makeGuard } from "./guards.ts";
import { checkMirroredHeaders } from "./mirrored-headers.ts";
import type { HttpSse } from "./http-sse/http-sse.ts";
import { OpenExchanges } from "./open-exchanges.ts";
import type { LegacyEndpoint } from "./sessions/legacy-endpoint.ts";
import type { HttpOptions } from "./options.ts";
import { isModern, postModern } from "./post-modern.ts";
import { HttpRefusal, notAllowed, refuse, shuttingDown } from "./refusal.ts";
import { type Part, type Routes, readRoutes } from "./route.ts";

/** A server at one URL, for every revision: requests by themselves, and sessions, at the same time. */
export class Endpoint {
  readonly #context: EndpointContext;
  readonly #options: HttpOptions;
  readonly #guard: Guard;
  /** Loading starts with the endpoint, because every POST needs it. A separate module keeps the start small. */
  readonly #loadingBodies: Promise<BodyLimits>;
  #bodies: BodyLimits | undefined;
  #checkSender: CheckSender | undefined;
  readonly #routes: Routes;
  #legacy: LegacyEndpoint | undefined;
  #loadingLegacy: Promise<LegacyEndpoint> | undefined;
  #sse: HttpSse | undefined;
  #loadingSse: Promise<HttpSse> | undefined;
  #closing = false;

  /**
   * `boundHost` is what the server listens on, where that is known. Throws a LocalError `invalid_definition` for a tool
   * whose arguments cannot be mirrored in headers as its `x-mcp-header` annotations say, for two equal paths, and for an
   * option `store`, which belongs to `createServer`.
   */
  constructor(core: ServerCore, options: HttpOptions, boundHost?: string) {
    checkMirroredHeaders(core);
    // Only JavaScript can pass it. `refuseStore` would cost more in every bundle.
    if ("store" in options)
      throw new LocalError("invalid_definition", 'Use createServer({ store }), not the option "store".');
    const { allowedHosts, allowedOrigins, auth, keepAlive = 15_000 } = options;
    const { maxBody = 4 * 1024 * 1024, bodyTimeout = 30_000 } = options;
    this.#options = options;
    this.#guard = makeGuard({ allowedHosts, allowedOrigins, boundHost });
    this.#routes = readRoutes(options);
    this.#loadingBodies = import("./request-limits.ts").then(
      ({ RequestLimits }) => (this.#bodies = { max: maxBody, requests: new RequestLimits(core, bodyTimeout) }),
    );
    this.#context = {
      core,
      open: new OpenExchanges(core.clock, keepAlive),
      auth: typeof auth === "function" ? { authenticate: auth } : auth,
      cluster: useCluster(core),
    };
  }

  /** Sessions that are open. */
  get sessions(): number {
    return (this.#legacy?.sessions ?? 0) + (this.#sse?.size ?? 0);
  }

  /** Requests that are being answered, and open streams. */
  get inFlight(): number {
    return this.#context.open.size;
  }

  /** Answers one HTTP request. */
  handle(exchange: Exchange): void {
    this.#attempt(exchange, () => this.#serve(exchange));
  }

  /** Whether requests may be sent to it: not once it drains. */
  get isReady(): boolean {
    return !this.#context.open.isEnding;
  }

  /**
   * Ends streams with their graceful result, opens none and no session, and waits for what is in flight, within the limit
   * of the options. Other requests are answered as before.
   */
  async drain(): Promise<void> {
    const { core, open } = this.#context;
    const { closeTimeout = 10_000 } = this.#options;
    open.endStreams();
    let timer: unknown;
    const limit = new Promise<void>((resolve) => {
      timer = core.clock.setTimeout(resolve, closeTimeout);
    });
    await Promise.race([open.drained(), limit]);
    core.clock.clearTimeout(timer);
  }

  /**
   * Drains and refuses new requests, then ends the sessions; those that are shared through a store stay there for the
   * other processes.
   */
  async close(): Promise<void> {
    const { open } = this.#context;
    this.#closing = true;
    await this.drain();
    const cause = new LocalError("closed", "The server is shutting down.");
    await this.#legacy?.end(cause);
    await this.#sse?.end(cause);
    await this.#context.cluster?.leave();
    open.stop();
    this.#bodies?.requests.stop();
  }

  #serve(exchange: Exchange): Awaitable<void> {
    const { auth } = this.#context;
    const document = auth?.document?.(exchange);
    if (document) return exchange.respond(document.status, document.headers, document.body);
    this.#guard(exchange);
    if (auth || this.#options.cors || this.#options.trustProxy) return this.#serveChecked(exchange);
    const { address, network = "" } = exchange;
    const sender = { principal: undefined, address, caller: network };
    return this.#serveFor(sender, exchange, this.#admit(exchange));
  }

  /** Serves a request after its CORS and authentication checks, and after its client's address was looked up. */
  async #serveChecked(exchange: Exchange): Promise<void> {
    this.#checkSender ??= (await import("./check-sender.ts")).makeSenderCheck(this.#options, this.#context);
    const sender = await this.#checkSender(exchange, () => this.#admit(exchange));
    if (sender) await this.#serveFor(sender, exchange, this.#admit(exchange));
  }

  #serveFor(sender: Sender, exchange: Exchange, part: Part): Awaitable<void> {
    if (exchange.method === "POST") {
      if (this.#bodies) return this.#servePost(sender, exchange, part, this.#bodies);
      return this.#loadingBodies.then((bodies) => this.#servePost(sender, exchange, part, bodies));
    }
    if (part !== "mcp") return this.#answerSse(part, exchange, sender);
    return this.#answerOther(exchange, sender);
  }

  #servePost(sender: Sender, exchange: Exchange, part: Part, bodies: BodyLimits): Awaitable<void> {
    const declared = Number(exchange.header("content-length"));
    // Without a length, or with a malformed one, bytes count as they arrive.
    const held = bodies.requests.enter(sender.caller, declared > 0 ? Math.min(declared, bodies.max) : 0);
    // Nothing would return the share of a client that went away while its credentials were checked.
    if (exchange.closed) held.release();
    else exchange.held = held;
    return part === "mcp" ? this.#post(exchange, sender, bodies) : this.#answerSse(part, exchange, sender);
  }

  async #answerOther(exchange: Exchange, sender: Sender): Promise<void> {
    const { method } = exchange;
    if (method === "GET") await (await this.#useLegacy()).get(exchange, sender);
    else if (method === "DELETE") await (await this.#useLegacy()).delete(exchange, sender);
    else throw notAllowed(method, this.#options.sessions === false ? "POST" : "GET, POST, DELETE");
  }

  async #useLegacy(): Promise<LegacyEndpoint> {
    if (this.#legacy) return this.#legacy;
    this.#loadingLegacy ??= import("./sessions/legacy-endpoint.ts").then(({ openLegacyEndpoint }) =>
      openLegacyEndpoint(this.#context, this.#options),
    );
    this.#legacy = await this.#loadingLegacy;
    return this.#legacy;
  }

  async #answerSse(part: Part, exchange: Exchange, sender: Sender): Promise<void> {
    const { sessions } = this.#options;
    const bodies = await this.#loadingBodies;
    this.#loadingSse ??= import("./http-sse/http-sse.ts").then(({ HttpSse }) => {
      const limits = typeof sessions === "object" ? sessions : {};
      return new HttpSse(this.#context, {
        messages: this.#routes.messages ?? "",
        bodies,
        sessions: limits,
      });
    });
    this.#sse = await this.#loadingSse;
    if (part === "stream") await this.#sse.getStream(exchange, sender);
    else await this.#sse.postMessage(exchange, sender.principal);
  }

  /** Checks what can be checked before anything is read or asked, and says what the request is for. */
  #admit(exchange: Exchange): Part {
    const part = this.#routes.find(exchange.path);
    if (!part) throw new HttpRefusal(404, `There is nothing here. MCP is served at ${this.#routes.mcp || "/"}.`);
    if (!this.#closing) return part;
    throw shuttingDown();
  }

  #post(exchange: Exchange, { principal, address, caller }: Sender, bodies: BodyLimits): void {
    const accepted = readAccept(exchange.header("accept"));
    const posted: Posted = { exchange, principal, address, caller, accepted };
    readMessage(exchange, bodies, {
      resolve: (value) => this.#attempt(exchange, () => this.#take(posted, value)),
      reject: (error) => this.#fail(exchange, error),
    });
  }

  #take(posted: Posted, value: unknown): Awaitable<void> {
    if (Array.isArray(value)) return this.#useLegacy().then((legacy) => legacy.postBatch(posted, value));
    const classified = classify(value, this.#context.core.limits.idLength);
    if (classified.kind === "invalid") {
      throw new HttpRefusal(400, `Invalid message: ${classified.reason}.`, { id: classified.id });
    }
    if (classified.kind === "request") posted.exchange.held?.answer(classified.message.id);
    if (isModern(classified, posted.exchange)) return postModern(this.#context, posted, classified);
    // Once it is loaded it is asked at once, so that no request of a session waits its turn.
    if (this.#legacy) return this.#legacy.post(posted, classified);
    return this.#useLegacy().then((legacy) => legacy.post(posted, classified));
  }

  /** Answers with what went wrong where something does, now or later. */
  #attempt(exchange: Exchange, run: () => Awaitable<void>): void {
    void recover(run, (error) => this.#fail(exchange, error));
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (error instanceof HttpRefusal) {
      const { cause } = error.options;
      if (cause !== undefined) this.#context.core.report(cause, undefined);
      this.#context.core.refused(`${exchange.method} ${exchange.path}`, undefined, error);
      return refuse(exchange, error);
    }
    // Nobody reads what is answered to a client that went away; but a runtime may wait for it.
    if (error instanceof LocalError && error.code === "closed")
      return refuse(exchange, new HttpRefusal(400, error.message));
    this.#context.core.report(error, undefined);
    refuse(exchange, new HttpRefusal(500, "Internal error", { code: ErrorCode.InternalError }));
  }
}
