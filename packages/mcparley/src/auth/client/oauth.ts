import { LocalError } from "../../rpc/errors.ts";
import { serverKey } from "./credentials.ts";
import type * as FlowModule from "./flow.ts";
import type { Grant } from "./grant.ts";
import type { AuthorizationOptions, OAuth, OAuthOptions } from "./options.ts";

/**
 * Authorizes a client by signing the user in when a server asks for it: `connect(url, { auth: oauth() })`.
 *
 * It discovers the authorization server, registers the client, and stores, renews and replaces tokens as the revisions
 * since 2025-03-26 specify. Concurrent calls share one sign-in, and their timeouts pause during it. Calls reject with
 * `LocalError`: `sign_in_required` if no sign-in is possible here, `sign_in_failed` if the user did not complete it, and
 * `authorization_failed` if the authorization server cannot be found or used.
 *
 * Throws `LocalError` `invalid_target` if `clientMetadataUrl` is not usable as a client identifier.
 *
 * @example
 * ```ts
 * import { oauth } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 * import { fileCredentials } from "mcparley/node";
 *
 * const auth = oauth({ clientName: "My assistant", storage: fileCredentials("./credentials") });
 * const client = await connect("https://example.com/mcp", { auth });
 * ```
 */
export function oauth(options: OAuthOptions = {}): OAuth {
  const { clientMetadataUrl: text } = options;
  if (text !== undefined) {
    // 2026-07-28, client registration, "Client ID Metadata Documents".
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = url?.hash === "" && url.username === "" && url.password === "";
    if (!isPlain || url.protocol !== "https:" || url.pathname === "/") {
      const message = `clientMetadataUrl must be an https URL with a path, such as https://example.com/client.json; got ${JSON.stringify(text.slice(0, 200))}.`;
      throw new LocalError("invalid_target", message);
    }
  }
  return authorize(options, { name: "person", makeGrant: (flow) => flow.authorizationCode(options) });
}

/** A grant whose code is loaded on first use. */
interface LazyGrant {
  /** Separates the tokens of different grants, and of different clients of one grant, in the same storage. */
  readonly name: string;
  /** The identifier of the MCP extension that defines the grant. */
  readonly extension?: string;
  readonly makeGrant: (flow: typeof FlowModule) => Grant;
}

/** Servers for which the absence of tokens is remembered. */
const maxServers = 1_000;

/** Makes the authorization for a grant. Checks of options belong into the caller, so that they throw at once. */
export function authorize(options: AuthorizationOptions, { name, extension, makeGrant }: LazyGrant): OAuth {
  const { storage } = options;
  const withoutTokens = new Set<string>();
  let flow: OAuth | undefined;

  // A bundle of a client loads oauth4webapi, jose and everything that uses them here and nowhere else. They are larger than the rest
  // of the client, and many programs pass `auth` for servers that never ask for it.
  async function load(): Promise<OAuth> {
    if (flow) return flow;
    const module = await import("./flow.ts");
    return (flow ??= module.openFlow(options, name, makeGrant(module)));
  }

  /** Reads the storage once per server. Tokens that another process stores later are found after a refusal. */
  async function hasTokens({ href }: URL): Promise<boolean> {
    if (storage === undefined || withoutTokens.has(href)) return false;
    if ((await storage.get(serverKey(name, href))) !== undefined) return true;
    if (withoutTokens.size >= maxServers) withoutTokens.clear();
    withoutTokens.add(href);
    return false;
  }

  return {
    extension,
    headers: async (request) => (flow || (await hasTokens(request.server)) ? (await load()).headers(request) : {}),
    responded: (request, response) => flow?.responded?.(request, response) ?? false,
    challenged: async (refusal, signal) => (await load()).challenged(refusal, signal),
    signIn: async (url, signInOptions) => (await load()).signIn(url, signInOptions),
    signOut: async (url) => (await load()).signOut(url),
    whoami: async (url) => (await load()).whoami(url),
  };
}
