import { type OAuth, type OAuthOptions, jwtVerifier, memoryCredentials, oauth } from "mcparley/auth";
import { type Client, connect } from "mcparley/client";
import { fakeClock } from "mcparley/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readableCredentials } from "../support/readable-credentials.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type Browser, browserOf } from "./browser.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { signInWith } from "./sign-in-with.ts";

const documentUrl = "https://app.example/client.json";
const document = {
  client_id: documentUrl,
  client_name: "an app",
  redirect_uris: ["http://127.0.0.1:9/callback"],
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
};

let as: AuthorizationServer;
let server: ProtectedServer;

beforeAll(async () => {
  as = await startAuthorizationServer({ clientDocuments: new Map([[documentUrl, document]]) });
  server = await serveProtected({
    protect(resource) {
      as.resources.set(resource, { scope: "notes:read notes:write notes:sign" });
      const verifier = jwtVerifier({ issuer: as.issuer, audience: resource });
      return { resource, issuers: [as.issuer], verifier, scopes: ["notes:read"], dpop: {} };
    },
    http: { legacySse: true },
  });
});
afterAll(async () => {
  await server.close();
  await as.close();
});

interface SignedIn {
  auth: OAuth;
  browser: Browser;
}

function userOf(options: OAuthOptions = {}, user = "alice"): SignedIn {
  const browser = browserOf({ user });
  return { browser, auth: oauth({ signIn: signInWith(browser), ...options }) };
}

async function callOf(client: Client, name: string): Promise<string> {
  return String(await client.callTool(name));
}

describe.each([
  ["2026-07-28", {}],
  ["2025-11-25", {}],
  ["2025-06-18", {}],
  ["2025-03-26", {}],
])("a client of %s", (revision) => {
  test("signs in, steps up, and keeps one principal", async () => {
    const { auth, browser } = userOf();
    const client = await connect(server.url, { auth, revision });
    expect(JSON.parse(await callOf(client, "whoami"))).toMatchObject({ issuer: as.issuer, subject: "alice" });
    expect((await auth.whoami(server.url))?.scopes).toEqual(["notes:read"]);
    expect(browser.submitted).toEqual(["login", "consent"]);
    expect(await callOf(client, "write")).toBe("written");
    expect(browser.submitted).toEqual(["login", "consent", "consent"]);
    expect((await auth.whoami(server.url))?.scopes?.toSorted()).toEqual(["notes:read", "notes:sign", "notes:write"]);
    await client.close();
  });
});

test("a client reads a list again that it has cached before it got more scopes", async () => {
  const { auth } = userOf();
  const caching = await serveProtected({
    protect(resource) {
      as.resources.set(resource, { scope: "notes:read notes:write notes:sign" });
      const verifier = jwtVerifier({ issuer: as.issuer, audience: resource });
      return { resource, issuers: [as.issuer], verifier, scopes: ["notes:read"] };
    },
    definition: { listCache: { ttlMs: 60_000 } },
  });
  const client = await connect(caching.url, { auth });
  const names = async (): Promise<string[]> => (await client.listTools().all()).map(({ name }) => name);
  expect(await names()).toEqual(["whoami"]);
  expect(await callOf(client, "write")).toBe("written");
  expect(await names()).toEqual(["whoami", "write"]);
  await client.close();
  await caching.close();
});

test("a client of HTTP+SSE signs in before its stream is opened", async () => {
  const { auth, browser } = userOf();
  /** A server that has the older transport alone, at the same URL. */
  const onlyOlder: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url !== server.url) return fetch(request);
    if (request.method === "POST") return new Response(null, { status: 405 });
    return fetch(new URL("/sse", server.url), { headers: request.headers, signal: request.signal });
  };
  const client = await connect(server.url, { auth, fetch: onlyOlder });
  expect(client.server.revision).toBe("2025-11-25");
  expect(JSON.parse(await callOf(client, "whoami"))).toMatchObject({ subject: "alice" });
  expect(browser.submitted).toEqual(["login", "consent"]);
  await client.close();
});

test("rotating tokens are renewed by the first process, and the other processes use its tokens", async () => {
  const clock = fakeClock(Date.now());
  const storage = memoryCredentials();
  const { auth, browser } = userOf({ storage, clock });
  const { auth: other } = userOf({ storage, clock, signIn: signInWith(browser) });
  const clients = [await connect(server.url, { auth }), await connect(server.url, { auth: other })] as const;
  const before = as.tokenRequests.length;
  for (let hour = 0; hour < 3; hour++) {
    await clock.advance(3_600_000);
    expect(await Promise.all(clients.map((client) => client.callTool("whoami")))).toHaveLength(2);
  }
  const since = as.tokenRequests.slice(before).map((sent) => sent.get("grant_type"));
  expect(since).toEqual(["refresh_token", "refresh_token", "refresh_token"]);
  expect(new Set(as.tokenRequests.slice(before).map((sent) => sent.get("refresh_token"))).size).toBe(3);
  expect(browser.submitted).toEqual(["login", "consent"]);
  for (const client of clients) await client.close();
});

test("a client whose registration was deleted registers again", async () => {
  const storage = memoryCredentials();
  await userOf({ storage }).auth.signIn(server.url);
  const account = await userOf({ storage }).auth.whoami(server.url);
  // The server does not know the client's id, as after a restart without its database.
  const key = `clients:${as.issuer}`;
  const kept = (await storage.get(key)) ?? "";
  await storage.compareAndSet(key, kept, kept.replaceAll(account?.clientId ?? "", "lost"));
  const browser = browserOf({ user: "alice" });
  const telling: Browser = { submitted: [], signIn: (url) => (isLost(url) ? lost(url) : browser.signIn(url)) };
  const { auth } = userOf({ storage, signIn: signInWith(telling) });
  const renewed = await auth.signIn(server.url);
  expect(renewed.clientId).not.toBe("lost");
});

const isLost = (url: string | URL): boolean => new URL(url).searchParams.get("client_id") === "lost";

/** An authorization server that redirects with the error; not all do. */
function lost(url: string | URL): Promise<URL> {
  const { searchParams } = new URL(url);
  const back = new URL(searchParams.get("redirect_uri") ?? "");
  back.search = new URLSearchParams({
    error: "unauthorized_client",
    state: searchParams.get("state") ?? "",
    iss: as.issuer,
  }).toString();
  return Promise.resolve(back);
}

test("a sign-out revokes the tokens at the authorization server", async () => {
  const storage = readableCredentials();
  const { auth } = userOf({ storage });
  await auth.signIn(server.url);
  const [stored] = storage.tokens();
  const refresh = () => as.provider.RefreshToken.find(stored?.refreshToken ?? "");
  expect(await refresh()).toBeDefined();
  expect(await auth.signOut(server.url)).toBe("revoked");
  expect(await refresh()).toBeUndefined();
  expect(await auth.whoami(server.url)).toBeUndefined();
});

test("a client with a metadata document does not register", async () => {
  const registrations = () => as.requests.filter((line) => line === "POST /reg").length;
  const before = registrations();
  const { auth } = userOf({ clientMetadataUrl: documentUrl });
  const client = await connect(server.url, { auth });
  expect((await auth.whoami(server.url))?.clientId).toBe(documentUrl);
  expect(registrations()).toBe(before);
  await client.close();
});

test("tokens are bound to a key, and sent with a proof of it", async () => {
  const { auth } = userOf({ dpop: true });
  const client = await connect(server.url, { auth });
  expect(JSON.parse(await callOf(client, "whoami"))).toMatchObject({ subject: "alice" });
  expect(await callOf(client, "write")).toBe("written");
  await client.close();
});

test("a call fails with the reason if the user refuses consent", async () => {
  const browser = browserOf({ user: "alice", consents: false });
  const auth = oauth({ signIn: signInWith(browser) });
  await expect(connect(server.url, { auth })).rejects.toMatchObject({
    code: "sign_in_failed",
    data: { error: "access_denied" },
  });
});

test("two people with their own clients are two principals", async () => {
  const names = await Promise.all(
    ["alice", "bob"].map(async (user) => {
      const client = await connect(server.url, { auth: userOf({}, user).auth });
      const { subject } = JSON.parse(await callOf(client, "whoami")) as { subject: string };
      await client.close();
      return subject;
    }),
  );
  expect(names).toEqual(["alice", "bob"]);
});
