import { link } from "../../rpc/abort.ts";
import { unreachable } from "../../http/client/send.ts";
import { type HttpAuth, type HttpAuthRefusal, type HttpAuthRequest, nameOf } from "../../http/client/settings.ts";
import { systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { AuthorizationCore } from "./authorization-core.ts";
import type { AuthorizationOptions } from "./authorization-options.ts";
import { readChallenge, splitScope } from "./challenge.ts";
import type { Discovered } from "./discover.ts";
import { dpopKeys } from "./dpop.ts";
import type { Grant } from "./grant.ts";
import { memoryCredentials } from "./memory-credentials.ts";
import { unite } from "./scopes.ts";
import { ServerAuthorization } from "./server-authorization.ts";
import type { TokenRecord } from "./token-record.ts";

/** What a client holds for an MCP server; nothing in it is secret. */
export interface Account {
  /** The MCP server, and the identifier by which tokens are for it. */
  readonly server: string;
  readonly resource: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Who signed in, where the authorization server says so. Not verified: for showing only. */
  readonly subject: string | undefined;
  readonly scopes: readonly string[] | undefined;
  /** Milliseconds since the epoch; undefined where the server does not say. */
  readonly expiresAt: number | undefined;
  /** Whether tokens can be renewed without asking anybody. */
  readonly isRenewable: boolean;
}

/** The authorization of a client, for any number of servers: what `connect` takes as `auth`. */
export interface OAuth extends HttpAuth {
  /**
   * Gets tokens for a server now, rather than when it asks for them, and whatever there are already. `scope` is asked for
   * besides what the server wants. Rejects as a call would.
   */
  signIn(url: string | URL, options?: { scope?: string; signal?: AbortSignal }): Promise<Account>;
  /**
   * Forgets the tokens for a server, and revokes them where the authorization server can (RFC 7009). Says what became of
   * them; rejects where it could not be told, and they are forgotten nevertheless.
   */
  signOut(url: string | URL): Promise<"revoked" | "forgotten" | "not_signed_in">;
  /** What there is for a server, without asking anybody. */
  whoami(url: string | URL): Promise<Account | undefined>;
}

const maxServers = 1_000;
/** How long a server has to answer the request that a sign-in begins with. */
const ASK_MS = 15_000;

/** Authorizes requests by a grant, with tokens that are kept, renewed and replaced as servers ask for it. */
export class Authorization implements OAuth {
  readonly #core: AuthorizationCore;
  readonly #servers = new Map<string, ServerAuthorization>();

  constructor(options: AuthorizationOptions, grant: Grant) {
    const { storage = memoryCredentials(), clock = systemClock } = options;
    this.#core = { options, grant, storage, clock, dpop: dpopKeys(options.storage) };
  }

  get extension(): string | undefined {
    return this.#core.grant.extension;
  }

  headers(request: HttpAuthRequest): Promise<Readonly<Record<string, string>>> {
    return this.#for(request.server).headers(request);
  }

  responded(request: HttpAuthRequest, response: { status: number; headers: Headers }): boolean {
    return this.#for(request.server).responded(request, response);
  }

  challenged(refusal: HttpAuthRefusal, signal: AbortSignal): Promise<boolean> {
    return this.#for(refusal.request.server).challenged(refusal, signal);
  }

  async signIn(url: string | URL, options: { scope?: string; signal?: AbortSignal } = {}): Promise<Account> {
    const { scope, signal = new AbortController().signal } = options;
    const server = readServer(url);
    const authorization = this.#for(server);
    const token = await authorization.inTurn(signal, async () => {
      const challenge = await readChallenge(await this.#askFor(server, signal));
      const at = await authorization.discover(challenge.resourceMetadata, signal);
      const scopes = authorization.scopesFor(at, challenge.scopes);
      try {
        return await authorization.obtain(at, scope === undefined ? scopes : unite(scopes, splitScope(scope)), signal);
      } catch (error) {
        throw at.isAssumed ? namesNone(at, error) : error;
      }
    });
    return toAccount(server, token);
  }

  async signOut(url: string | URL): Promise<"revoked" | "forgotten" | "not_signed_in"> {
    const server = readServer(url);
    const authorization = this.#for(server);
    const token = await authorization.load();
    if (!token) return "not_signed_in";
    const { signal } = new AbortController();
    return authorization.inTurn(signal, async () =>
      (await authorization.signOut(token, signal)) ? "revoked" : "forgotten",
    );
  }

  async whoami(url: string | URL): Promise<Account | undefined> {
    const server = readServer(url);
    const token = await this.#for(server).load();
    return token && toAccount(server, token);
  }

  #for(server: URL): ServerAuthorization {
    const { href } = server;
    let authorization = this.#servers.get(href);
    if (!authorization) {
      authorization = new ServerAuthorization(this.#core, server);
      this.#servers.set(href, authorization);
      if (this.#servers.size > maxServers) this.#servers.delete(this.#servers.keys().next().value!);
    }
    return authorization;
  }

  /** What the server answers to a request without a token, which may say where its metadata is. */
  async #askFor(server: URL, given: AbortSignal): Promise<Headers> {
    const { clock, options } = this.#core;
    const ask = options.fetch ?? fetch;
    const linked = link(given);
    const { signal } = linked;
    const tooLate = new LocalError("timeout", `${server.host} did not answer within ${ASK_MS} ms.`);
    const timer = clock.setTimeout(() => linked.abort(tooLate), ASK_MS);
    try {
      const init = { headers: { accept: "application/json, text/event-stream" }, redirect: "manual", signal } as const;
      const { headers, body } = await ask(server, init);
      await body?.cancel();
      return headers;
    } catch (error) {
      throw signal.aborted ? signal.reason : unreachable(server, error);
    } finally {
      clock.clearTimeout(timer);
      linked.unlink();
    }
  }
}

function readServer(given: string | URL): URL {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new LocalError("invalid_target", "Give the http or https URL of an MCP server to sign in to.");
  }
  url.hash = "";
  return url;
}

/** Where nothing was published, what failed is most often that there is nothing to sign in to. */
function namesNone({ server, issuer }: Discovered, cause: unknown): unknown {
  if (!(cause instanceof LocalError && cause.code === "authorization_failed")) return cause;
  const message =
    `${nameOf(server)} names no authorization server, and there is none that can be used at ${JSON.stringify(issuer)}, ` +
    "where servers that name none have theirs. Perhaps there is nothing to sign in to.";
  return new LocalError("authorization_failed", message, { cause, data: cause.data });
}

function toAccount(server: URL, token: TokenRecord): Account {
  const { resource, issuer, clientId, subject, grantedScopes, expiresAt, refreshToken } = token;
  return {
    server: server.href,
    resource,
    issuer,
    clientId,
    subject,
    scopes: grantedScopes,
    expiresAt,
    isRenewable: refreshToken !== undefined,
  };
}
