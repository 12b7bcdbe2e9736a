import type { AuthorizationServer, Client } from "oauth4webapi";
import { isLoopback } from "../../net/loopback.ts";
import { LocalError } from "../../rpc/errors.ts";
import { clientAuthentication } from "../client-authentication.ts";
import type { ClientCredential } from "../client-credential.ts";
import { type CredentialStorage, StoredValue } from "./credentials.ts";
import type { Discovered } from "./discovery.ts";
import { type KnownClient, registerClient } from "./endpoints.ts";
import type { GrantContext } from "./grant.ts";
import type { RegisteredClient, RegistrationOptions } from "./oauth.ts";

/** A client as an authorization server knows it, by a registration or by hand. */
interface Identity extends Omit<ClientCredential, "method"> {
  /** `token_endpoint_auth_method`. Default: chosen from the methods that the server supports. */
  readonly method?: string | undefined;
}

/** A stored registration. */
interface Registered extends Identity {
  readonly redirectUris: readonly string[];
  /** Milliseconds since 1970, or 0 if the secret does not expire. */
  readonly secretExpiresAt: number;
}

const registeredAt = (storage: CredentialStorage, issuer: string): StoredValue<Registered> =>
  new StoredValue(storage, `client:${issuer}`);

/** Returns the issuers of the clients that were registered manually. */
export function manualIssuers(options: RegistrationOptions): readonly string[] {
  return manualClients(options).flatMap(({ issuer }) => issuer ?? []);
}

/** Returns the redirect URI that is already registered, to use it again. */
export async function registeredRedirectUri(
  { redirectUri }: RegistrationOptions,
  { storage, at }: GrantContext,
): Promise<string | undefined> {
  return redirectUri ?? (await registeredAt(storage, at.issuer).read())?.redirectUris[0];
}

/**
 * Returns the client for a sign-in, in this order (2026-07-28, client registration): one that was registered manually, the
 * metadata document, an earlier registration with this redirect URI, or a new registration.
 *
 * Throws `LocalError` `authorization_failed` if none of these is possible.
 */
export async function findClient(
  options: RegistrationOptions,
  context: GrantContext,
  redirectUri: string,
): Promise<KnownClient> {
  const { at, clock } = context;
  const manual = await manualClient(options, context);
  if (manual) return authenticate(manual, at.metadata);
  const { clientMetadataUrl } = options;
  if (clientMetadataUrl !== undefined && at.metadata.client_id_metadata_document_supported === true) {
    return authenticate({ id: clientMetadataUrl, method: "none" }, at.metadata);
  }
  const stored = registeredAt(context.storage, at.issuer);
  return stored.exclusively(async () => {
    const before = await stored.read();
    const isValid = before && (before.secretExpiresAt === 0 || before.secretExpiresAt > clock.now());
    if (isValid && before.redirectUris.includes(redirectUri)) return authenticate(before, at.metadata);
    const registered = await register(options, context, redirectUri);
    await stored.set(registered);
    return authenticate(registered, at.metadata);
  });
}

/** Returns the client to which tokens were issued. Undefined if this client has another identity now. */
export async function knownClient(
  options: RegistrationOptions,
  context: GrantContext,
  clientId: string,
): Promise<KnownClient | undefined> {
  const { at, storage } = context;
  const manual = await manualClient(options, context);
  if (manual?.id === clientId) return authenticate(manual, at.metadata);
  if (clientId === options.clientMetadataUrl) return authenticate({ id: clientId, method: "none" }, at.metadata);
  const registered = await registeredAt(storage, at.issuer).read();
  return registered?.id === clientId ? authenticate(registered, at.metadata) : undefined;
}

/** Deletes a registration that its server no longer knows. Returns whether the client had a dynamic registration. */
export async function forgetClient({ storage, at }: GrantContext, clientId: string): Promise<boolean> {
  const stored = registeredAt(storage, at.issuer);
  return (await stored.read())?.id === clientId && stored.replace(undefined);
}

function manualClients({ client = [] }: RegistrationOptions): readonly RegisteredClient[] {
  return "id" in client ? [client] : client;
}

/**
 * Returns the manually registered client for an issuer. A client without an issuer is bound to the first one that its MCP
 * server names. Throws `LocalError` `authorization_failed` if all clients belong to other issuers.
 */
async function manualClient(
  options: RegistrationOptions,
  { storage, at }: GrantContext,
): Promise<RegisteredClient | undefined> {
  const clients = manualClients(options);
  const exact = clients.find(({ issuer }) => issuer === at.issuer);
  if (exact) return exact;
  const open = clients.find(({ issuer }) => issuer === undefined);
  if (!open) {
    if (clients.length === 0) return undefined;
    throw otherIssuer(manualIssuers(options), at);
  }
  const bound = new StoredValue<string>(storage, `given-client:${JSON.stringify([open.id, at.server.origin])}`);
  const issuer = await bound.read();
  if (issuer === undefined) await bound.replace(at.issuer);
  else if (issuer !== at.issuer) throw otherIssuer([issuer], at);
  return open;
}

async function register(
  options: RegistrationOptions,
  { endpoints, at, clock }: GrantContext,
  redirectUri: string,
): Promise<Registered> {
  const { clientName = "mcparley", clientUri } = options;
  if (at.metadata.registration_endpoint === undefined) throw noRegistration(at, options);
  const { protocol, hostname } = new URL(redirectUri);
  // A client whose redirect URI is on this machine is native (OpenID Connect registration, 2).
  const isWeb = protocol === "https:" && !isLoopback(hostname);
  const { token_endpoint_auth_methods_supported: offered } = at.metadata;
  // "none" comes first, because a program on a user's machine cannot keep a secret.
  const known = ["none", "client_secret_basic", "client_secret_post"];
  const registered = await registerClient(endpoints, {
    client_name: clientName,
    ...(clientUri !== undefined && { client_uri: clientUri }),
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: known.find((method) => offered?.includes(method)) ?? "none",
    application_type: isWeb ? "web" : "native",
  });
  const { client_id: id, client_secret: secret, client_secret_expires_at: expires } = registered;
  const method = registered.token_endpoint_auth_method;
  return {
    id,
    secret: typeof secret === "string" ? secret : undefined,
    method: typeof method === "string" ? method : undefined,
    redirectUris: [redirectUri],
    secretExpiresAt: typeof expires === "number" && expires > 0 ? Math.max(expires * 1_000, clock.now()) : 0,
  };
}

/**
 * Prepares the authentication of a client, by the registered method or else one that the server supports (RFC 8414, 2).
 * Throws `LocalError` `authorization_failed` if the method is unknown here or needs a secret that the client lacks.
 */
async function authenticate({ method, ...credential }: Identity, metadata: AuthorizationServer): Promise<KnownClient> {
  const { id, secret } = credential;
  const client: Client = { client_id: id };
  switch (method) {
    case "none":
      return { client, authentication: await clientAuthentication({ id })(metadata) };
    case undefined: {
      // Some servers issue a secret although they accept only "none".
      const { token_endpoint_auth_methods_supported: methods } = metadata;
      const isPublic = Array.isArray(methods) && methods.length > 0 && methods.every((name) => name === "none");
      const usable = isPublic ? { id } : credential;
      return { client, authentication: await clientAuthentication(usable)(metadata) };
    }
    case "client_secret_basic":
    case "client_secret_post":
      if (secret !== undefined)
        return { client, authentication: await clientAuthentication({ id, secret, method })(metadata) };
      throw unusable(metadata, `the client ${JSON.stringify(id)} has no secret, and ${method} requires one`);
    default:
      throw unusable(
        metadata,
        `the client is registered with the unsupported method ${JSON.stringify(method.slice(0, 100))}`,
      );
  }
}

function unusable({ issuer }: AuthorizationServer, why: string): LocalError {
  const message = `The authorization server ${JSON.stringify(issuer)} cannot be used: ${why}.`;
  return new LocalError("authorization_failed", message);
}

function otherIssuer(issuers: readonly string[], { server, issuer }: Discovered): LocalError {
  const registered = issuers.map((one) => JSON.stringify(one)).join(", ");
  const message =
    `${server.origin} accepts tokens from ${JSON.stringify(issuer)}, but the option client is registered with ${registered}. ` +
    "Its credentials are not sent to another issuer. If the change is intended, add a client for the new issuer.";
  return new LocalError("authorization_failed", message, { data: { issuer } });
}

function noRegistration({ issuer, metadata }: Discovered, { clientMetadataUrl }: RegistrationOptions): LocalError {
  const document =
    metadata.client_id_metadata_document_supported === true && clientMetadataUrl === undefined
      ? " Or set clientMetadataUrl to the URL of a document that describes the client."
      : "";
  const message =
    `The authorization server ${JSON.stringify(issuer)} does not support dynamic registration. ` +
    `Register a client manually and set client: { id, issuer: ${JSON.stringify(issuer)} }.${document}`;
  return new LocalError("authorization_failed", message, { data: { issuer } });
}
