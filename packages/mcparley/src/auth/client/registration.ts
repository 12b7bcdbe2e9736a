import type { AuthorizationServer } from "oauth4webapi";
import { isLoopback } from "../../net/loopback.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { ClientCredential } from "../client-credential.ts";
import { type CredentialStorage, StoredValue } from "./credentials.ts";
import type { Discovered } from "./discovery.ts";
import { type KnownClient, refreshToken, registerClient } from "./endpoints.ts";
import type { GrantContext } from "./grant.ts";
import { authenticateClient } from "./known-client.ts";
import { isClientRefusal, refusalCode } from "./oauth-error.ts";
import type { RegisteredClient, RegistrationOptions } from "./options.ts";

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

/** Milliseconds without a second replacement of a registration to which no tokens were issued. */
const REPLACEMENT_MS = 600_000;

const registeredAt = (storage: CredentialStorage, issuer: string): StoredValue<Registered> =>
  new StoredValue(storage, `client:${issuer}`);

/** The time at which a registration was replaced. Deleted when tokens are issued to its replacement. */
const replacedAt = ({ storage, at }: GrantContext): StoredValue<number> =>
  new StoredValue(storage, `replaced-client:${at.issuer}`);

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
  if (manual) return authenticate(manual, context);
  const { clientMetadataUrl } = options;
  if (clientMetadataUrl !== undefined && at.metadata.client_id_metadata_document_supported === true) {
    return authenticate({ id: clientMetadataUrl, method: "none" }, context);
  }
  const stored = registeredAt(context.storage, at.issuer);
  return stored.exclusively(async () => {
    const before = await stored.read();
    const isValid = before && (before.secretExpiresAt === 0 || before.secretExpiresAt > clock.now());
    if (isValid && before.redirectUris.includes(redirectUri)) {
      const known = await authenticate(before, context);
      if (!context.checksRegistration || !(await isLost(known, options, context))) return known;
    }
    const registered = await register(options, context, redirectUri);
    await stored.set(registered);
    return authenticate(registered, context);
  });
}

/**
 * Returns whether a server has lost a registration, and forgets it then. A server shows an error to the user of an unknown
 * client and does not redirect, so the client would wait in vain. The response to an invalid refresh token shows the same.
 *
 * Throws the refusal of a server that also refused the previous registration.
 */
async function isLost(known: KnownClient, options: RegistrationOptions, context: GrantContext): Promise<boolean> {
  const { endpoints, signal } = context;
  // The refusal of the token is expected, so it is no step of the sign-in.
  const silent = { ...endpoints, report: () => {} };
  try {
    await refreshToken(silent, known, { token: crypto.randomUUID(), what: "to accept the client" });
    return false;
  } catch (error) {
    signal.throwIfAborted();
    if (!isClientRefusal(error) || refusalCode(error) !== "invalid_client") return false;
    endpoints.report(error.message);
    const { client_id: id } = known.client;
    if (await forgetClient(context, id)) return true;
    throw refusedClient(error, id, options);
  }
}

/** Returns the client to which tokens were issued. Undefined if this client has another identity now. */
export async function knownClient(
  options: RegistrationOptions,
  context: GrantContext,
  clientId: string,
): Promise<KnownClient | undefined> {
  const { at, storage } = context;
  const manual = await manualClient(options, context);
  if (manual?.id === clientId) return authenticate(manual, context);
  if (clientId === options.clientMetadataUrl) return authenticate({ id: clientId, method: "none" }, context);
  const registered = await registeredAt(storage, at.issuer).read();
  return registered?.id === clientId ? authenticate(registered, context) : undefined;
}

/**
 * Deletes a registration that its server refuses, so that another one replaces it. Returns whether it did.
 *
 * Clients that were not registered dynamically are not deleted. Neither is a replacement to which no tokens were issued:
 * a third registration would be refused for the same reason.
 */
export async function forgetClient(context: GrantContext, clientId: string): Promise<boolean> {
  const { storage, at, clock } = context;
  const stored = registeredAt(storage, at.issuer);
  if ((await stored.read())?.id !== clientId) return false;
  const givenUp = replacedAt(context);
  const time = await givenUp.read();
  if (time !== undefined && clock.now() - time < REPLACEMENT_MS) return false;
  if (!(await stored.replace(undefined))) return false;
  await givenUp.set(clock.now());
  return true;
}

/** Returns the error for a client that is not replaced by another registration, with the cure. */
export function refusedClient(
  { code, message, data }: LocalError,
  clientId: string,
  options: RegistrationOptions,
): LocalError {
  const isManual = manualClients(options).some(({ id }) => id === clientId);
  const cure = isManual
    ? "Check the id, the secret and the method of the option `client`."
    : clientId === options.clientMetadataUrl
      ? "Check the document at the URL of the option `clientMetadataUrl`."
      : "Its previous registration was refused too, so no third one is made. Register a client manually, and set the option `client`.";
  return new LocalError(code, `${message} ${cure}`, { data });
}

/** Records that tokens were issued to the present registration, so that it can be replaced when its server refuses it. */
export async function confirmClient(context: GrantContext): Promise<void> {
  const givenUp = replacedAt(context);
  if ((await givenUp.read()) !== undefined) await givenUp.set(undefined);
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
  // "none" comes first, because a program on a user's machine cannot keep a secret. Servers differ in the encoding of the
  // values of "client_secret_basic", and the Python SDK revokes no token of its clients.
  const known = ["none", "client_secret_post", "client_secret_basic"];
  const registered = await registerClient(endpoints, {
    client_name: clientName.toWellFormed(),
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
async function authenticate(
  { method, ...credential }: Identity,
  { at: { metadata }, endpoints, storage }: GrantContext,
): Promise<KnownClient> {
  const { id, secret } = credential;
  const authenticateAs = (usable: ClientCredential): Promise<KnownClient> =>
    authenticateClient(usable, { metadata, storage });
  endpoints.report(`Client ${JSON.stringify(id)}${method === undefined ? "" : `, ${method}`}`);
  switch (method) {
    case "none":
      return authenticateAs({ id });
    case undefined: {
      // Some servers issue a secret although they accept only "none".
      const { token_endpoint_auth_methods_supported: methods } = metadata;
      const isPublic = Array.isArray(methods) && methods.length > 0 && methods.every((name) => name === "none");
      return authenticateAs(isPublic ? { id } : credential);
    }
    case "client_secret_basic":
    case "client_secret_post":
      if (secret !== undefined) return authenticateAs({ id, secret, method });
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
  return new LocalError("authorization_failed", message, { data: { issuer, request: "registration" } });
}
