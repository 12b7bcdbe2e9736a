import { sendGuarded } from "#guarded-send";
import { linkWithin } from "../../rpc/abort.ts";
import { unreachable } from "../../http/client/connection-error.ts";
import { type HttpAuthRequest, nameOf, readServerUrl } from "../../http/client/settings.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { memoryCredentials } from "./credentials.ts";
import { readChallenge, splitScope } from "./discovery/discovery.ts";
import { dpopKeys } from "./dpop.ts";
import type { Grant } from "./grant.ts";
import type { SignedInAccount, AuthorizationOptions, OAuth } from "./options.ts";
import { ServerAuthorization, unite } from "./server-authorization.ts";
import { type TokenRecord, unending } from "./tokens.ts";

export { authorizationCode } from "./authorization-code.ts";
export { clientCredentialsGrant, enterpriseManagedGrant, workloadIdentityGrant } from "./machine-flows.ts";

/** The number of servers whose state is kept in memory. */
const maxServers = 1_000;
/** Milliseconds for the response to the first request of a sign-in. */
const FIRST_REQUEST_MS = 15_000;

/** What the errors for the URL of a server suggest. */
const cure = { forScheme: "Pass the http or https URL of the MCP server.", forUser: "Remove them." };

/**
 * Returns the authorization of requests by a grant. It stores, renews and replaces the tokens as servers require.
 *
 * `name` separates the tokens of different grants in the same storage.
 */
export function openFlow(options: AuthorizationOptions, name: string, grant: Grant): OAuth {
  const { storage = memoryCredentials(), clock = systemClock } = options;
  const report = (step: string): void => reportStep(step, options);
  const sharedCore = { options, name, grant, storage, clock, dpopKeyOf: dpopKeys(options.storage), report };
  const servers = new Map<string, ServerAuthorization>();

  function authorizationOf(server: URL): ServerAuthorization {
    const openAuthorization = servers.get(server.href);
    if (openAuthorization) return openAuthorization;
    const authorization = new ServerAuthorization({ ...sharedCore, server, connection: undefined });
    servers.set(server.href, authorization);
    const [oldest] = servers.keys();
    if (servers.size > maxServers && oldest !== undefined) servers.delete(oldest);
    return authorization;
  }

  /** Returns the authorization of a request. Its connection settings apply to the authorization requests. */
  function requestAuthorization({ server, connection }: HttpAuthRequest): ServerAuthorization {
    const authorization = authorizationOf(server);
    authorization.useConnection(connection);
    return authorization;
  }

  return {
    headers: (request) => requestAuthorization(request).headers(request),
    responded: (request, response) => requestAuthorization(request).readResponse(request, response),
    challenged: (refusal, signal) => requestAuthorization(refusal.request).answerChallenge(refusal, signal),

    async signIn(url, { scope, newClient = false, signal = new AbortController().signal } = {}) {
      const server = readServerUrl(url, cure);
      const authorization = authorizationOf(server);
      const token = await authorization.inTurn(signal, async () => {
        const { status, headers } = await sendFirst(options, clock, { server, signal });
        report(`GET ${nameOf(server)}: ${status}`);
        const challenge = await readChallenge(headers);
        const discovery = await authorization.discover(challenge, status, signal);
        const scopes = authorization.scopesFor(discovery, challenge.scopes);
        const all = scope === undefined ? scopes : unite(scopes, splitScope(scope));
        const registration = newClient ? "new" : "checked";
        return authorization.obtain(discovery, { scopes: all, registration, signal });
      });
      return toAccount(server, token);
    },

    async signOut(url) {
      const authorization = authorizationOf(readServerUrl(url, cure));
      const token = await authorization.load();
      if (!token) return "not_signed_in";
      return authorization.inTurn(unending, () => authorization.signOut(token));
    },

    async whoami(url) {
      const server = readServerUrl(url, cure);
      const token = await authorizationOf(server).load();
      return token && toAccount(server, token);
    },
  };
}

/** Calls the option `onStep`. A listener cannot fail a sign-in. */
function reportStep(step: string, { onStep }: AuthorizationOptions): void {
  try {
    onStep?.(step);
  } catch {
    // The sign-in continues.
  }
}

/** Sends a request without a token. The challenge in the response may name the metadata of the server. */
async function sendFirst(
  { fetch, connection }: AuthorizationOptions,
  clock: Clock,
  { server, signal: callerSignal }: { server: URL; signal: AbortSignal },
): Promise<Pick<Response, "status" | "headers">> {
  const message = `${server.host} did not respond within ${FIRST_REQUEST_MS} ms.`;
  const { signal, unlink } = linkWithin({ clock, ms: FIRST_REQUEST_MS, message }, callerSignal);
  const request = { method: "GET", headers: { accept: "application/json, text/event-stream" }, signal };
  try {
    const response = fetch
      ? await fetch(server, { ...request, redirect: "manual" })
      : // The user chose the URL, so it may be private.
        await sendGuarded(server, { ...request, allowPrivate: true, connection });
    await response.body?.cancel();
    return response;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof LocalError ? error : unreachable(server, error);
  } finally {
    unlink();
  }
}

function toAccount(server: URL, token: TokenRecord): SignedInAccount {
  const { resource, issuer, clientId, subject, grantedScopes, expiresAt, refreshToken, tokenType } = token;
  return {
    server: server.href,
    resource,
    issuer,
    clientId,
    subject,
    scopes: grantedScopes,
    expiresAt,
    isRenewable: refreshToken !== undefined,
    isBound: tokenType === "dpop",
  };
}
