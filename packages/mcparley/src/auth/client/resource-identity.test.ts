import { describe, expect, test } from "vitest";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { type CredentialStorage, memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions, ResourceOffer } from "./options.ts";

const neighbourUrl = "https://mcp.example/neighbour/mcp";
const neighbourMetadata = "https://mcp.example/neighbour/metadata";

interface Host {
  readonly world: ScriptedIssuer;
  /** The identifier that the neighbour publishes. */
  published: string;
  /** The `Authorization` headers that the neighbour received. */
  readonly received: string[];
  readonly fetch: typeof fetch;
}

/** Serves `serverUrl` and, below the same origin, a second server that accepts every token. */
function host(published: string): Host {
  const world = scriptedIssuer();
  const received: string[] = [];
  const one: Host = {
    world,
    published,
    received,
    async fetch(input, init) {
      const { url: whole, headers } = new Request(input, init);
      const [url] = whole.split("?");
      const named = { resource: one.published, authorization_servers: ["https://as.example"] };
      if (url === neighbourMetadata) return Response.json(named);
      if (url !== neighbourUrl) return world.fetch(input, init);
      const shown = headers.get("authorization");
      if (shown !== null) received.push(shown);
      const challenge = { "www-authenticate": `Bearer resource_metadata="${neighbourMetadata}"` };
      return shown === null
        ? new Response(null, { status: 401, headers: challenge })
        : new Response(null, { status: 202 });
    },
  };
  return one;
}

function authFor({ world, fetch }: Host, options: OAuthOptions = {}): OAuth {
  return oauth({ signIn: world.person(), fetch, ...options });
}

async function call(url: string, auth: OAuth, { fetch }: Host): Promise<number> {
  const settings = readHttpTarget({ url, auth, fetch });
  const { signal } = new AbortController();
  return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
}

/** An option `acceptResource` that accepts the offers for these servers, and records all offers. */
function accepting(servers: readonly string[]) {
  const offers: ResourceOffer[] = [];
  const acceptResource = (offer: ResourceOffer): boolean => {
    offers.push(offer);
    return servers.includes(offer.server);
  };
  return { offers, acceptResource };
}

describe("a server whose identifier is shorter than its URL", () => {
  test.each([
    "https://mcp.example",
    "https://mcp.example/",
    "https://mcp.example/neighbour",
    "https://mcp.example/neighbour/",
  ])("receives no token for %s unless the client accepts that identifier", async (published) => {
    const one = host(published);
    const refused = call(neighbourUrl, authFor(one), one);
    await expect(refused).rejects.toMatchObject({ code: "authorization_failed", data: { resource: published } });
    await expect(refused).rejects.toThrow(/`acceptResource`/);
    expect(one.world.visits).toEqual([]);
    expect(one.received).toEqual([]);
  });

  test("receives a token after the client accepted the identifier for this server", async () => {
    const one = host("https://mcp.example");
    const { offers, acceptResource } = accepting([neighbourUrl]);
    expect(await call(neighbourUrl, authFor(one, { acceptResource }), one)).toBe(202);
    expect(offers).toEqual([{ server: neighbourUrl, resource: "https://mcp.example" }]);
    expect(one.world.tokenRequests[0]?.get("resource")).toBe("https://mcp.example");
  });

  test("receives a token only if an asynchronous function resolves to true", async () => {
    const one = host("https://mcp.example");
    const refusing = authFor(one, { acceptResource: () => Promise.resolve(false) });
    await expect(call(neighbourUrl, refusing, one)).rejects.toMatchObject({ code: "authorization_failed" });
    const truthy = authFor(one, { acceptResource: () => "yes" as unknown as boolean });
    await expect(call(neighbourUrl, truthy, one)).rejects.toMatchObject({ code: "authorization_failed" });
    expect(await call(neighbourUrl, authFor(one, { acceptResource: () => Promise.resolve(true) }), one)).toBe(202);
  });

  test("fails the call with the error that the function throws", async () => {
    const one = host("https://mcp.example");
    const thrown = new Error("the user closed the window");
    const auth = authFor(one, { acceptResource: () => Promise.reject(thrown) });
    await expect(call(neighbourUrl, auth, one)).rejects.toThrow(thrown);
  });

  test("is accepted once for all processes that use the storage, until the user signs out", async () => {
    const one = host("https://mcp.example");
    const storage = memoryCredentials();
    const { offers, acceptResource } = accepting([neighbourUrl]);
    const auth = authFor(one, { storage, acceptResource });
    await call(neighbourUrl, auth, one);
    await auth.signIn(neighbourUrl);
    await authFor(one, { storage }).signIn(neighbourUrl);
    expect(offers).toHaveLength(1);
    await auth.signOut(neighbourUrl);
    await expect(authFor(one, { storage }).signIn(neighbourUrl)).rejects.toMatchObject({
      code: "authorization_failed",
    });
  });

  test("needs a new decision for another identifier", async () => {
    const one = host("https://mcp.example/neighbour");
    const storage = memoryCredentials();
    await authFor(one, { storage, acceptResource: () => true }).signIn(neighbourUrl);
    one.published = "https://mcp.example";
    await expect(authFor(one, { storage }).signIn(neighbourUrl)).rejects.toMatchObject({
      code: "authorization_failed",
    });
  });
});

describe("a server with the same identifier as another one", () => {
  const acceptResource = (): boolean => true;

  async function signedIn(one: Host, storage?: CredentialStorage): Promise<OAuth> {
    one.world.resourceMetadata = { resource: "https://mcp.example", authorization_servers: ["https://as.example"] };
    const auth = authFor(one, { acceptResource, ...(storage && { storage }) });
    expect(await call(serverUrl, auth, one)).toBe(202);
    return auth;
  }

  test("does not receive the token of the other server, and requires a separate sign-in", async () => {
    const one = host("https://mcp.example");
    const auth = await signedIn(one);
    const [mine] = one.world.live.keys();
    expect(await call(neighbourUrl, auth, one)).toBe(202);
    expect(one.world.visits).toHaveLength(2);
    expect(one.received).not.toContain(`Bearer ${mine}`);
  });

  test("does not receive the token of the other server from another process with the same storage", async () => {
    const one = host("https://mcp.example");
    const storage = memoryCredentials();
    await signedIn(one, storage);
    const refusing: OAuthOptions["signIn"] = { prepare: () => Promise.reject(new Error("nobody is here")) };
    const later = authFor(one, { storage, acceptResource, signIn: refusing });
    await expect(call(neighbourUrl, later, one)).rejects.toThrow("nobody is here");
    expect(one.received).toEqual([]);
    expect(await later.whoami(neighbourUrl)).toBeUndefined();
  });

  test("keeps its token when the user signs out of the other server", async () => {
    const one = host("https://mcp.example");
    const auth = await signedIn(one);
    await call(neighbourUrl, auth, one);
    expect(await auth.signOut(neighbourUrl)).toBe("revoked");
    expect(await auth.whoami(serverUrl)).toMatchObject({ server: serverUrl });
    expect(await call(serverUrl, auth, one)).toBe(202);
    expect(one.world.visits).toHaveLength(2);
  });
});

describe("an identifier that is identical to the URL of the server", () => {
  test.each([
    [neighbourUrl, neighbourUrl],
    [neighbourUrl, `${neighbourUrl}/`],
    [neighbourUrl, "HTTPS://MCP.Example:443/neighbour/mcp"],
    [`${neighbourUrl}?project=a`, `${neighbourUrl}?project=a`],
    [`${neighbourUrl}?project=a`, neighbourUrl],
  ])("%s: %s is accepted as published", async (url, published) => {
    const one = host(published);
    expect(await call(url, authFor(one), one)).toBe(202);
    expect(one.world.tokenRequests[0]?.get("resource")).toBe(published);
  });

  test("does not have the query of another server", async () => {
    const one = host(`${neighbourUrl}?project=b`);
    await expect(call(`${neighbourUrl}?project=a`, authFor(one), one)).rejects.toThrow(
      `describes "${neighbourUrl}?project=b", not`,
    );
  });
});
