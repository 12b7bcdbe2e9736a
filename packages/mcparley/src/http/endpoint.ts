import { ErrorCode, LocalError } from "../jsonrpc/errors.ts";
import { classify } from "../jsonrpc/messages.ts";
import type { Principal } from "../server/context.ts";
import type { ServerCore } from "../server/core.ts";
import { readAccept, requireJson } from "./accept.ts";
import { type Cors, makeCors } from "./cors.ts";
import type { EndpointContext } from "./endpoint-context.ts";
import type { Exchange } from "./exchange.ts";
import { type Guard, makeGuard } from "./guards.ts";
import { OpenExchanges } from "./open-exchanges.ts";
import type { HttpOptions } from "./options.ts";
import { postBatch } from "./post-batch.ts";
import { postLegacy } from "./post-legacy.ts";
import { isModern, postModern } from "./post-modern.ts";
import { HttpRefusal, refuse, tooLarge } from "./refusal.ts";
import { deleteSession, getStream, notAllowed } from "./session-methods.ts";
import { Sessions } from "./sessions.ts";

const defaultMaxBody = 4 * 1024 * 1024;

/** A server at one URL, for every revision: requests by themselves, and sessions, at the same time. */
export class Endpoint {
  readonly #context: EndpointContext;
  readonly #options: HttpOptions;
  readonly #guard: Guard;
  readonly #cors: Cors | undefined;
  readonly #path: string | undefined;
  #closing = false;

  /** `boundHost` is what the server listens on, where that is known. */
  constructor(core: ServerCore, options: HttpOptions, boundHost?: string) {
    const { allowedHosts, allowedOrigins, cors, path, keepAlive = 15_000, sessions = true } = options;
    this.#options = options;
    this.#guard = makeGuard({ allowedHosts, allowedOrigins, boundHost });
    this.#cors = cors ? makeCors(cors === true ? {} : cors) : undefined;
    this.#path = path === undefined ? undefined : withoutSlash(path);
    this.#context = {
      core,
      open: new OpenExchanges(core.clock, keepAlive),
      sessions: sessions ? new Sessions(core.clock, sessions === true ? {} : sessions) : undefined,
      resourceMetadata: options.resourceMetadata,
    };
  }

  /** Sessions that are open. */
  get sessions(): number {
    return this.#context.sessions?.size ?? 0;
  }

  /** Requests that are being answered, and open streams. */
  get inFlight(): number {
    return this.#context.open.size;
  }

  /** Answers one HTTP request. */
  handle(exchange: Exchange): void {
    this.#serve(exchange).catch((error: unknown) => this.#fail(exchange, error));
  }

  /**
   * Ends streams with their graceful result, refuses new requests, and waits for what is in flight, within the limit
   * of the options; then ends the sessions.
   */
  async close(): Promise<void> {
    const { core, open, sessions } = this.#context;
    const { closeTimeout = 10_000 } = this.#options;
    this.#closing = true;
    core.closeStreams();
    sessions?.endStreams();
    let timer: unknown;
    const limit = new Promise<void>((resolve) => {
      timer = core.clock.setTimeout(resolve, closeTimeout);
    });
    await Promise.race([open.drained(), limit]);
    core.clock.clearTimeout(timer);
    sessions?.clear(new LocalError("closed", "The server is shutting down."));
    open.stop();
  }

  async #serve(exchange: Exchange): Promise<void> {
    if (this.#admit(exchange)) return;
    const { authenticate } = this.#options;
    const principal = authenticate ? await authenticate(exchange) : undefined;
    if (principal instanceof HttpRefusal) throw principal;
    switch (exchange.method) {
      case "POST":
        return this.#post(exchange, principal);
      case "GET":
        return getStream(this.#context, exchange, principal);
      case "DELETE":
        return deleteSession(this.#context, exchange, principal);
      default:
        throw notAllowed(exchange.method, this.#context.sessions ? "GET, POST, DELETE" : "POST");
    }
  }

  /** Checks what can be checked before anything is read or asked. Returns true where the request is answered already. */
  #admit(exchange: Exchange): boolean {
    this.#guard(exchange);
    if (this.#cors) {
      const origin = exchange.header("origin");
      if (origin !== undefined) this.#cors.decorate(exchange, origin);
      if (exchange.method === "OPTIONS" && this.#cors.preflight(exchange)) return true;
    }
    if (this.#path !== undefined && exchange.path !== this.#path && withoutSlash(exchange.path) !== this.#path) {
      throw new HttpRefusal(404, `There is nothing here. MCP is served at ${this.#path || "/"}.`);
    }
    if (!this.#closing) return false;
    const headers = { "retry-after": "1", connection: "close" };
    throw new HttpRefusal(503, "The server is shutting down.", { headers });
  }

  async #post(exchange: Exchange, principal: Principal | undefined): Promise<void> {
    const accepted = readAccept(exchange.header("accept"));
    const value = await this.#readBody(exchange);
    const posted = { exchange, principal, accepted };
    if (Array.isArray(value)) return postBatch(this.#context, posted, value);
    const classified = classify(value);
    if (classified.kind === "invalid") {
      throw new HttpRefusal(400, `Invalid message: ${classified.reason}.`, { id: classified.id });
    }
    if (isModern(classified, exchange)) return postModern(this.#context, posted, classified);
    return postLegacy(this.#context, posted, classified);
  }

  async #readBody(exchange: Exchange): Promise<unknown> {
    const { maxBody = defaultMaxBody } = this.#options;
    const isParsed = exchange.parsedBody !== undefined;
    requireJson(exchange.header("content-type"), isParsed ? undefined : exchange.header("content-encoding"));
    if (isParsed) {
      checkParsed(exchange, maxBody);
      return exchange.parsedBody;
    }
    const text = await exchange.readText(maxBody);
    try {
      return JSON.parse(text);
    } catch {
      throw new HttpRefusal(400, "Parse error: the body is not JSON.", { code: ErrorCode.ParseError });
    }
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (error instanceof HttpRefusal) return refuse(exchange, error);
    if (exchange.closed) return;
    this.#context.core.report(error, undefined);
    refuse(exchange, new HttpRefusal(500, "Internal error", { code: ErrorCode.InternalError }));
  }
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/**
 * Holds a body that a framework has parsed to the limit as well: its length as it was sent, or where that is not known
 * (it was compressed, or came in chunks) the length of its JSON.
 */
function checkParsed(exchange: Exchange, limit: number): void {
  const sent = exchange.header("content-length");
  const isPlain = sent !== undefined && exchange.header("content-encoding") === undefined;
  const length = isPlain ? Number(sent) : new TextEncoder().encode(JSON.stringify(exchange.parsedBody)).length;
  if (length > limit) throw tooLarge(limit);
}
