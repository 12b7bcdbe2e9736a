import { link } from "../../rpc/abort.ts";
import { unreachable } from "../../http/client/connection-error.ts";
import { type HttpAuthRefusal, type HttpAuthRequest, nameOf } from "../../http/client/settings.ts";
import { systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { memoryCredentials } from "./credentials.ts";
import { type Discovered, readChallenge, splitScope } from "./discovery.ts";
import { dpopKeys } from "./dpop.ts";
import type { AuthorizationCore, Grant } from "./grant.ts";
import type { SignedInAccount, AuthorizationOptions, OAuth } from "./oauth.ts";
import { ServerAuthorization, unite } from "./server-authorization.ts";
import type { TokenRecord } from "./tokens.ts";

export { authorizationCode } from "./authorization-code.ts";
export { clientCredentialsGrant, enterpriseManagedGrant, workloadIdentityGrant } from "./machine-flows.ts";

/** The number of servers whose state is kept in memory. */
const maxServers = 1_000;
/** Milliseconds for the response to the first request of a sign-in. */
const ASK_MS = 15_000;

/** Authorizes requests by a grant. Stores, renews and replaces the tokens as servers require. */
export class Flow implements OAuth {
  readonly #core: AuthorizationCore;
  readonly #servers = new Map<string, ServerAuthorization>();

  /** `name` separates the tokens of different grants in the same storage. */
  constructor(options: AuthorizationOptions, name: string, grant: Grant) {
    const { storage = memoryCredentials(), clock = systemClock } = options;
    this.#core = { options, name, grant, storage, clock, dpop: dpopKeys(options.storage) };
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

  async signIn(url: string | URL, options: { scope?: string; signal?: AbortSignal } = {}): Promise<SignedInAccount> {
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

  async whoami(url: string | URL): Promise<SignedInAccount | undefined> {
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

  /** Sends a request without a token. The challenge in the response may name the metadata of the server. */
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

/** If a server published no metadata, the most likely reason for a failure is that it needs no authorization. */
function namesNone({ server, issuer }: Discovered, cause: unknown): unknown {
  if (!(cause instanceof LocalError && cause.code === "authorization_failed")) return cause;
  const message =
    `${nameOf(server)} names no authorization server, and there is none that can be used at ${JSON.stringify(issuer)}, ` +
    "where servers that name none have theirs. Perhaps there is nothing to sign in to.";
  return new LocalError("authorization_failed", message, { cause, data: cause.data });
}

function toAccount(server: URL, token: TokenRecord): SignedInAccount {
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
