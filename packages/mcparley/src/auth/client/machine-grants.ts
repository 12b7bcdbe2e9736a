import { LocalError } from "../../rpc/errors.ts";
import { type ClientCredential, type MakeClientAuth, checkClient, clientAuthentication } from "../client-authentication.ts";
import { Authorization, type OAuth } from "./flow.ts";
import type { AuthorizationOptions } from "./authorization-options.ts";
import type { KnownClient, TokenResponse } from "./endpoints.ts";
import type { Grant, GrantContext, Obtained } from "./grant.ts";

/** What all ways have in common by which a client is authorized without a person. */
export interface MachineOptions extends AuthorizationOptions {
  /**
   * The authorization server that the client is known at, exactly as it writes its issuer. An MCP server that wants tokens
   * of others gets none, so that no server can have the client's credentials sent to a place of its own.
   */
  issuer: string;
}

/** Authorizes by a grant that asks nobody. Throws `LocalError` `invalid_definition` without an issuer or a client. */
export function authorizeMachine(options: MachineOptions, grant: MachineGrantOptions): OAuth {
  const { issuer } = options;
  checkClient(grant.client);
  if (typeof issuer === "string" && URL.canParse(issuer)) return new Authorization(options, new MachineGrant(grant));
  const message = "issuer is required: the URL of the authorization server that the client is registered at.";
  throw new LocalError("invalid_definition", message);
}

interface MachineGrantOptions {
  /** The kind of grant, which keeps its tokens apart from those of others. */
  kind: string;
  client: ClientCredential;
  /** The extension of the protocol that it is. */
  extension?: string;
  /** Asks for tokens, with the scopes separated by spaces. */
  ask: (context: GrantContext, known: KnownClient, scope: { scope?: string }) => Promise<TokenResponse>;
}

/** A grant for a client that was registered by hand. */
class MachineGrant implements Grant {
  readonly name: string;
  readonly wantsRefreshTokens = false;
  readonly isUnattended = true;
  readonly extension: string | undefined;
  readonly #clientId: string;
  readonly #authentication: MakeClientAuth;
  readonly #ask: MachineGrantOptions["ask"];

  constructor({ kind, client, extension, ask }: MachineGrantOptions) {
    this.name = `${kind} ${client.id}`;
    this.extension = extension;
    this.#clientId = client.id;
    this.#authentication = clientAuthentication(client);
    this.#ask = ask;
  }

  async obtain(context: GrantContext, scopes: readonly string[] | undefined): Promise<Obtained> {
    const known = await this.client(context);
    const scope = scopes && scopes.length > 0 ? { scope: scopes.join(" ") } : {};
    return { response: await this.#ask(context, known, scope), clientId: this.#clientId };
  }

  async client({ at: { metadata } }: GrantContext): Promise<KnownClient> {
    return { client: { client_id: this.#clientId }, authentication: await this.#authentication(metadata) };
  }
}
