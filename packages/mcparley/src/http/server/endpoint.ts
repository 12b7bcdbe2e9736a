import { settlesWithin } from "../../rpc/abort.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { LocalError } from "../../rpc/errors.ts";
import { readMessage } from "../../mcp/read-message.ts";
import type { ServerCore } from "../../server/core/server-core.ts";
import { reportHidden } from "../../server/observe/warnings.ts";
import { readAccept, type Part, type Routes, readRoutes, readJson } from "./read-request.ts";
import { documentAt, readAuth } from "./auth-list.ts";
import { checkOptions } from "./check-options.ts";
import type { CheckSender } from "./check-sender.ts";
import { convertTools, convertToolsWhenIdle } from "../../server/checks/convert-tools.ts";
import { useCluster } from "./use-cluster.ts";
import type { EncodeLarge, EndpointContext, Posted, Sender } from "./endpoint-context.ts";
import type { HttpExchange } from "../exchange.ts";
import { type Guard, makeGuard } from "./host-check.ts";
import { checkMirroredHeaders } from "./mirrored-headers.ts";
import type { HttpSse } from "./http-sse/http-sse.ts";
import { OpenExchanges } from "./open-exchanges.ts";
import type { LegacyEndpoint } from "./sessions/legacy-endpoint.ts";
import type { HttpOptions } from "./options.ts";
import { isModern, postModern } from "./post-modern.ts";
import { HttpRefusal, notAcceptable, notAllowed, refuse, refuseForeign, shuttingDown } from "./refusal.ts";
import { RequestLimits } from "./request-limits.ts";
import { UnreadReplies } from "./unread-replies.ts";

/** Properties of the adapter that uses an endpoint. */
interface Adapter {
  /** The address that the HTTP server listens on, if it is known. */
  boundHost?: string;
  /** The class of its open exchanges. Default: each exchange has a separate timer. */
  Open?: typeof OpenExchanges;
  /** Encodes messages with large strings. Default: they are encoded like others. */
  encodeLarge?: EncodeLarge;
}

/** One HTTP endpoint of a server, for all revisions: stateless requests and sessions at the same URL. */
export class Endpoint {
  readonly #context: EndpointContext;
  readonly #options: HttpOptions;
  readonly #guard: Guard;
  readonly #limits: RequestLimits;
  readonly #unread: UnreadReplies;
  readonly #routes: Routes;
  /** Whether requests need the checks of `cors`, `auth` or `trustProxy`. */
  readonly #needsSenderCheck: boolean;
  /** Whether a warning may be needed, because the endpoint verifies no credentials. False after the first such request. */
  #mayHideDefinitions: boolean;
  #checkSender: CheckSender | undefined;
  #legacy: LegacyEndpoint | undefined;
  #loadingLegacy: Promise<LegacyEndpoint> | undefined;
  #sse: HttpSse | undefined;
  #loadingSse: Promise<HttpSse> | undefined;
  #closing = false;
  /** Whether the next request must wait until the schemas of all tools are converted. */
  #mustConvert: boolean;

  /**
   * Throws a LocalError `invalid_definition` if the `x-mcp-header` annotations of a tool are invalid, if two paths are the
   * same, for an unknown option, and for an option `store`, which belongs to `createServer`. With a `boundHost`, it converts
   * the schemas of all tools, and throws for one that cannot be converted.
   */
  constructor(core: ServerCore, options: HttpOptions, { boundHost, Open = OpenExchanges, encodeLarge }: Adapter = {}) {
    const listens = boundHost !== undefined;
    convertTools(core, (tool) => (listens || tool.isConverted) && checkMirroredHeaders(tool));
    this.#mustConvert = !listens;
    checkOptions(options, listens);
    const { allowedHosts, allowedOrigins, auth, cors, trustProxy, keepAlive = 5_000 } = options;
    this.#options = options;
    this.#guard = makeGuard({ allowedHosts, allowedOrigins, boundHost });
    this.#limits = new RequestLimits(core, options, Open);
    this.#unread = new UnreadReplies(core, options.readTimeout, Open);
    this.#routes = readRoutes(options);
    this.#needsSenderCheck = Boolean(auth || cors || trustProxy);
    this.#mayHideDefinitions = !auth;
    const auths = readAuth(auth);
    if (!listens && auths.some((one) => "listening" in one))
      throw new LocalError("invalid_definition", "Only `listen` has a URL for protectedResource. Name its resource.");
    this.#context = {
      core,
      open: new Open(core.clock, keepAlive),
      auths,
      cluster: useCluster(core),
      encodeLarge,
    };
  }

  /** The number of open sessions. */
  get sessions(): number {
    return (this.#legacy?.sessions ?? 0) + (this.#sse?.size ?? 0);
  }

  /** The number of requests that wait for their reply, and of open streams. */
  get inFlight(): number {
    return this.#context.open.size;
  }

  /**
   * Converts the schemas of tools between requests, in place of before the first. A definition that cannot be offered is
   * reported, and later requests are refused.
   */
  async convertWhenIdle(): Promise<void> {
    this.#mustConvert = false;
    try {
      await convertToolsWhenIdle(this.#context.core, checkMirroredHeaders);
    } catch (error) {
      this.#mustConvert = true;
      this.#context.core.report(error, undefined);
    }
  }

  // The functions for anonymous POST requests are not async. The frame of an async function takes about 500 bytes, and holds
  // the message while a stream is open, which can be days.

  /** Answers one HTTP request. Never rejects. */
  handle(exchange: HttpExchange): Promise<void> {
    const fail = (error: unknown): void => this.#fail(exchange, error);
    try {
      return Promise.resolve(this.#serve(exchange)).catch(fail);
    } catch (error) {
      return Promise.resolve(fail(error));
    }
  }

  #serve(exchange: HttpExchange): Promise<void> | void {
    const document = documentAt(this.#context.auths, exchange);
    if (document) return exchange.respond(document.status, document.headers, document.body);
    const foreign = this.#guard(exchange);
    if (foreign) throw refuseForeign(foreign, exchange);
    if (this.#needsSenderCheck || exchange.principal !== undefined) return this.#serveChecked(exchange);
    const { address, network = "" } = exchange;
    return this.#serveFrom({ principal: undefined, address, caller: network }, exchange);
  }

  async #serveChecked(exchange: HttpExchange): Promise<void> {
    // Servers without these options need no code for credentials, CORS and proxies.
    this.#checkSender ??= (await import("./check-sender.ts")).makeSenderCheck(this.#options, this.#context);
    const sender = await this.#checkSender(exchange, () => this.#admit(exchange));
    if (sender) await this.#serveFrom(sender, exchange);
  }

  #serveFrom(sender: Sender, exchange: HttpExchange): Promise<void> {
    // A drain may have started while the sender was checked.
    const part = this.#admit(exchange);
    if (this.#mustConvert) convertTools(this.#context.core, checkMirroredHeaders);
    this.#mustConvert = false;
    exchange.readers = this.#unread;
    exchange.caller = sender.caller;
    if (this.#mayHideDefinitions && !sender.principal) this.#reportHidden();
    if (exchange.method === "POST") return this.#post(exchange, sender, part);
    return part === "mcp" ? this.#serveSession(exchange, sender) : this.#serveSse(part, exchange, sender);
  }

  #reportHidden(): void {
    this.#mayHideDefinitions = false;
    const cure = 'Set the option "auth", or pass the principal of each request.';
    reportHidden(this.#context.core, cure);
  }

  /** Returns the part of the endpoint at a path. Throws 404 for other paths, and 503 if the endpoint is closing. */
  #admit(exchange: HttpExchange): Part {
    const part = this.#routes.find(exchange.path);
    if (!part) throw new HttpRefusal(404, `Path not found. MCP is served at ${this.#routes.mcp || "/"}.`);
    if (!this.#closing) return part;
    throw shuttingDown();
  }

  /** Reads the message of a POST and answers it. */
  #post(exchange: HttpExchange, sender: Sender, part: Part): Promise<void> {
    const contentLength = Number(exchange.header("content-length"));
    // Without a length, or with a malformed one, bytes count as they arrive.
    const share = this.#limits.enter(
      sender.caller,
      contentLength > 0 ? Math.min(contentLength, this.#limits.maxBytes) : 0,
    );
    // If the client has disconnected while its credentials were checked, the adapter would not release the share.
    if (exchange.closed) share.release();
    else exchange.held = share;
    if (part !== "mcp") return this.#serveSse(part, exchange, sender);
    const acceptedTypes = readAccept(exchange.header("accept"));
    if (!acceptedTypes.json && !acceptedTypes.events) throw notAcceptable(exchange);
    const { principal, address, caller } = sender;
    const post = { exchange, acceptedTypes, principal, address, caller };
    return readJson(exchange, this.#limits, (message) => this.#receive(post, message));
  }

  /** Passes a message to the code of its revision. */
  #receive(post: Posted, value: unknown): Awaitable<void> {
    if (Array.isArray(value)) return this.#useLegacy().then((legacy) => legacy.postBatch(post, value));
    const message = readMessage(value, this.#context.core.limits.idLength);
    if (message.kind === "invalid") {
      throw new HttpRefusal(400, `Invalid message: ${message.reason}.`, { id: message.id });
    }
    if (message.kind === "request") post.exchange.held?.answer(message.message.id);
    if (isModern(message, post.exchange)) return postModern(this.#context, post, message);
    if (this.#legacy) return this.#legacy.post(post, message);
    return this.#useLegacy().then((legacy) => legacy.post(post, message));
  }

  /** Whether a load balancer should send requests to the endpoint. False after a drain has started. */
  get isReady(): boolean {
    return !this.#context.open.isEnding;
  }

  /**
   * Ends streams with their graceful result, and opens no new streams or sessions. Waits until nothing is in flight, or for
   * `closeTimeout`. Other requests are answered as before.
   */
  async drain(): Promise<void> {
    const { core, open } = this.#context;
    const { closeTimeout = 10_000 } = this.#options;
    open.endStreams();
    await settlesWithin(open.waitForDrain(), closeTimeout, core.clock);
  }

  /**
   * Drains and refuses new requests, then ends the sessions. Sessions in a store stay there for the other processes.
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
    this.#limits.stop();
    this.#unread.stop();
  }

  async #serveSession(exchange: HttpExchange, sender: Sender): Promise<void> {
    const { method } = exchange;
    if (method !== "GET" && method !== "DELETE")
      throw notAllowed(method, this.#options.sessions === false ? "POST" : "GET, POST, DELETE");
    const legacy = this.#legacy ?? (await this.#useLegacy());
    await (method === "GET" ? legacy.get(exchange, sender) : legacy.delete(exchange, sender));
  }

  /** Loads the code of legacy revisions with their first request, because it would add a third to the bundle. */
  #useLegacy(): Promise<LegacyEndpoint> {
    this.#loadingLegacy ??= import("./sessions/legacy-endpoint.ts").then(
      async ({ openLegacyEndpoint }) => (this.#legacy = await openLegacyEndpoint(this.#context, this.#options)),
    );
    return this.#loadingLegacy;
  }

  /** Loads the code of HTTP+SSE with the first request to its paths, because most servers do not offer the transport. */
  async #serveSse(part: Part, exchange: HttpExchange, sender: Sender): Promise<void> {
    this.#loadingSse ??= import("./http-sse/http-sse.ts").then(
      ({ HttpSse }) =>
        new HttpSse(this.#context, {
          messages: this.#routes.messages,
          bodies: this.#limits,
          sessions: this.#options.sessions,
        }),
    );
    this.#sse = await this.#loadingSse;
    await this.#sse.serve(part, exchange, sender);
  }

  #fail(exchange: HttpExchange, error: unknown): void {
    if (error instanceof HttpRefusal) {
      const { cause } = error.options;
      if (cause !== undefined) this.#context.core.report(cause, undefined);
      this.#context.core.refused(`${exchange.method} ${exchange.path}`, undefined, error);
      return refuse(exchange, error);
    }
    // The client has disconnected, but a runtime may wait for a response.
    if (error instanceof LocalError && error.code === "closed")
      return refuse(exchange, new HttpRefusal(400, error.message));
    this.#context.core.report(error, undefined);
    refuse(exchange, new HttpRefusal(500, "Internal error", { code: ErrorCode.InternalError }));
  }
}
