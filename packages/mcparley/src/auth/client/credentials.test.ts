import { describe, expect, test } from "vitest";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { unlessAborted } from "../../rpc/abort.ts";
import type { LocalError } from "../../rpc/errors.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { readableCredentials } from "mcparley-tests/support/readable-credentials.ts";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";
import { type CredentialStorage, memoryCredentials } from "./credentials.ts";

interface Client {
  auth: OAuth;
  /** Sends a request to the MCP server and returns the status of the response. */
  call: () => Promise<number>;
}

/** Processes on one machine, which share a storage and use the same servers. */
function machine() {
  const world = scriptedIssuer();
  const clock = fakeClock(1_000_000);
  const storage = readableCredentials();
  const start = (options: OAuthOptions = {}): Client => {
    const { redirectUri } = options;
    const signIn = world.person(redirectUri === undefined ? {} : { redirectUri });
    const auth = oauth({ storage, signIn, fetch: world.fetch, clock, ...options });
    return { auth, call: () => callWith(auth, world) };
  };
  return { world, clock, storage, start };
}

async function callWith(auth: OAuth, world: ScriptedIssuer): Promise<number> {
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
  const { signal } = new AbortController();
  return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
}

const failure = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);
const grants = (world: ScriptedIssuer): (string | null)[] => world.tokenRequests.map((sent) => sent.get("grant_type"));

describe("credentials of one authorization server are never sent to another", () => {
  test("a client registers again with the authorization server that the MCP server changes to", async () => {
    const { world, start } = machine();
    const { call } = start();
    await call();
    world.migrate("https://new.example");
    expect(await call()).toBe(202);
    const [, second] = world.authorizations;
    expect(second?.get("client_id")).not.toBe("client-1");
    expect(world.registrations).toHaveLength(2);
    expect(grants(world)).toEqual(["authorization_code", "authorization_code"]);
    expect(world.tokenRequests[1]?.toString()).not.toMatch(/client-1&|refresh-/);
  });

  test("another process sends neither the client ID, the secret nor the refresh token to the new one", async () => {
    const { world, start } = machine();
    await start().call();
    world.migrate("https://new.example");
    await start().call();
    expect(world.asked.filter((line) => line.startsWith("POST https://as.example"))).toHaveLength(2);
    expect(world.tokenRequests[1]?.get("refresh_token")).toBeNull();
  });

  test("a manually registered client is sent only to its own issuer", async () => {
    const { world, start } = machine();
    const { call } = start({ client: { id: "given", secret: "s3cr3t-of-given", issuer: "https://as.example" } });
    world.clients.add("given");
    expect(await call()).toBe(202);
    world.migrate("https://new.example");
    expect(await failure(call())).toMatchObject({
      code: "authorization_failed",
      data: { issuer: "https://new.example" },
    });
    expect(world.visits.length).toBe(1);
    expect(world.tokenRequests.length).toBe(1);
    expect(world.registrations).toEqual([]);
  });

  test("a manually registered client without an issuer is sent only to the first issuer", async () => {
    const { world, start } = machine();
    const options = { client: { id: "given", secret: "s3cr3t-of-given" } };
    world.clients.add("given");
    expect(await start(options).call()).toBe(202);
    world.migrate("https://new.example");
    expect(await failure(start(options).call())).toMatchObject({ code: "authorization_failed" });
    expect(world.tokenRequests).toHaveLength(1);
  });

  test("the MCP server cannot replace the issuer of the option `issuer`", async () => {
    const { world, start } = machine();
    const { call } = start({ issuer: "https://as.example" });
    expect(await call()).toBe(202);
    world.migrate("https://new.example");
    expect(await failure(call())).toMatchObject({
      code: "authorization_failed",
      data: { issuers: ["https://new.example"] },
    });
    expect(world.visits).toHaveLength(1);
  });

  test("of several named issuers, the one with stored credentials is used", async () => {
    const { world, start } = machine();
    await start().call();
    world.resourceMetadata = {
      ...world.resourceMetadata,
      authorization_servers: ["https://evil.example", "https://as.example"],
    };
    world.live.clear();
    expect(await start().call()).toBe(202);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token"]);
    expect(world.asked.join()).not.toContain("evil");
  });
});

describe("the identity of a client", () => {
  test("is the metadata document if the authorization server supports such documents", async () => {
    const { world, start } = machine();
    world.metadata.client_id_metadata_document_supported = true;
    world.clients.add("https://app.example/client.json");
    expect(await start({ clientMetadataUrl: "https://app.example/client.json" }).call()).toBe(202);
    expect(world.authorizations[0]?.get("client_id")).toBe("https://app.example/client.json");
    expect(world.registrations).toEqual([]);
  });

  test("is the manually registered client rather than the metadata document", async () => {
    const { world, start } = machine();
    world.metadata.client_id_metadata_document_supported = true;
    world.clients.add("given");
    expect(await start({ client: { id: "given" }, clientMetadataUrl: "https://app.example/c.json" }).call()).toBe(202);
    expect(world.authorizations[0]?.get("client_id")).toBe("given");
  });

  test.each([
    "http://app.example/c.json",
    "https://app.example",
    "https://app.example/c#a",
    "https://u:p@app.example/c",
    "c",
  ])("cannot be a document at %s", (clientMetadataUrl) => {
    expect(() => oauth({ clientMetadataUrl })).toThrow(expect.objectContaining({ code: "invalid_target" }));
  });

  test("is missing if registration is not supported, and the error names the cure", async () => {
    const { world, start } = machine();
    delete world.metadata.registration_endpoint;
    expect(await failure(start().call())).toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining('client: { id, issuer: "https://as.example" }'),
    });
    expect(world.visits).toEqual([]);
  });

  test("is missing if registration is refused, and the error contains the reason", async () => {
    const { world, start } = machine();
    const { fetch } = world;
    const refusal = { error: "invalid_redirect_uri", error_description: "only https" };
    const refusing: typeof fetch = (input, init) =>
      new Request(input).url.endsWith("/register")
        ? Promise.resolve(Response.json(refusal, { status: 400 }))
        : fetch(input, init);
    expect(await failure(start({ fetch: refusing }).call())).toMatchObject({
      code: "authorization_failed",
      message: expect.stringMatching(/invalid_redirect_uri \(only https\)\. Register a client manually/),
    });
  });

  test.each([
    [["client_secret_basic"], "client_secret_basic"],
    [["client_secret_post"], "client_secret_post"],
    [undefined, "client_secret_basic"],
  ])("contains its secret as the server accepts it: %s", async (offered, method) => {
    const { world, start } = machine();
    world.metadata.token_endpoint_auth_methods_supported = offered;
    world.clients.add("given-client.id");
    const { call } = start({ client: { id: "given-client.id", secret: "a b:c%d" } });
    await failure(call());
    const [sent] = world.tokenRequests;
    // A server that does not decode the credentials must find the id unchanged.
    const basic = `Basic ${btoa("given-client.id:a+b%3Ac%25d")}`;
    expect(world.tokenAuthorizations).toEqual([method === "client_secret_basic" ? basic : undefined]);
    expect(sent?.get("client_secret")).toBe(method === "client_secret_basic" ? null : "a b:c%d");
  });
});

describe("an invalid registration", () => {
  test("is replaced if the authorization server no longer knows the client", async () => {
    const { world, start } = machine();
    await start().call();
    world.live.clear();
    world.clients.clear();
    expect(await start().call()).toBe(202);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token", "authorization_code"]);
    expect(world.registrations).toHaveLength(2);
  });

  test("is replaced once during a sign-in", async () => {
    const { world, start } = machine();
    world.answerToken = () =>
      world.tokenRequests.length === 1 ? Response.json({ error: "invalid_client" }, { status: 401 }) : undefined;
    expect(await start().call()).toBe(202);
    expect(world.registrations.length).toBe(2);
    expect(world.visits.length).toBe(2);
  });

  test("is not replaced repeatedly, and never replaces a manually registered client", async () => {
    for (const client of [undefined, { id: "given" }]) {
      const { world, start } = machine();
      world.answerToken = () => Response.json({ error: "invalid_client" }, { status: 401 });
      expect(await failure(start(client ? { client } : {}).call())).toMatchObject({
        data: { error: "invalid_client" },
      });
      expect(world.visits).toHaveLength(client ? 1 : 2);
    }
  });

  test("is replaced for another redirect URI, and used again for the same one", async () => {
    const { world, start } = machine();
    await start().auth.signIn(serverUrl);
    await start().auth.signIn(serverUrl);
    expect(world.registrations).toHaveLength(1);
    await start({ redirectUri: "http://127.0.0.1:8888/callback" }).auth.signIn(serverUrl);
    expect(world.registrations.map((sent) => sent.redirect_uris)).toEqual([
      ["http://127.0.0.1:7777/callback"],
      ["http://127.0.0.1:8888/callback"],
    ]);
  });

  test("is replaced after its secret has expired", async () => {
    const { world, start, clock } = machine();
    const { fetch } = world;
    const expiring: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!new Request(input).url.endsWith("/register")) return response;
      const registered = (await response.json()) as object;
      const secret = { client_secret: "s3cr3t", client_secret_expires_at: (clock.now() + 60_000) / 1_000 };
      return Response.json({ ...registered, ...secret }, { status: 201 });
    };
    await start({ fetch: expiring }).auth.signIn(serverUrl);
    await start({ fetch: expiring }).auth.signIn(serverUrl);
    expect(world.registrations).toHaveLength(1);
    await clock.advance(60_000);
    await start({ fetch: expiring }).auth.signIn(serverUrl);
    expect(world.registrations).toHaveLength(2);
  });
});

describe("a token is renewed once", () => {
  test("for concurrent calls of one process", async () => {
    const { world, start } = machine();
    const { call } = start();
    await call();
    world.live.clear();
    expect(await Promise.all([call(), call(), call()])).toEqual([202, 202, 202]);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token"]);
  });

  test("for concurrent calls of several processes that share a storage, and no valid token is lost", async () => {
    const { world, start } = machine();
    const clients = [start(), start(), start()];
    for (const { call } of clients) await call();
    world.live.clear();
    expect(await Promise.all(clients.map(({ call }) => call()))).toEqual([202, 202, 202]);
    expect(await Promise.all(clients.map(({ call }) => call()))).toEqual([202, 202, 202]);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token"]);
    expect(world.visits).toHaveLength(1);
  });

  test("before it expires, by the first process", async () => {
    const { world, start, clock } = machine();
    const clients = [start(), start()];
    for (const { call } of clients) await call();
    await clock.advance(3_600_000 - 30_001);
    await Promise.all(clients.map(({ call }) => call()));
    expect(grants(world)).toEqual(["authorization_code"]);
    await clock.advance(1);
    expect(await Promise.all(clients.flatMap(({ call }) => [call(), call()]))).toEqual([202, 202, 202, 202]);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token"]);
    expect(world.asked.filter((line) => line.includes(".well-known"))).not.toEqual([]);
  });

  test("and concurrent calls share a sign-in", async () => {
    const { world, start } = machine();
    const clients = [start(), start()];
    expect(await Promise.all(clients.flatMap(({ call }) => [call(), call()]))).toEqual([202, 202, 202, 202]);
    expect(world.visits).toHaveLength(1);
  });

  test("and concurrent calls of one process share a failed sign-in", async () => {
    const { world, start } = machine();
    const { call } = start({ signIn: world.person({ back: () => Promise.reject(new Error("nobody")) }) });
    const outcomes = await Promise.all([failure(call()), failure(call()), failure(call())]);
    expect(outcomes.map(String)).toEqual(Array(3).fill("Error: nobody"));
    expect(world.visits).toHaveLength(1);
    await failure(call());
    expect(world.visits).toHaveLength(2);
  });

  test("if the caller aborts meanwhile, and the new refresh token is stored", async () => {
    const { world, start, storage } = machine();
    const { auth, call } = start();
    await call();
    world.live.clear();
    let answer!: () => void;
    const held = new Promise<void>((resolve) => (answer = resolve));
    world.answerToken = (parameters) =>
      parameters.get("grant_type") === "refresh_token" ? held.then(() => undefined as never) : undefined;
    const controller = new AbortController();
    const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
    const outgoing = { method: "POST", headers: {}, signal: controller.signal, pause: () => () => {} } as const;
    const given = failure(sendHttp(settings, outgoing));
    await flushPromises();
    controller.abort();
    expect(await given).toMatchObject({ code: "aborted" });
    world.answerToken = undefined;
    answer();
    await flushPromises();
    expect(world.tokenRequests).toHaveLength(2);
    expect(storage.tokens()[0]?.refreshToken).toContain("refresh-");
    expect(await call()).toBe(202);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token"]);
  });
});

describe("a sign-in that is aborted", () => {
  /** Starts a sign-in whose code is redeemed when the gate opens. */
  function redeeming() {
    const { world, clock, storage, start } = machine();
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    world.answerToken = () => gate.then(() => undefined as never);
    const controller = new AbortController();
    const fetch: typeof globalThis.fetch = (url, init) =>
      unlessAborted(world.fetch(url, init), init?.signal ?? undefined, "The request");
    const { auth } = start({ fetch });
    const signingIn = auth.signIn(serverUrl, { signal: controller.signal });
    return { world, clock, storage, start, open, controller, signingIn, outcome: failure(signingIn) };
  }

  test("while its code is redeemed stores the tokens of the response", async () => {
    const { world, clock, start, open, controller, signingIn } = redeeming();
    await expect.poll(() => world.tokenRequests.length).toBe(1);
    controller.abort(new Error("stopped"));
    await clock.advance(4_999);
    open();
    expect(await signingIn).toMatchObject({ server: serverUrl });
    expect(clock.pending).toBe(0);
    world.answerToken = undefined;
    expect(await start().call()).toBe(202);
    expect(grants(world)).toEqual(["authorization_code"]);
  });

  test("while its code is redeemed ends with the reason after 5 seconds without a response", async () => {
    const { world, clock, storage, controller, outcome } = redeeming();
    await expect.poll(() => world.tokenRequests.length).toBe(1);
    controller.abort(new Error("stopped"));
    await clock.advance(5_000);
    expect(await outcome).toMatchObject({ message: "stopped" });
    expect(storage.tokens()).toEqual([]);
  });

  test("while another one is in progress ends at once, and the next one still waits", async () => {
    const { world, start, open, controller, outcome } = redeeming();
    await expect.poll(() => world.tokenRequests.length).toBe(1);
    const second = new AbortController();
    const waiting = failure(start().auth.signIn(serverUrl, { signal: second.signal }));
    const third = start().auth.signIn(serverUrl);
    await flushPromises();
    second.abort(new Error("stopped"));
    expect(String(await waiting)).toBe("Error: stopped");
    await flushPromises();
    expect(world.visits).toHaveLength(1);
    world.answerToken = undefined;
    open();
    await Promise.all([outcome, third]);
    expect(world.visits).toHaveLength(2);
    expect(controller.signal.aborted).toBe(false);
  });
});

describe("a token that cannot be renewed", () => {
  test("is replaced by a sign-in that requests the same scopes", async () => {
    const { world, start } = machine();
    const { call } = start();
    world.challenge = 'scope="a"';
    await call();
    world.requiredScopes = ["b"];
    await call();
    world.live.clear();
    world.answerToken = (sent) =>
      sent.get("grant_type") === "refresh_token"
        ? Response.json({ error: "invalid_grant" }, { status: 400 })
        : undefined;
    expect(await call()).toBe(202);
    expect(world.authorizations.map((asked) => asked.get("scope"))).toEqual(["a", "a b", "a b"]);
  });

  test("is kept if the authorization server is unavailable, and the call fails with this reason", async () => {
    const { world, start } = machine();
    const { call } = start();
    await call();
    world.live.clear();
    world.answerToken = () => new Response("down", { status: 503 });
    expect(await failure(call())).toMatchObject({ code: "authorization_failed" });
    world.answerToken = undefined;
    expect(await call()).toBe(202);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token", "refresh_token"]);
    expect(world.visits).toHaveLength(1);
  });

  test("is sent until it expires, and onError receives the failure", async () => {
    const { world, start, clock } = machine();
    const errors: LocalError[] = [];
    const { call } = start({ onError: (error) => errors.push(error as LocalError) });
    await call();
    await clock.advance(3_590_000);
    world.answerToken = () => new Response("down", { status: 503 });
    expect(await call()).toBe(202);
    expect(errors.map(({ code }) => code)).toEqual(["authorization_failed"]);
  });

  test("leads to a sign-in if the renewed token is refused as well", async () => {
    const { world, start } = machine();
    const { call } = start();
    await call();
    world.live.clear();
    world.answerToken = (sent) =>
      sent.get("grant_type") === "refresh_token"
        ? Response.json({ access_token: "useless", token_type: "Bearer" })
        : undefined;
    expect(await call()).toBe(202);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token", "authorization_code"]);
  });
});

describe("an account", () => {
  test("of a server that is its own authorization server is renewed and revoked there", async () => {
    for (const issuer of ["https://mcp.example", "https://mcp.example/"]) {
      const { world, start, clock } = machine();
      world.migrate("https://mcp.example");
      world.metadata.issuer = issuer;
      world.resourceMetadata = undefined;
      expect(await start().call()).toBe(202);
      await clock.advance(3_600_000);
      expect(await start().call()).toBe(202);
      expect(grants(world)).toEqual(["authorization_code", "refresh_token"]);
      expect(await start().auth.signOut(serverUrl)).toBe("revoked");
    }
  });

  test("is returned without secrets and without a request", async () => {
    const { world, start } = machine();
    expect(await start().auth.whoami(serverUrl)).toBeUndefined();
    world.challenge = 'scope="a"';
    const account = await start().auth.signIn(serverUrl, { scope: "b" });
    const asked = world.asked.length;
    expect(await start().auth.whoami(new URL(serverUrl))).toEqual(account);
    expect(account).toEqual({
      server: serverUrl,
      resource: serverUrl,
      issuer: "https://as.example",
      clientId: "client-1",
      subject: undefined,
      scopes: ["a", "b"],
      expiresAt: 1_000_000 + 3_600_000,
      isRenewable: true,
      isBound: false,
    });
    expect(world.asked).toHaveLength(asked);
  });

  test("ends with a sign-out, which revokes both tokens", async () => {
    const { world, start } = machine();
    const { auth, call } = start();
    await call();
    const { auth: later } = start();
    expect(await later.signOut(serverUrl)).toBe("revoked");
    expect(world.revoked).toEqual([expect.stringMatching(/^refresh-/), expect.stringMatching(/^access-/)]);
    expect(await later.whoami(serverUrl)).toBeUndefined();
    expect(await later.signOut(serverUrl)).toBe("not_signed_in");
    expect(await auth.signOut("https://other.example/mcp")).toBe("not_signed_in");
  });

  test("is signed out once by two processes at the same time", async () => {
    const { world, start } = machine();
    await start().call();
    const both = [start().auth, start().auth].map((auth) => auth.signOut(serverUrl));
    expect((await Promise.all(both)).toSorted()).toEqual(["not_signed_in", "revoked"]);
    expect(world.revoked).toHaveLength(2);
  });

  test("is renewed and revoked at the issuer of its tokens, even if the server now names another one", async () => {
    const { world, start, clock } = machine();
    await start().call();
    world.resourceMetadata = undefined;
    await clock.advance(3_600_000);
    expect(await start().call()).toBe(202);
    expect(grants(world)).toEqual(["authorization_code", "refresh_token"]);
    expect(await start().auth.signOut(serverUrl)).toBe("revoked");
    expect(world.revoked).toHaveLength(2);
  });

  test("ends even if the tokens cannot be revoked or the authorization server is unavailable", async () => {
    const { world, start, storage } = machine();
    await start().call();
    delete world.metadata.revocation_endpoint;
    expect(await start().auth.signOut(serverUrl)).toBe("forgotten");
    await start().call();
    const gone = start({ fetch: () => Promise.reject(new TypeError("fetch failed")) });
    expect(await failure(gone.auth.signOut(serverUrl))).toMatchObject({ code: "unreachable" });
    expect(storage.tokens()).toEqual([]);
  });

  test.each([
    ["invalid_request", true],
    ["unsupported_token_type", false],
    ["invalid_client", false],
  ])("sends a revocation that is refused with %s again with an empty secret: %s", async (error, isRepeated) => {
    const { world, start } = machine();
    const sent: (string | null)[] = [];
    const { call, auth } = start({
      async fetch(input, init) {
        const request = new Request(input, init);
        if (request.url !== world.metadata.revocation_endpoint) return world.fetch(request);
        sent.push(new URLSearchParams(await request.text()).get("client_secret"));
        return Response.json({ error }, { status: 400 });
      },
    });
    await call();
    await failure(auth.signOut(serverUrl));
    expect(sent.slice(0, 2)).toEqual(isRepeated ? [null, ""] : sent.slice(0, 2).map(() => null));
    expect(sent.includes("")).toBe(isRepeated);
  });

  test("needs only the URL of the server for a sign-in", async () => {
    const { auth } = machine().start();
    expect(await failure(auth.signIn("mcp"))).toMatchObject({ code: "invalid_target" });
  });
});

describe("a server without stored tokens", () => {
  const request = { url: new URL(serverUrl), method: "POST", server: new URL(serverUrl) };

  test("reads the storage once for any number of requests", async () => {
    const keys: string[] = [];
    const memory = memoryCredentials();
    const storage: CredentialStorage = {
      ...memory,
      get: (key) => {
        keys.push(key);
        return memory.get(key);
      },
    };
    const auth = oauth({ storage });
    expect(await auth.headers(request)).toEqual({});
    expect(await auth.headers(request)).toEqual({});
    expect(keys).toEqual([`server:${JSON.stringify(["person", request.server.href])}`]);
  });

  test("is read again after the storage has failed", async () => {
    const memory = memoryCredentials();
    let isDown = true;
    const get: CredentialStorage["get"] = (key) => (isDown ? Promise.reject(new Error("down")) : memory.get(key));
    const auth = oauth({ storage: { ...memory, get } });
    await expect(auth.headers(request)).rejects.toThrow("down");
    isDown = false;
    expect(await auth.headers(request)).toEqual({});
  });

  test("never repeats a request", () => {
    const headers = new Headers({ "dpop-nonce": "n", "www-authenticate": 'DPoP error="use_dpop_nonce"' });
    expect(oauth().responded?.(request, { status: 401, headers })).toBe(false);
  });
});
