import { isLoopback } from "../../net/loopback.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { ClientCredential } from "../client-authentication.ts";
import { type ClientCredentials, authenticate, methodToRegister } from "./client-authentication.ts";
import type { CredentialStorage } from "./credential-storage.ts";
import type { Discovered } from "./discovery.ts";
import type { KnownClient } from "./endpoints.ts";
import type { GrantContext } from "./grant.ts";
import { Kept } from "./credentials.ts";

/** A client that was registered with an authorization server by hand; a public one has neither secret nor key. */
export interface GivenClient extends ClientCredential {
  /**
   * The authorization server that knows the client. Without it, the first one that an MCP server names is taken to be
   * the one, and any other is refused from then on.
   */
  issuer?: string;
}

export interface RegistrationOptions {
  /** How the client is called where a person consents. "mcparley" unless given. */
  clientName?: string;
  clientUri?: string;
  /** The https URL of a Client ID Metadata Document, by which every server that understands them knows the client. */
  clientMetadataUrl?: string;
  /** Where a person comes back to, for a client that is registered with it already. `signIn` chooses unless given. */
  redirectUri?: string;
  /** Registered by hand, with one authorization server each. */
  client?: GivenClient | readonly GivenClient[];
}

/** What is kept of a registration. */
interface Registered extends ClientCredentials {
  readonly redirectUris: readonly string[];
  /** Milliseconds since the epoch; 0 for never. */
  readonly secretExpiresAt: number;
}

const registeredAt = (storage: CredentialStorage, issuer: string): Kept<Registered> =>
  new Kept(storage, `client:${issuer}`);

/** The clients that this side is to different authorization servers, each kept by its issuer. */
export class Registrations {
  readonly #options: RegistrationOptions;
  readonly #given: readonly GivenClient[];

  /** Throws `LocalError` `invalid_target` for a URL that cannot be a client's identifier. */
  constructor(options: RegistrationOptions) {
    const { client = [], clientMetadataUrl } = options;
    this.#options = options;
    this.#given = "id" in client ? [client] : client;
    if (clientMetadataUrl !== undefined) checkMetadataUrl(clientMetadataUrl);
  }

  /** The issuers that clients were given for. */
  get issuers(): readonly string[] {
    return this.#given.flatMap(({ issuer }) => issuer ?? []);
  }

  /** The redirect URI that is registered already, to be used again. */
  async redirectUri({ storage, at }: GrantContext): Promise<string | undefined> {
    return this.#options.redirectUri ?? (await registeredAt(storage, at.issuer).read())?.redirectUris[0];
  }

  /**
   * The client to sign a person in with, by the priority of the specification (2026-07-28, client registration): one that
   * was given, the document, one that registered itself before with this redirect URI, or registers itself now.
   *
   * Throws `LocalError` `authorization_failed` where none of these is possible.
   */
  async find(context: GrantContext, redirectUri: string): Promise<KnownClient> {
    const { at } = context;
    const given = await this.#givenFor(context);
    if (given) return authenticate(given, at.metadata);
    const { clientMetadataUrl } = this.#options;
    if (clientMetadataUrl !== undefined && at.metadata.client_id_metadata_document_supported === true) {
      return authenticate({ id: clientMetadataUrl, method: "none" }, at.metadata);
    }
    const kept = registeredAt(context.storage, at.issuer);
    return kept.exclusively(async () => {
      const before = await kept.read();
      if (before && isUsable(before, redirectUri, context)) return authenticate(before, at.metadata);
      const registered = await this.#register(context, redirectUri);
      await kept.set(registered);
      return authenticate(registered, at.metadata);
    });
  }

  /** The client that tokens were given to; undefined where it is not this one any more. */
  async known(context: GrantContext, clientId: string): Promise<KnownClient | undefined> {
    const { at, storage } = context;
    const given = await this.#givenFor(context);
    if (given?.id === clientId) return authenticate(given, at.metadata);
    if (clientId === this.#options.clientMetadataUrl) {
      return authenticate({ id: clientId, method: "none" }, at.metadata);
    }
    const registered = await registeredAt(storage, at.issuer).read();
    return registered?.id === clientId ? authenticate(registered, at.metadata) : undefined;
  }

  /** Forgets a registration that its server does not know any more; says whether it was one. */
  async forget({ storage, at }: GrantContext, clientId: string): Promise<boolean> {
    const kept = registeredAt(storage, at.issuer);
    return (await kept.read())?.id === clientId && kept.replace(undefined);
  }

  async #givenFor({ storage, at }: GrantContext): Promise<GivenClient | undefined> {
    const exact = this.#given.find(({ issuer }) => issuer === at.issuer);
    if (exact) return exact;
    const open = this.#given.find(({ issuer }) => issuer === undefined);
    if (!open) {
      if (this.#given.length === 0) return undefined;
      throw ofAnother(
        this.#given.map(({ issuer }) => issuer),
        at,
      );
    }
    const bound = new Kept<string>(storage, `given-client:${JSON.stringify([open.id, at.server.origin])}`);
    const issuer = await bound.read();
    if (issuer === undefined) await bound.replace(at.issuer);
    else if (issuer !== at.issuer) throw ofAnother([issuer], at);
    return open;
  }

  async #register({ endpoints, at, clock }: GrantContext, redirectUri: string): Promise<Registered> {
    const { clientName = "mcparley", clientUri } = this.#options;
    if (at.metadata.registration_endpoint === undefined) throw unregistrable(at, this.#options);
    const answer = await endpoints.register({
      client_name: clientName,
      ...(clientUri !== undefined && { client_uri: clientUri }),
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: methodToRegister(at.metadata),
      application_type: applicationType(redirectUri),
    });
    const { client_id: id, client_secret: secret, client_secret_expires_at: expires } = answer;
    const method = answer.token_endpoint_auth_method;
    return {
      id,
      secret: secret as string | undefined,
      method: typeof method === "string" ? method : undefined,
      redirectUris: [redirectUri],
      secretExpiresAt: typeof expires === "number" && expires > 0 ? Math.max(expires * 1_000, clock.now()) : 0,
    };
  }
}

function isUsable(
  { redirectUris, secretExpiresAt }: Registered,
  redirectUri: string,
  { clock }: GrantContext,
): boolean {
  return redirectUris.includes(redirectUri) && (secretExpiresAt === 0 || secretExpiresAt > clock.now());
}

/** What a browser comes back to on this machine is native (OpenID Connect registration, 2). */
function applicationType(redirectUri: string): "native" | "web" {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "https:" && !isLoopback(hostname) ? "web" : "native";
}

/** A document's URL has https and a path (2026-07-28, client registration, "Client ID Metadata Documents"). */
function checkMetadataUrl(given: string): void {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url?.protocol === "https:" && url.pathname !== "/" && url.hash === "" && url.username === "";
  if (isPlain && url.password === "") return;
  const message = `clientMetadataUrl: ${JSON.stringify(given.slice(0, 200))} must be an https URL with a path, such as https://example.com/client.json.`;
  throw new LocalError("invalid_target", message);
}

function ofAnother(issuers: readonly (string | undefined)[], { server, issuer }: Discovered): LocalError {
  const theirs = issuers.map((one) => JSON.stringify(one)).join(", ");
  const message =
    `${server.origin} now wants tokens of ${JSON.stringify(issuer)}, while the client that was given is one of ${theirs}. ` +
    "It is not shown to any other. If the change is meant to be, give a client for that issuer.";
  return new LocalError("authorization_failed", message, { data: { issuer } });
}

function unregistrable({ issuer, metadata }: Discovered, { clientMetadataUrl }: RegistrationOptions): LocalError {
  const document =
    metadata.client_id_metadata_document_supported === true && clientMetadataUrl === undefined
      ? " or give clientMetadataUrl, the address of a document that describes the client"
      : "";
  const message =
    `The authorization server ${JSON.stringify(issuer)} lets no client register itself. ` +
    `Register one there by hand and give it as client: { id, issuer: ${JSON.stringify(issuer)} }${document}.`;
  return new LocalError("authorization_failed", message, { data: { issuer } });
}
