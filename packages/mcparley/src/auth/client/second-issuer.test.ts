import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";

const issuers = [
  "https://first.example",
  "https://second.example",
  "https://third.example",
  "https://fourth.example",
] as const;

interface Setting {
  /** The first two authorization servers that the MCP server names. */
  first: ScriptedIssuer;
  second: ScriptedIssuer;
  /** The authorization servers that cannot be reached. */
  down: Set<string>;
  start: (options?: OAuthOptions) => { auth: OAuth; call: () => Promise<number> };
  /** Returns the issuers that received a request, each once. */
  asked: () => string[];
}

function setting(count = 2): Setting {
  const named = issuers.slice(0, count);
  const [first, second] = [scriptedIssuer({ issuer: issuers[0] }), scriptedIssuer({ issuer: issuers[1] })];
  first.resourceMetadata = { resource: serverUrl, authorization_servers: named };
  const worlds = new Map<string, ScriptedIssuer>(named.map((issuer) => [issuer, scriptedIssuer({ issuer })]));
  worlds.set(issuers[0], first).set(issuers[1], second);
  const clock = fakeClock(1_000_000);
  const storage = memoryCredentials();
  const down = new Set<string>();
  const asked = new Set<string>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
    const world = worlds.get(origin);
    if (world) asked.add(origin);
    if (down.has(origin)) throw new TypeError("fetch failed");
    return (world ?? [...worlds.values()].find(({ live }) => live.has(token)) ?? first).fetch(request);
  };
  const start: Setting["start"] = (options = {}) => {
    const signIn: OAuthOptions["signIn"] = {
      async prepare() {
        const redirectUri = "http://127.0.0.1:7777/callback";
        const visit = async (url: URL): Promise<URL> => {
          const attempt = await (worlds.get(url.origin) ?? first).person().prepare();
          return attempt.visit(url);
        };
        return { redirectUri, visit, close: async () => {} };
      },
    };
    const auth = oauth({ signIn, storage, fetch, clock, ...options });
    const settings = readHttpTarget({ url: serverUrl, auth, fetch });
    const { signal } = new AbortController();
    const call = async (): Promise<number> =>
      (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
    return { auth, call };
  };
  return { first, second, down, start, asked: () => [...asked] };
}

const failure = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);

describe("the second authorization server that a server names is used if the first", () => {
  test.each<[string, (first: ScriptedIssuer, all: Setting) => void]>([
    ["cannot be reached", (_, { down }) => void down.add(issuers[0])],
    ["has no metadata", (first) => (first.rewrite = () => new Response(null, { status: 404 }))],
    ["has metadata of another issuer", (first) => (first.metadata.issuer = "https://first.example/other")],
    ["responds with status 500", (first) => (first.rewrite = () => new Response(null, { status: 500 }))],
    ["does not support PKCE", (first) => delete first.metadata.code_challenge_methods_supported],
    ["has no authorization endpoint", (first) => delete first.metadata.authorization_endpoint],
    ["does not support registration", (first) => delete first.metadata.registration_endpoint],
    ["has no token endpoint", (first) => delete first.metadata.token_endpoint],
    ["has a relative token endpoint", (first) => (first.metadata.token_endpoint = "/token")],
    ["has a token endpoint without TLS", (first) => (first.metadata.token_endpoint = "http://example.com/token")],
    ["has a page that is a script", (first) => (first.metadata.authorization_endpoint = "javascript:alert(1)")],
    ["has a relative registration endpoint", (first) => (first.metadata.registration_endpoint = "/register")],
    [
      "has a registration endpoint without TLS",
      (first) => (first.metadata.registration_endpoint = "http://example.com/register"),
    ],
    [
      "requires pushed requests without an endpoint",
      (first) => (first.metadata.require_pushed_authorization_requests = true),
    ],
    [
      "refuses pushed requests, which it requires",
      (first) => {
        first.metadata.require_pushed_authorization_requests = true;
        first.metadata.pushed_authorization_request_endpoint = "https://first.example/par";
        first.answerPush = () => new Response(null, { status: 503 });
      },
    ],
    ...[
      new Response(null, { status: 204 }),
      new Response(null, { status: 302, headers: { location: "https://first.example/" } }),
      new Response("<h1>Out of order</h1>", { status: 503 }),
      Response.json({ client_id: 5 }, { status: 201 }),
      Response.json({ client_id: "a", token_endpoint_auth_method: "private_key_jwt" }, { status: 201 }),
    ].map((answer): [string, (first: ScriptedIssuer) => void] => [
      `answers the registration with status ${answer.status}`,
      (first) => {
        first.rewrite = (response, { path }) => (path === "/register" ? answer.clone() : response);
      },
    ]),
    [
      "cannot be reached for the registration",
      (first) => {
        first.rewrite = (response, { path }) =>
          path === "/register" ? Promise.reject(new TypeError("fetch failed")) : response;
      },
    ],
    [
      "refuses the registration",
      (first) => {
        first.rewrite = (response, { path }) =>
          path === "/register" ? Response.json({ error: "access_denied" }, { status: 403 }) : response;
      },
    ],
    [
      "refuses the registration with status 200",
      (first) => {
        first.rewrite = (response, { path }) => (path === "/register" ? Response.json({ error: "no" }) : response);
      },
    ],
  ])("%s", async (_, change) => {
    const all = setting();
    const { first, second } = all;
    change(first, all);
    const { auth, call } = all.start();
    expect(await call()).toBe(202);
    expect(await auth.whoami(serverUrl)).toMatchObject({ issuer: "https://second.example" });
    expect(first.visits).toEqual([]);
    expect(second.visits).toHaveLength(1);
    // Other processes use the tokens of the second one, without a request to the first.
    second.live.clear();
    const before = first.asked.length;
    const later = all.start();
    expect(await later.call()).toBe(202);
    expect(second.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual(["authorization_code", "refresh_token"]);
    expect(first.asked.slice(before).filter((line) => !line.includes("oauth-protected-resource"))).toEqual([]);
    expect(await later.auth.signOut(serverUrl)).toBe("revoked");
  });

  test("cannot be reached, for the function `signIn`", async () => {
    const { down, start } = setting();
    down.add(issuers[0]);
    expect(await start().auth.signIn(serverUrl)).toMatchObject({ issuer: "https://second.example" });
  });
});

describe("no other authorization server is used", () => {
  test("if the first one works", async () => {
    const { start, asked } = setting();
    expect(await start().call()).toBe(202);
    expect(asked()).toEqual(["https://first.example"]);
  });

  test("for a client that was registered manually, with or without an issuer", async () => {
    for (const issuer of [undefined, "https://first.example"]) {
      const { down, start, asked } = setting();
      down.add(issuers[0]);
      const client = { id: "given", secret: "s3cr3t", ...(issuer && { issuer }) };
      expect(await failure(start({ client }).call())).toMatchObject({ code: "unreachable" });
      expect(asked()).toEqual(["https://first.example"]);
    }
  });

  test("with the option `issuer`", async () => {
    const { down, start, asked } = setting();
    down.add(issuers[0]);
    expect(await failure(start({ issuer: issuers[0] }).call())).toMatchObject({ code: "unreachable" });
    expect(asked()).toEqual(["https://first.example"]);
  });

  test("while the one that issued the tokens is unavailable", async () => {
    const { first, down, start, asked } = setting();
    expect(await start().call()).toBe(202);
    first.live.clear();
    down.add(issuers[0]);
    expect(await failure(start().call())).toMatchObject({ code: "unreachable" });
    expect(asked()).toEqual(["https://first.example"]);
    down.clear();
    expect(await start().call()).toBe(202);
    expect(first.visits).toHaveLength(1);
  });

  test("if the present tokens are those of the first one, and it is unavailable at the registration", async () => {
    const { first, second, start } = setting();
    expect(await start().call()).toBe(202);
    first.live.clear();
    first.answerToken = () => Response.json({ error: "temporarily_unavailable" }, { status: 400 });
    first.rewrite = (response, { path }) => (path === "/register" ? new Response(null, { status: 503 }) : response);
    const { auth } = start();
    expect(await failure(auth.signIn(serverUrl, { newClient: true }))).toMatchObject({ data: { status: 503 } });
    expect(second.asked).toEqual([]);
    expect(await auth.whoami(serverUrl)).toMatchObject({ issuer: issuers[0], isRenewable: true });
  });

  test("if the user declines", async () => {
    const { first, start, asked } = setting();
    first.answerToken = () => Response.json({ error: "access_denied" }, { status: 403 });
    expect(await failure(start().call())).toMatchObject({ data: { error: "access_denied" } });
    expect(asked()).toEqual(["https://first.example"]);
  });
});

test("another authorization server is used if the one that issued the tokens no longer exists", async () => {
  const { first, second, start } = setting();
  expect(await start().call()).toBe(202);
  first.live.clear();
  first.rewrite = () => new Response(null, { status: 404 });
  const { auth, call } = start();
  expect(await call()).toBe(202);
  expect(second.visits).toHaveLength(1);
  expect(second.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual(["authorization_code"]);
  expect(await auth.whoami(serverUrl)).toMatchObject({ issuer: "https://second.example" });
});

test.each(["/.well-known/oauth-authorization-server", "/register"])(
  "a sign-in that is aborted during a request to %s ends with the reason",
  async (requested) => {
    const controller = new AbortController();
    const reason = new Error("no longer needed");
    const { first, start, asked } = setting();
    first.rewrite = (response, { path }) => {
      if (path !== requested) return response;
      controller.abort(reason);
      return Response.json({ error: "access_denied" }, { status: 403 });
    };
    await expect(start().auth.signIn(serverUrl, { signal: controller.signal })).rejects.toBe(reason);
    expect(asked()).toEqual(["https://first.example"]);
  },
);

test("the error is that of the first authorization server if all fail", async () => {
  const { first, second, start, asked } = setting();
  first.rewrite = () => new Response(null, { status: 404 });
  second.rewrite = () => new Response(null, { status: 500 });
  expect(await failure(start().call())).toMatchObject({
    message: 'The authorization server "https://first.example" publishes no metadata at its well-known URLs.',
  });
  expect(asked()).toEqual(issuers.slice(0, 2));
});

test("the error is the refused registration if the next one has no metadata", async () => {
  const { first, second, start } = setting();
  delete first.metadata.registration_endpoint;
  second.rewrite = () => new Response(null, { status: 404 });
  expect(await failure(start().call())).toMatchObject({
    message: expect.stringContaining('"https://first.example" does not support dynamic registration'),
  });
});

test("at most three authorization servers are tried", async () => {
  const { down, start, asked } = setting(4);
  for (const issuer of issuers) down.add(issuer);
  expect(await failure(start().call())).toMatchObject({ code: "unreachable" });
  expect(asked()).toEqual(issuers.slice(0, 3));
  down.delete(issuers[2]);
  expect(await start().call()).toBe(202);
});

test("no client is registered and no page opens if an endpoint cannot be used", async () => {
  for (const name of ["authorization_endpoint", "token_endpoint"]) {
    const { first, start } = setting(1);
    first.metadata[name] = "http://example.com/x";
    expect(await failure(start().call())).toMatchObject({
      code: "forbidden_url",
      message: expect.stringContaining("http://example.com/x") as string,
    });
    expect([first.registrations, first.visits]).toEqual([[], []]);
  }
});

test("a client with an unsupported method is not stored, so that the next sign-in registers another one", async () => {
  const { first, start } = setting(1);
  const unsupported = { client_id: "a", token_endpoint_auth_method: "private_key_jwt" };
  first.rewrite = (response, { path }) => (path === "/register" ? Response.json(unsupported) : response);
  expect(await failure(start().call())).toMatchObject({
    message: expect.stringContaining("private_key_jwt") as string,
  });
  first.rewrite = undefined;
  expect(await start().call()).toBe(202);
});
