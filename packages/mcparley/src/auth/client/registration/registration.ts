import { calculatePKCECodeChallenge, generateRandomCodeVerifier } from "oauth4webapi";
import { isLoopback } from "../../../net/loopback.ts";
import { LocalError } from "../../../rpc/errors.ts";
import {
  ClientRegistrations,
  type Registration,
  deleteRegistrations,
  fetchRegistration,
  readRegistration,
} from "./client-registrations.ts";
import { StoredValue } from "../credentials.ts";
import type { Discovery } from "../discovery/discovery.ts";
import { type OAuthClient, pushAuthorization, registerClient, requestTokens } from "../endpoints.ts";
import { type GrantContext, type TokenAssignment, requireEndpoint } from "../grant.ts";
import { authenticate } from "./oauth-client.ts";
import { isClientRefusal, refusalCode, withSentence } from "../oauth-error.ts";
import type { RegisteredClient, RegistrationOptions } from "../options.ts";

/** The context of a sign-in, with the options that name its clients. */
export interface ClientContext extends GrantContext {
  readonly options: RegistrationOptions;
}

/** Access to what is stored for the clients at an authorization server. */
type StorageContext = Pick<GrantContext, "storage"> & Pick<TokenAssignment, "discovery">;

/** Returns the issuers of the clients that were registered manually. */
export function manualIssuers(options: RegistrationOptions): readonly string[] {
  return manualClients(options).flatMap(({ issuer }) => issuer ?? []);
}

/** Returns the redirect URI that is already registered, to use it again. */
export async function registeredRedirectUri(context: ClientContext): Promise<string | undefined> {
  return context.options.redirectUri ?? (await usableRegistrations(context)).at(-1)?.redirectUris[0];
}

function registrationsAt({ storage, discovery }: StorageContext): ClientRegistrations {
  return new ClientRegistrations(storage, discovery.issuer);
}

/** Whether an authorization server has refused `offline_access` to a client. A sign-out and a new registration forget it. */
export function offlineRefusal({ storage, discovery }: StorageContext, clientId: string): StoredValue<true> {
  return new StoredValue(storage, `offline-refused:${JSON.stringify([discovery.issuer, clientId])}`);
}

/** Returns the stored registrations whose secrets have not expired, oldest first. */
async function usableRegistrations(context: GrantContext): Promise<readonly Registration[]> {
  const now = context.clock.now();
  const registrations = await registrationsAt(context).read();
  return registrations.filter(({ secretExpiresAt }) => secretExpiresAt === 0 || secretExpiresAt > now);
}

/**
 * Returns the client for a sign-in, in this order (2026-07-28, client registration): one that was registered manually, the
 * metadata document, an earlier registration that may use this redirect URI, or a new registration.
 *
 * Throws `LocalError` `authorization_failed` if none of these is possible.
 */
export async function findClient(context: ClientContext, redirectUri: string): Promise<OAuthClient> {
  const { discovery, clock, options } = context;
  const manual = await manualClient(context);
  if (manual) return authenticate(manual, context);
  const { clientMetadataUrl } = options;
  if (clientMetadataUrl !== undefined && discovery.metadata.client_id_metadata_document_supported === true) {
    return authenticate({ id: clientMetadataUrl, method: "none" }, context);
  }
  const registrations = registrationsAt(context);
  return registrations.exclusively(async () => {
    const earlier = context.registration === "new" ? undefined : await earlierClient(context, redirectUri);
    if (earlier && (await registrations.startSignIn(earlier.id, discovery.server.href, clock.now()))) return earlier;
    const registration = await register(context, redirectUri);
    const client = await authenticate(registration, context);
    const surplus = await registrations.add(registration, discovery.server.href, clock.now());
    await deleteUnused(surplus, context);
    return client;
  });
}

/** Records that a sign-in has failed, so that it uses its client no longer. */
export async function releaseClient(context: GrantContext): Promise<void> {
  await registrationsAt(context).endSignIn(context.discovery.server.href);
}

/** Returns the client of the last registration that may use this redirect URI. */
async function earlierClient(context: ClientContext, redirectUri: string): Promise<OAuthClient | undefined> {
  const registrations = await usableRegistrations(context);
  const findFor = (uri: string): Registration | undefined =>
    registrations.findLast(({ redirectUris }) => redirectUris.includes(uri));
  const exact = findFor(redirectUri);
  if (exact) return context.registration === "checked" ? checkedClient(context, exact) : authenticate(exact, context);
  const flexible = findFor(withoutPort(redirectUri));
  const client = flexible && (await authenticate(flexible, context));
  return client && (await acceptsRedirectUri(client, context, redirectUri)) ? client : undefined;
}

/**
 * Returns the client of a registration, or undefined if its server has lost the registration, which is forgotten then. A server
 * shows an error to the user of an unknown client and does not redirect, so the program would wait in vain.
 *
 * The endpoint of the registration shows it (RFC 7592), or else the response to an invalid refresh token. The authorization
 * endpoint is not requested: a request can start a sign-in, and servers answer programs with pages of any status.
 *
 * Throws the refusal of a server that also refused the previous registration.
 */
async function checkedClient(context: ClientContext, registration: Registration): Promise<OAuthClient | undefined> {
  const { discovery, fetch, report, clock, signal } = context;
  const response = await fetchRegistration(fetch, registration, signal);
  if (response) {
    const present = readRegistration(response, registration, { issuer: discovery.issuer, now: clock.now() });
    if (JSON.stringify(present) !== JSON.stringify(registration)) await registrationsAt(context).change(present);
    return authenticate(present, context);
  }
  const client = await authenticate(registration, context);
  const refusal = await clientRefusal(client, context);
  // The other code may mean only that the client may not use refresh tokens.
  if (!refusal || (refusalCode(refusal) !== "invalid_client" && response !== false)) return client;
  report(refusal.message);
  if (await forgetClient(context, registration.id)) return undefined;
  throw refusedClient(refusal, registration.id, context.options);
}

/**
 * Returns the error with which the token endpoint refuses a client, or undefined if it knows the client. It requests the renewal of an
 * invalid token, because every other answer than the refusal of the client shows that the client is known.
 */
export async function clientRefusal(client: OAuthClient, context: GrantContext): Promise<LocalError | undefined> {
  // The refusal of the token is expected, so it is no step of the sign-in.
  const silent = { ...context, report: () => {} };
  const parameters = { refresh_token: crypto.randomUUID() };
  try {
    await requestTokens(silent, client, { grantType: "refresh_token", parameters, what: "to accept the client" });
  } catch (error) {
    context.signal.throwIfAborted();
    if (isClientRefusal(error)) return error;
  }
  return undefined;
}

/** Returns a redirect URI on this machine without its port, which a server may ignore (RFC 8252, 7.3). */
function withoutPort(redirectUri: string): string {
  const url = new URL(redirectUri);
  if (url.protocol === "http:" && isLoopback(url.hostname)) url.port = "";
  return url.href;
}

/** Whether a server accepts a redirect URI of a client. Only a pushed request shows it before a page opens. */
async function acceptsRedirectUri(client: OAuthClient, context: GrantContext, redirectUri: string): Promise<boolean> {
  const parameters = {
    response_type: "code",
    redirect_uri: redirectUri,
    code_challenge: await calculatePKCECodeChallenge(generateRandomCodeVerifier()),
    code_challenge_method: "S256",
  };
  try {
    await pushAuthorization(context, client, parameters);
    return true;
  } catch {
    context.signal.throwIfAborted();
    return false;
  }
}

/** Returns the client to which tokens were issued. Undefined if this client has another identity now. */
export async function clientOfTokens(context: ClientContext, clientId: string): Promise<OAuthClient | undefined> {
  const manual = await manualClient(context);
  if (manual?.id === clientId) return authenticate(manual, context);
  if (clientId === context.options.clientMetadataUrl) return authenticate({ id: clientId, method: "none" }, context);
  const registration = (await registrationsAt(context).read()).find(({ id }) => id === clientId);
  return registration && authenticate(registration, context);
}

/**
 * Deletes a registration that its server refuses, so that another one replaces it. Returns whether one may replace it. Clients
 * that were not registered dynamically are not deleted.
 */
export async function forgetClient(context: ClientContext, clientId: string): Promise<boolean> {
  const { options, clock } = context;
  if (clientId === options.clientMetadataUrl || manualClients(options).some(({ id }) => id === clientId)) return false;
  await offlineRefusal(context, clientId).set(undefined);
  return registrationsAt(context).forget(clientId, clock.now());
}

/** Records the client of the tokens of a server, and deletes registrations without tokens, also at their authorization server. */
export async function assignTokens(assignment: TokenAssignment): Promise<void> {
  const { discovery, clock, clientId, isSignedOut } = assignment;
  const registrations = registrationsAt(assignment);
  const unusedClients = await registrations.assign(
    discovery.server.href,
    isSignedOut ? undefined : clientId,
    clock.now(),
  );
  if (isSignedOut) await offlineRefusal(assignment, clientId).set(undefined);
  await deleteUnused(unusedClients, assignment);
}

/** Deletes what is stored for registrations that are no longer stored, and the registrations at their authorization server. */
async function deleteUnused(
  unusedClients: readonly Registration[],
  context: StorageContext & Pick<GrantContext, "fetch">,
): Promise<void> {
  for (const { id } of unusedClients) await offlineRefusal(context, id).set(undefined);
  await deleteRegistrations(context.fetch, unusedClients);
}

/** Returns the error for a client that is not replaced by another registration, with the cure. */
export function refusedClient(refusal: LocalError, clientId: string, options: RegistrationOptions): LocalError {
  const isManual = manualClients(options).some(({ id }) => id === clientId);
  const cure = isManual
    ? "Check the id, the secret and the method of the option `client`."
    : clientId === options.clientMetadataUrl
      ? "Check the document at the URL of the option `clientMetadataUrl`."
      : "Its previous registration was refused too, so no third one is made. Register a client manually, and set the option `client`.";
  return withSentence(refusal, cure);
}

function manualClients({ client = [] }: RegistrationOptions): readonly RegisteredClient[] {
  return "id" in client ? [client] : client;
}

/**
 * Returns the manually registered client for an issuer. A client without an issuer is bound to the first issuer that its MCP
 * server names. Throws `LocalError` `authorization_failed` if all clients belong to other issuers.
 */
async function manualClient({ options, storage, discovery }: ClientContext): Promise<RegisteredClient | undefined> {
  const clients = manualClients(options);
  const exact = clients.find(({ issuer }) => issuer === discovery.issuer);
  if (exact || clients.length === 0) return exact;
  const open = clients.find(({ issuer }) => issuer === undefined);
  if (!open) throw otherIssuer(manualIssuers(options), discovery);
  const storedIssuer = new StoredValue<string>(
    storage,
    `given-client:${JSON.stringify([open.id, discovery.server.origin])}`,
  );
  const issuer = await storedIssuer.read();
  if (issuer === undefined) await storedIssuer.replace(discovery.issuer);
  else if (issuer !== discovery.issuer) throw otherIssuer([issuer], discovery);
  return open;
}

async function register(context: ClientContext, redirectUri: string): Promise<Registration> {
  const { discovery, clock, options } = context;
  const { clientName = "mcparley", clientUri } = options;
  if (discovery.metadata.registration_endpoint === undefined) throw noRegistration(discovery, options);
  requireEndpoint(context, "registration_endpoint");
  const { protocol, hostname } = new URL(redirectUri);
  // A client whose redirect URI is on this machine is native (OpenID Connect registration, 2).
  const isWeb = protocol === "https:" && !isLoopback(hostname);
  const { token_endpoint_auth_methods_supported: supportedMethods, pushed_authorization_request_endpoint: push } =
    discovery.metadata;
  // "none" comes first, because a program on a user's machine cannot keep a secret. Servers differ in the encoding of the
  // values of "client_secret_basic", and the Python SDK revokes no token of its clients.
  const methods = ["none", "client_secret_post", "client_secret_basic"];
  const registerFor = async (redirectUris: readonly string[]): Promise<Registration> => {
    const response = await registerClient(context, {
      client_name: clientName.toWellFormed(),
      ...(clientUri !== undefined && { client_uri: clientUri }),
      redirect_uris: [...redirectUris],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: methods.find((method) => supportedMethods?.includes(method)) ?? "none",
      application_type: isWeb ? "web" : "native",
    });
    const newClient = { id: response.client_id, redirectUris, servers: [], signIns: [] };
    return readRegistration(response, newClient, { issuer: discovery.issuer, now: clock.now() });
  };
  const flexible = withoutPort(redirectUri);
  if (push === undefined || flexible === redirectUri) return registerFor([redirectUri]);
  return registerFor([redirectUri, flexible]).catch((error: unknown) => {
    // The two codes of RFC 7591, 3.2.2, for metadata that the server does not accept.
    if (!/^invalid_(?:redirect_uri|client_metadata)$/.test(refusalCode(error) ?? "")) throw error;
    return registerFor([redirectUri]);
  });
}

function otherIssuer(issuers: readonly string[], { server, issuer }: Discovery): LocalError {
  const issuerList = issuers.map((one) => JSON.stringify(one)).join(", ");
  const message =
    `${server.origin} accepts tokens from ${JSON.stringify(issuer)}, but the option client is registered with ${issuerList}. ` +
    "Its credentials are not sent to another issuer. If the change is intended, add a client for the new issuer.";
  return new LocalError("authorization_failed", message, { data: { issuer } });
}

function noRegistration({ issuer, metadata }: Discovery, { clientMetadataUrl }: RegistrationOptions): LocalError {
  const document =
    metadata.client_id_metadata_document_supported === true && clientMetadataUrl === undefined
      ? " Or set clientMetadataUrl to the URL of a document that describes the client."
      : "";
  const message =
    `The authorization server ${JSON.stringify(issuer)} does not support dynamic registration. ` +
    `Register a client manually and set client: { id, issuer: ${JSON.stringify(issuer)} }.${document}`;
  return new LocalError("authorization_failed", message, { data: { issuer, request: "registration" } });
}
