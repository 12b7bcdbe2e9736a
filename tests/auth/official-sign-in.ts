import {
  DpopSession,
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
  type OAuthClientProvider as ModernProvider,
} from "@modelcontextprotocol/client";
import type { OAuthClientMetadata } from "@modelcontextprotocol/sdk/shared/auth.js";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type Browser, browserOf } from "./browser.ts";

/** An official client that somebody signs in with whenever its server asks for that. */
export interface SignedIn {
  readonly browser: Browser;
  readonly scopes: () => string[];
  /** The text of a tool's result. */
  call(name: string): Promise<string>;
  listTools(): Promise<string[]>;
  close(): Promise<void>;
}

const redirectUrl = "http://127.0.0.1:9/callback";

/** The OAuth provider that both versions of the official client require, in memory. */
class Provider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata: OAuthClientMetadata;
  callback: URL | undefined;
  readonly #browser: Browser;
  readonly #kept = new Map<string, unknown>();

  constructor(browser: Browser, grantTypes: string[]) {
    this.#browser = browser;
    this.clientMetadata = {
      client_name: "official",
      redirect_uris: [redirectUrl],
      grant_types: grantTypes,
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  clientInformation = (): any => this.#kept.get("client");
  saveClientInformation = (value: unknown): void => void this.#kept.set("client", value);
  tokens = (): any => this.#kept.get("tokens");
  saveTokens = (value: unknown): void => void this.#kept.set("tokens", value);
  codeVerifier = (): string => this.#kept.get("verifier") as string;
  saveCodeVerifier = (value: string): void => void this.#kept.set("verifier", value);
  discoveryState = (): any => this.#kept.get("discovery");
  saveDiscoveryState = (value: unknown): void => void this.#kept.set("discovery", value);

  redirectToAuthorization = async (url: URL): Promise<void> => {
    this.callback = await this.#browser.signIn(url);
  };
}

/** Completes the sign-in with the redirect URL, on the transports of both versions. */
interface Transport {
  finishAuth(code: string, iss?: string): Promise<void>;
}

/** Does something, and once more for each time that the person had to sign in for it. */
async function signingIn<T>(provider: Provider, transport: () => Transport, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { callback } = provider;
      if (!callback || attempt === 3) throw error;
      provider.callback = undefined;
      const { searchParams } = callback;
      await transport().finishAuth(searchParams.get("code") ?? "", searchParams.get("iss") ?? undefined);
    }
  }
}

const info = { name: "official", version: "1.0.0" };

/**
 * Signs in with `@modelcontextprotocol/sdk` (v1). The client has no refresh token here. With a refresh token it would refresh when more scopes are required, which adds no scopes.
 */
export async function signInFirst(url: string, user: string): Promise<SignedIn> {
  const browser = browserOf({ user });
  const provider = new Provider(browser, ["authorization_code"]);
  let client: FirstClient;
  let transport: FirstHttp;
  const connect = async (): Promise<void> => {
    client = new FirstClient(info);
    transport = new FirstHttp(new URL(url), { authProvider: provider });
    await client.connect(transport);
  };
  const during = <T>(work: () => Promise<T>): Promise<T> => signingIn(provider, () => transport, work);
  await during(connect);
  return signedIn(browser, provider, {
    call: (name) => during(() => client.callTool({ name, arguments: {} })),
    listTools: () => client.listTools(),
    close: () => client.close(),
  });
}

/** Signs in with `@modelcontextprotocol/client` (v2) and a legacy or modern revision. With `dpop` its tokens are bound to a key. */
export async function signInSecond(
  url: string,
  user: string,
  revisionKind: "legacy" | "modern",
  { dpop = false } = {},
): Promise<SignedIn> {
  const browser = browserOf({ user });
  const provider = new Provider(browser, ["authorization_code", "refresh_token"]);
  const session = dpop ? await DpopSession.create() : undefined;
  const authProvider = Object.assign(provider, session && { dpop: () => session }) as unknown as ModernProvider;
  let client: ModernClient;
  let transport: ModernHttp;
  const versionNegotiation = { mode: revisionKind === "modern" ? { pin: "2026-07-28" } : "legacy" } as const;
  const connect = async (): Promise<void> => {
    client = new ModernClient(info, { versionNegotiation });
    transport = new ModernHttp(new URL(url), { authProvider });
    await client.connect(transport);
  };
  const during = <T>(work: () => Promise<T>): Promise<T> => signingIn(provider, () => transport, work);
  await during(connect);
  return signedIn(browser, provider, {
    call: (name) => during(() => client.callTool({ name, arguments: {} })),
    listTools: () => client.listTools(),
    close: () => client.close(),
  });
}

interface Acting {
  call(name: string): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
}

function signedIn(browser: Browser, provider: Provider, acting: Acting): SignedIn {
  return {
    browser,
    scopes: () => (provider.tokens() as { scope: string }).scope.split(" "),
    async call(name) {
      const { content } = (await acting.call(name)) as { content: { text: string }[] };
      return content[0]?.text ?? "";
    },
    listTools: async () => (await acting.listTools()).tools.map(({ name }) => name),
    close: () => acting.close(),
  };
}
