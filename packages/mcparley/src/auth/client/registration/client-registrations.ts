import type { ClientCredential } from "../../client-credential.ts";
import { type CredentialStorage, StoredValue } from "../credentials.ts";
import type { GuardedFetch } from "../guarded-fetch.ts";

/** A client as an authorization server knows it, by a registration or by hand. */
export interface ClientIdentity extends Omit<ClientCredential, "method"> {
  /** `token_endpoint_auth_method`. Default: chosen from the methods that the server supports. */
  readonly method?: string | undefined;
}

/** A client that this program registered with an authorization server (RFC 7591). */
export interface Registration extends ClientIdentity {
  readonly redirectUris: readonly string[];
  /** Milliseconds since 1970, or 0 if the secret does not expire. */
  readonly secretExpiresAt: number;
  /** The client configuration endpoint and its access token (RFC 7592). Undefined if the server has none. */
  readonly configuration?: { readonly url: string; readonly token: string } | undefined;
  /** The URLs of the MCP servers with tokens of this client. */
  readonly servers: readonly string[];
  /** The sign-ins that use this client now, also those of other processes. */
  readonly signIns: readonly RunningSignIn[];
}

/** A sign-in for an MCP server. It counts as running until it has ended, or until `expiresAt`, in milliseconds since 1970. */
interface RunningSignIn {
  readonly server: string;
  readonly expiresAt: number;
}

/** The stored registrations at one authorization server, oldest first. */
interface StoredRegistrations {
  readonly clients: readonly Registration[];
  /** The time at which a registration was replaced. Undefined after tokens were issued to the replacement. */
  readonly replacedAt?: number | undefined;
}

/** Milliseconds without a second replacement of a registration to which no tokens were issued. */
const REPLACEMENT_MS = 600_000;
/** Milliseconds for which a sign-in keeps its registration, if its process ends without a result. */
const SIGN_IN_MS = 3_600_000;
/** Registrations without tokens, such as those of sign-ins that were not completed. */
const MAX_UNUSED = 10;

/**
 * The registrations at one authorization server. Each sign-in whose redirect URI no registration has adds one.
 *
 * A registration stays until no tokens refer to it: the user has signed out of its last server, or has signed in there with
 * another client. It also ends if the authorization server does not accept it. A registration that a sign-in uses stays.
 */
export class ClientRegistrations {
  readonly #registrations: StoredValue<StoredRegistrations>;

  constructor(storage: CredentialStorage, issuer: string) {
    this.#registrations = new StoredValue(storage, `clients:${issuer}`);
  }

  /** Returns the registrations, oldest first. */
  async read(): Promise<readonly Registration[]> {
    return (await this.#registrations.read())?.clients ?? [];
  }

  /** Adds a registration, which the sign-in for a server uses. Deletes and returns the oldest unused ones if there are too many. */
  add(registration: Registration, server: string, now: number): Promise<readonly Registration[]> {
    return this.#update(({ clients, replacedAt }) => {
      const surplus = clients.filter((client) => isUnused(client, now)).slice(0, 1 - MAX_UNUSED);
      const otherClients = clients.filter((client) => !surplus.includes(client));
      return [{ clients: [...otherClients, withSignIn(registration, server, now)], replacedAt }, surplus];
    });
  }

  /** Changes a registration after its server has changed it, unless another process has deleted it. */
  change(registration: Registration): Promise<void> {
    return this.#update(({ clients, replacedAt }) => {
      const changedClients = clients.map((client) => {
        const { id, servers, signIns } = client;
        return id === registration.id ? { ...registration, servers, signIns } : client;
      });
      return [{ clients: changedClients, replacedAt }, undefined];
    });
  }

  /** Records that a sign-in uses a registration. Returns false if another process has deleted it. */
  startSignIn(clientId: string, server: string, now: number): Promise<boolean> {
    return this.#update(({ clients, replacedAt }) => {
      const changedClients = clients.map((client) =>
        client.id === clientId ? withSignIn(client, server, now) : withoutSignIn(client, server),
      );
      return [{ clients: changedClients, replacedAt }, clients.some(({ id }) => id === clientId)];
    });
  }

  /** Records that the sign-in for a server has failed. `assign` records a success. */
  endSignIn(server: string): Promise<void> {
    return this.#update(({ clients, replacedAt }) => [
      { clients: clients.map((client) => withoutSignIn(client, server)), replacedAt },
      undefined,
    ]);
  }

  /**
   * Deletes a registration that its server does not accept. Returns whether another one may replace it.
   *
   * A replacement to which no tokens were issued stays: a third registration would be refused for the same reason.
   */
  forget(clientId: string, now: number): Promise<boolean> {
    return this.#update((registrations) => {
      const clients = registrations.clients.filter(({ id }) => id !== clientId);
      // If another process has deleted it, its replacement has not failed here.
      if (clients.length === registrations.clients.length) return [registrations, true];
      const isRepeated = registrations.replacedAt !== undefined && now - registrations.replacedAt < REPLACEMENT_MS;
      return isRepeated ? [registrations, false] : [{ clients, replacedAt: now }, true];
    });
  }

  /**
   * Records that the tokens of a server were issued to this client, or with undefined that the server has no tokens. Deletes
   * and returns the registrations whose last tokens these were.
   */
  assign(server: string, clientId: string | undefined, now: number): Promise<readonly Registration[]> {
    return this.#update(({ clients }) => {
      const assignedClients = clients.map((client) => {
        const servers = client.servers.filter((one) => one !== server);
        if (client.id === clientId) servers.push(server);
        return { ...withoutSignIn(client, server), servers };
      });
      const unusedClients = assignedClients.filter(
        (client, i) => isUnused(client, now) && clients[i]?.servers.length !== 0,
      );
      return [{ clients: assignedClients.filter((client) => !unusedClients.includes(client)) }, unusedClients];
    });
  }

  exclusively<R>(work: () => Promise<R>): Promise<R> {
    return this.#registrations.exclusively(work);
  }

  #update<R>(change: (registrations: StoredRegistrations) => readonly [StoredRegistrations, R]): Promise<R> {
    return this.#registrations.update((present = { clients: [] }) => {
      const [registrations, result] = change(present);
      const isEmpty = registrations.clients.length === 0 && registrations.replacedAt === undefined;
      return [isEmpty ? undefined : registrations, result];
    });
  }
}

/** Whether a client has no tokens, and no sign-in uses it. */
function isUnused({ servers, signIns }: Registration, now: number): boolean {
  return servers.length === 0 && !signIns.some(({ expiresAt }) => expiresAt > now);
}

function withSignIn(client: Registration, server: string, now: number): Registration {
  const { signIns } = withoutSignIn(client, server);
  return { ...client, signIns: [...signIns, { server, expiresAt: now + SIGN_IN_MS }] };
}

function withoutSignIn(client: Registration, server: string): Registration {
  return { ...client, signIns: client.signIns.filter((signIn) => signIn.server !== server) };
}

/** The members of a response to a registration that are stored. The server chooses their types. */
type RegistrationResponse = Readonly<Record<string, unknown>>;

/** Reads the response to a registration (RFC 7591, 3.2.1; RFC 7592, 3). Members that it omits stay as they are in `before`. */
export function readRegistration(
  response: RegistrationResponse,
  previousRegistration: Omit<Registration, "secretExpiresAt"> & Partial<Registration>,
  { issuer, now }: { issuer: string; now: number },
): Registration {
  const read = (name: string): string | undefined => {
    const value = response[name];
    return typeof value === "string" ? value : undefined;
  };
  const { client_secret_expires_at: expires } = response;
  const { secretExpiresAt = 0, configuration } = previousRegistration;
  const url = read("registration_client_uri") ?? configuration?.url;
  const token = read("registration_access_token") ?? configuration?.token;
  // The token is sent only to the issuer.
  const isOfIssuer = url !== undefined && URL.canParse(url) && new URL(url).origin === new URL(issuer).origin;
  return {
    ...previousRegistration,
    secret: read("client_secret") ?? previousRegistration.secret,
    method: read("token_endpoint_auth_method") ?? previousRegistration.method,
    secretExpiresAt: typeof expires === "number" && expires > 0 ? Math.max(expires * 1_000, now) : secretExpiresAt,
    configuration: isOfIssuer && token !== undefined ? { url, token } : undefined,
  };
}

/**
 * Reads a registration at its authorization server (RFC 7592, 2.1). Returns the response, false if the server refuses the
 * access token, as it does for a client that it has deleted, and undefined if it cannot be read.
 */
export async function fetchRegistration(
  fetch: GuardedFetch,
  { id, configuration }: Registration,
  signal: AbortSignal,
): Promise<RegistrationResponse | false | undefined> {
  if (!configuration) return undefined;
  try {
    const response = await fetch(configuration.url, { ...requestHeaders(configuration), signal });
    if (response.status === 401) return false;
    const body = (await response.json()) as RegistrationResponse | null;
    // Some servers answer every path with status 200.
    return response.ok && body?.client_id === id ? body : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Deletes registrations at their authorization server (RFC 7592, 2.3). Failures are only in the steps that `fetch` reports. */
export async function deleteRegistrations(fetch: GuardedFetch, registrations: readonly Registration[]): Promise<void> {
  const requests = registrations.map(async ({ configuration }) => {
    if (configuration) await fetch(configuration.url, { method: "DELETE", ...requestHeaders(configuration) });
  });
  await Promise.allSettled(requests);
}

function requestHeaders({ token }: NonNullable<Registration["configuration"]>): { headers: Record<string, string> } {
  return { headers: { accept: "application/json", authorization: `Bearer ${token}` } };
}
