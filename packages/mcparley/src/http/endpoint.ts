import { ErrorCode, LocalError } from "../jsonrpc/errors.ts";
import { classify } from "../jsonrpc/messages.ts";
import type { Principal } from "../server/context.ts";
import type { ServerCore } from "../server/core.ts";
import { readAccept } from "./accept.ts";
import { parse, requireJson, withinLimit } from "./body.ts";
import type { Cors } from "./cors.ts";
import type { EndpointContext } from "./endpoint-context.ts";
import type { Exchange } from "./exchange.ts";
import { type Guard, makeGuard } from "./guards.ts";
import { checkMirroredHeaders } from "./mirrored-headers.ts";
import { OpenExchanges } from "./open-exchanges.ts";
import type { LegacyEndpoint } from "./legacy-endpoint.ts";
import type { HttpOptions } from "./options.ts";
import { isModern, postModern } from "./post-modern.ts";
import { HttpRefusal, notAllowed, refuse } from "./refusal.ts";

const defaultMaxBody = 4 * 1024 * 1024;

/** A server at one URL, for every revision: requests by themselves, and sessions, at the same time. */
export class Endpoint {
  readonly #context: EndpointContext;
  readonly #options: HttpOptions;
  readonly #guard: Guard;
  #cors: Cors | undefined;
  readonly #path: string | undefined;
  #legacy: LegacyEndpoint | undefined;
  #loadingLegacy: Promise<LegacyEndpoint> | undefined;
  #closing = false;

  /**
   * `boundHost` is what the server listens on, where that is known. Throws a LocalError `invalid_definition` for a tool
   * whose arguments cannot be mirrored in headers as its `x-mcp-header` annotations say.
   */
  constructor(core: ServerCore, options: HttpOptions, boundHost?: string) {
    checkMirroredHeaders(core);
    const { allowedHosts, allowedOrigins, path, keepAlive = 15_000 } = options;
    this.#options = options;
    this.#guard = makeGuard({ allowedHosts, allowedOrigins, boundHost });
    this.#path = path === undefined ? undefined : withoutSlash(path.startsWith("/") ? path : `/${path}`);
    this.#context = {
      core,
      open: new OpenExchanges(core.clock, keepAlive),
      resourceMetadata: options.resourceMetadata,
    };
  }

  /** Sessions that are open. */
  get sessions(): number {
    return this.#legacy?.sessions ?? 0;
  }

  /** Requests that are being answered, and open streams. */
  get inFlight(): number {
    return this.#context.open.size;
  }

  /** Answers one HTTP request. */
  handle(exchange: Exchange): void {
    void this.#serve(exchange);
  }

  /**
   * Ends streams with their graceful result, refuses new requests, and waits for what is in flight, within the limit
   * of the options; then ends the sessions.
   */
  async close(): Promise<void> {
    const { core, open } = this.#context;
    const { closeTimeout = 10_000 } = this.#options;
    this.#closing = true;
    open.endStreams();
    let timer: unknown;
    const limit = new Promise<void>((resolve) => {
      timer = core.clock.setTimeout(resolve, closeTimeout);
    });
    await Promise.race([open.drained(), limit]);
    core.clock.clearTimeout(timer);
    this.#legacy?.end(new LocalError("closed", "The server is shutting down."));
    open.stop();
  }

  async #serve(exchange: Exchange): Promise<void> {
    try {
      this.#guard(exchange);
      if (this.#options.cors && (await this.#answerCors(exchange))) return;
      this.#admit(exchange);
      const { authenticate } = this.#options;
      const principal = authenticate ? await authenticate(exchange) : undefined;
      if (principal instanceof HttpRefusal) throw principal;
      if (exchange.method === "POST") await this.#post(exchange, principal);
      else await this.#answerOther(exchange, principal);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  async #answerOther(exchange: Exchange, principal: Principal | undefined): Promise<void> {
    const { method } = exchange;
    if (method === "GET") await (await this.#useLegacy()).get(exchange, principal);
    else if (method === "DELETE") (await this.#useLegacy()).delete(exchange, principal);
    else throw notAllowed(method, this.#options.sessions === false ? "POST" : "GET, POST, DELETE");
  }

  async #useLegacy(): Promise<LegacyEndpoint> {
    if (this.#legacy) return this.#legacy;
    this.#loadingLegacy ??= import("./legacy-endpoint.ts").then(({ openLegacyEndpoint }) =>
      openLegacyEndpoint(this.#context, this.#options),
    );
    this.#legacy = await this.#loadingLegacy;
    return this.#legacy;
  }

  /** Lets a page of another origin in, where the options do. Returns true where that answers the request. */
  async #answerCors(exchange: Exchange): Promise<boolean> {
    const { cors } = this.#options;
    this.#cors ??= (await import("./cors.ts")).makeCors(cors === true || !cors ? {} : cors);
    const origin = exchange.header("origin");
    if (origin !== undefined) this.#cors.decorate(exchange, origin);
    return exchange.method === "OPTIONS" && this.#cors.preflight(exchange);
  }

  /** Checks what can be checked before anything is read or asked. */
  #admit(exchange: Exchange): void {
    if (this.#path !== undefined && exchange.path !== this.#path && withoutSlash(exchange.path) !== this.#path) {
      throw new HttpRefusal(404, `There is nothing here. MCP is served at ${this.#path || "/"}.`);
    }
    if (!this.#closing) return;
    const headers = { "retry-after": "1", connection: "close" };
    throw new HttpRefusal(503, "The server is shutting down.", { headers });
  }

  async #post(exchange: Exchange, principal: Principal | undefined): Promise<void> {
    const accepted = readAccept(exchange.header("accept"));
    requireJson(exchange);
    const { parsedBody } = exchange;
    const { maxBody = defaultMaxBody } = this.#options;
    const value =
      parsedBody === undefined ? parse(await exchange.readText(maxBody)) : withinLimit(exchange, parsedBody, maxBody);
    const posted = { exchange, principal, accepted };
    if (Array.isArray(value)) return (await this.#useLegacy()).postBatch(posted, value);
    const classified = classify(value);
    if (classified.kind === "invalid") {
      throw new HttpRefusal(400, `Invalid message: ${classified.reason}.`, { id: classified.id });
    }
    if (isModern(classified, exchange)) return postModern(this.#context, posted, classified);
    return (await this.#useLegacy()).post(posted, classified);
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (error instanceof HttpRefusal) return refuse(exchange, error);
    // Nobody reads what is answered to a client that went away; but a runtime may wait for it.
    if (error instanceof LocalError && error.code === "closed")
      return refuse(exchange, new HttpRefusal(400, error.message));
    this.#context.core.report(error, undefined);
    refuse(exchange, new HttpRefusal(500, "Internal error", { code: ErrorCode.InternalError }));
  }
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
