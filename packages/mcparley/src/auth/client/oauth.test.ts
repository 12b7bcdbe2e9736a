import { describe, expect, test } from "vitest";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";

interface Setting {
  world: ScriptedIssuer;
  clock: FakeClock;
  auth: OAuth;
  /** Sends a request to the MCP server and returns the status of the response. */
  call: () => Promise<number>;
  /** The URLs that the user was sent to. */
  visits: URL[];
}

function setting(options: OAuthOptions = {}, habits: Parameters<ScriptedIssuer["person"]>[0] = {}): Setting {
  const world = scriptedIssuer();
  const clock = fakeClock(1_000_000);
  const auth = oauth({ signIn: world.person(habits), fetch: world.fetch, clock, ...options });
  return { world, clock, auth, call: () => callWith(auth, world), visits: world.visits };
}

async function callWith(auth: OAuth, world: ScriptedIssuer): Promise<number> {
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
  const { signal } = new AbortController();
  return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
}

const failure = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);

describe("a first sign-in", () => {
  test("registers a name without half of a surrogate pair", async () => {
    const { world, call } = setting({ clientName: "Inspector \ud83d" });
    expect(await call()).toBe(202);
    expect(world.registrations).toMatchObject([{ client_name: "Inspector \ufffd" }]);
  });

  test("finds the authorization server, registers, and redeems the code with PKCE", async () => {
    const { world, call, visits } = setting({ clientName: "Inspector", clientUri: "https://inspector.example" });
    expect(await call()).toBe(202);
    expect(world.asked).toEqual([
      "GET https://mcp.example/.well-known/oauth-protected-resource/mcp",
      "GET https://as.example/.well-known/oauth-authorization-server",
      "POST https://as.example/register",
      "POST https://as.example/token",
    ]);
    expect(world.registrations).toEqual([
      {
        client_name: "Inspector",
        client_uri: "https://inspector.example",
        redirect_uris: ["http://127.0.0.1:7777/callback"],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        application_type: "native",
      },
    ]);
    const [asked] = world.authorizations;
    expect(Object.fromEntries(asked ?? [])).toEqual({
      response_type: "code",
      client_id: "client-1",
      redirect_uri: "http://127.0.0.1:7777/callback",
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      resource: serverUrl,
    });
    expect(world.tokenRequests[0]?.get("resource")).toBe(serverUrl);
    expect(visits).toHaveLength(1);
  });

  test("happens once: the tokens are sent from then on", async () => {
    const { world, call, visits } = setting();
    for (let i = 0; i < 3; i++) expect(await call()).toBe(202);
    expect(visits.length).toBe(1);
    expect(world.asked.length).toBe(4);
  });

  test("registers as a web application if the redirect URI belongs to one", async () => {
    const { world, call } = setting({}, { redirectUri: "https://app.example/callback" });
    await call();
    expect(world.registrations[0]?.application_type).toBe("web");
  });

  test("keeps the query of the authorization endpoint", async () => {
    const { world, call, visits } = setting();
    world.metadata.authorization_endpoint = "https://as.example/authorize?tenant=a";
    await call();
    expect(visits[0]?.searchParams.get("tenant")).toBe("a");
  });
});

describe("scopes", () => {
  test.each<[string, (world: ScriptedIssuer) => void, OAuthOptions, string | null]>([
    ["of the challenge", (world) => (world.challenge = 'scope="a b"'), {}, "a b"],
    ["that the server supports", (world) => (world.resourceMetadata!.scopes_supported = ["x", "y"]), {}, "x y"],
    ["that are left to the authorization server", () => {}, {}, null],
    ["given, A6", (world) => (world.challenge = 'scope="a b"'), { scope: "mine" }, "mine"],
    [
      "with offline_access if it is offered",
      (world) => {
        world.challenge = 'scope="a"';
        world.metadata.scopes_supported = ["a", "offline_access"];
      },
      {},
      "a offline_access",
    ],
    ["without it alone", (world) => (world.metadata.scopes_supported = ["offline_access"]), {}, null],
  ])("%s", async (_, change, options, expected) => {
    const { world, call } = setting(options);
    change(world);
    await call();
    const [asked] = world.authorizations;
    expect(asked?.get("scope")).toBe(expected);
    expect(asked?.get("prompt")).toBe(expected?.includes("offline_access") ? "consent" : null);
  });

  test("that are missing are requested together with the present ones", async () => {
    const { world, call } = setting();
    world.challenge = 'scope="a"';
    expect(await call()).toBe(202);
    world.requiredScopes = ["b", "c"];
    expect(await call()).toBe(202);
    expect(world.authorizations.map((asked) => asked.get("scope"))).toEqual(["a", "a b c"]);
  });

  test("that are still missing are not requested again for the same call, and only twice in total", async () => {
    const { world, call } = setting({}, { back: (url) => url });
    world.challenge = 'scope="a"';
    world.answerToken = (parameters) => {
      world.live.set(`t-${world.tokenRequests.length}`, "a");
      parameters.set("seen", "1");
      return Response.json({ access_token: `t-${world.tokenRequests.length}`, token_type: "Bearer", scope: "a" });
    };
    world.requiredScopes = ["b"];
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push(await call());
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403]);
    expect(world.authorizations.map((asked) => asked.get("scope"))).toEqual(["a", "a b", "a b"]);
  });

  test("that concurrent calls lack are all requested", async () => {
    const { world, auth } = setting();
    world.challenge = 'scope="a"';
    const { fetch } = world;
    /** Requires the scope that the request names in its `needs` header. */
    const needing: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      world.requiredScopes = [request.headers.get("needs") ?? ""].filter((scope) => scope !== "");
      return fetch(request);
    };
    const settings = readHttpTarget({ url: serverUrl, auth, fetch: needing });
    const { signal } = new AbortController();
    const statuses = await Promise.all(
      ["b", "c", "d", "e", "f", "g"].map(async (needs) => {
        const { status } = await sendHttp(settings, { method: "POST", headers: { needs }, body: "{}", signal });
        return status;
      }),
    );
    expect(statuses).toEqual(Array(6).fill(202));
    expect(world.authorizations.at(-1)?.get("scope")?.split(" ").toSorted()).toEqual([
      "a",
      "b",
      "c",
      "d",
      "e",
      "f",
      "g",
    ]);
  });

  test("are not requested after another 403", async () => {
    const { world, call, visits } = setting();
    await call();
    const before = world.fetch;
    world.fetch = (input, init) =>
      new Request(input).url === serverUrl
        ? Promise.resolve(new Response(null, { status: 403, headers: { "www-authenticate": "Bearer" } }))
        : before(input, init);
    expect(await call()).toBe(403);
    expect(visits).toHaveLength(1);
  });
});

describe("identifiers are compared as published", () => {
  test.each(["https://mcp.example", "https://mcp.example/", "https://MCP.example/mcp", "https://mcp.example:443/mcp"])(
    "the resource %s",
    async (resource) => {
      const { world, call } = setting({ acceptResource: () => true });
      world.resourceMetadata!.resource = resource;
      expect(await call()).toBe(202);
      expect(world.authorizations[0]?.get("resource")).toBe(resource);
      expect(world.tokenRequests[0]?.get("resource")).toBe(resource);
    },
  );

  test("an issuer that differs by a slash is rejected", async () => {
    const { world, call, visits } = setting();
    world.resourceMetadata!.authorization_servers = ["https://as.example/"];
    expect(await failure(call())).toMatchObject({ code: "authorization_failed" });
    expect(visits).toEqual([]);
  });
});

describe("the option `resource` overrides the published resource", () => {
  test.each<[string | false, string | null]>([
    ["api://known-here", "api://known-here"],
    [false, null],
  ])("with the value %s", async (resource, expected) => {
    const { world, call } = setting({ resource });
    expect(await call()).toBe(202);
    expect(world.authorizations[0]?.get("resource")).toBe(expected);
    expect(world.tokenRequests[0]?.get("resource")).toBe(expected);
  });

  test("and the error for an unknown resource names the option", async () => {
    const { world, call } = setting();
    world.answerToken = () => Response.json({ error: "invalid_target" }, { status: 400 });
    expect(await failure(call())).toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining("Set the option resource"),
      data: { error: "invalid_target", status: 400 },
    });
  });
});

describe("the redirect of a sign-in", () => {
  const change =
    (edit: (parameters: URLSearchParams) => void) =>
    (url: URL): URL => {
      edit(url.searchParams);
      return url;
    };

  test.each<[string, boolean, (parameters: URLSearchParams) => void, boolean]>([
    ["advertised and right", true, () => {}, true],
    ["advertised and missing", true, (back) => back.delete("iss"), false],
    ["advertised and wrong", true, (back) => back.set("iss", "https://evil.example"), false],
    ["advertised and twice", true, (back) => back.append("iss", "https://as.example"), false],
    ["not advertised and missing", false, () => {}, true],
    ["not advertised and right", false, (back) => back.set("iss", "https://as.example"), true],
    ["not advertised and wrong", false, (back) => back.set("iss", "https://evil.example"), false],
    ["right but for a slash", true, (back) => back.set("iss", "https://as.example/"), false],
    ["right but for its case", true, (back) => back.set("iss", "https://AS.example"), false],
    ["right but for the default port", true, (back) => back.set("iss", "https://as.example:443"), false],
  ])("an iss that is %s (RFC 9207)", async (_, isAdvertised, edit, isTaken) => {
    const { world, call } = setting({}, { back: change(edit) });
    world.metadata.authorization_response_iss_parameter_supported = isAdvertised;
    const outcome = await failure(call());
    if (isTaken) expect(outcome).toBe(202);
    else expect(outcome).toMatchObject({ code: "sign_in_failed" });
    expect(world.tokenRequests).toHaveLength(isTaken ? 1 : 0);
  });

  test.each<[string, (parameters: URLSearchParams) => void, string]>([
    ["a wrong", (back) => back.set("iss", "https://evil.example"), 'the iss "https://evil.example"'],
    ["a missing", (back) => back.delete("iss"), "no iss"],
    ["an empty", (back) => back.set("iss", ""), "no iss"],
    ["a very long", (back) => back.set("iss", `\u001b[2J\n${"x".repeat(50_000)}`), 'the iss " [2J xxx'],
  ])("with %s iss is rejected with both values", async (_, edit, value) => {
    const { world, call } = setting({}, { back: change(edit) });
    world.metadata.authorization_response_iss_parameter_supported = true;
    const { message } = (await failure(call())) as Error;
    expect(message).toContain(`The redirect of the sign-in at "https://as.example" was rejected: it has ${value}`);
    expect(message).toMatch(/, expected "https:\/\/as\.example"\.$/);
    expect(message.length).toBeLessThan(600);
  });

  test("with the right iss and another state is rejected because of the state", async () => {
    const { call } = setting(
      {},
      { back: change((back) => (back.set("state", "x"), back.set("iss", "https://as.example"))) },
    );
    expect(await failure(call())).toMatchObject({ message: expect.stringContaining('"state"') });
  });

  test.each(["", "x"])("with an error has its reason, printable, bounded and without secrets %s", async (more) => {
    let state = "";
    const edit = (back: URLSearchParams): void => {
      state = back.get("state") ?? "";
      back.delete("code");
      back.set("error", "temporarily_unavailable");
      back.set(
        "error_description",
        `Müller \u{1f512} \u001b[31m\u202e\u200b${state}\n${more}${"\u{1f512}".repeat(10_000)}`,
      );
    };
    const { call } = setting({}, { back: change(edit) });
    const error = (await failure(call())) as LocalError;
    const { error: code, description } = error.data as { error: string; description: string };
    expect(code).toBe("temporarily_unavailable");
    expect(description).toMatch(/^Müller \u{1f512} \[31m \[redacted\] x?\u{1f512}/u);
    expect(description.length).toBeLessThanOrEqual(300);
    expect(description.isWellFormed()).toBe(true);
    expect(error.message).toContain(`ended the sign-in with the error temporarily_unavailable (${description}).`);
    expect(error.message).not.toContain(state);
  });

  test.each<[string, (parameters: URLSearchParams) => void]>([
    ["no state", (back) => back.delete("state")],
    ["another state", (back) => back.set("state", "other")],
    ["two states", (back) => back.append("state", "other")],
    ["no code", (back) => back.delete("code")],
  ])("with %s is rejected", async (_, edit) => {
    const { world, call } = setting({}, { back: change(edit) });
    expect(await failure(call())).toMatchObject({ code: "sign_in_failed" });
    expect(world.tokenRequests).toEqual([]);
  });

  test("to another URL is rejected", async () => {
    const { world, call } = setting({}, { back: (url) => new URL(url.search, "http://127.0.0.1:7777/other") });
    expect(await failure(call())).toMatchObject({ code: "sign_in_failed" });
    expect(world.tokenRequests).toEqual([]);
  });

  test("with an error fails with this error, unless it is of another issuer", async () => {
    const denied = (back: URLSearchParams): void => {
      back.delete("code");
      back.set("error", "access_denied");
      back.set("error_description", "told-by-whoever");
    };
    const honest = setting({}, { back: change(denied) });
    expect(await failure(honest.call())).toMatchObject({
      code: "sign_in_failed",
      message: "The sign-in was declined by the user or by the authorization server: access_denied (told-by-whoever).",
      data: { error: "access_denied", description: "told-by-whoever" },
    });
    const mixed = setting({}, { back: change((back) => (denied(back), back.set("iss", "https://evil.example"))) });
    const error = (await failure(mixed.call())) as LocalError;
    expect(error).toMatchObject({ code: "sign_in_failed", data: undefined });
    expect(error.message).not.toMatch(/access_denied|told-by-whoever/);
  });

  test("is missing if no user can sign in, and the error contains the URL", async () => {
    const required = new LocalError("sign_in_required", "nobody is here", { data: { url: "https://as.example/a" } });
    const { call } = setting({}, { back: () => Promise.reject(required) });
    expect(await failure(call())).toBe(required);
  });
});

test("an authorization server without PKCE (S256) is rejected before any request to it", async () => {
  for (const methods of [undefined, [], ["plain"]]) {
    const { world, call, visits } = setting();
    if (methods) world.metadata.code_challenge_methods_supported = methods;
    else delete world.metadata.code_challenge_methods_supported;
    expect(await failure(call())).toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining("PKCE"),
    });
    expect(visits).toEqual([]);
    expect(world.registrations).toEqual([]);
    expect(world.tokenRequests).toEqual([]);
  }
});

test.each(["http://as.example/authorize", "javascript:alert(1)", "https://10.0.0.1/authorize", undefined])(
  "no user is sent to the authorization endpoint %s",
  async (endpoint) => {
    const { world, call, visits } = setting();
    world.metadata.authorization_endpoint = endpoint;
    expect(await failure(call())).toMatchObject({
      code: expect.stringMatching(/^(forbidden_url|authorization_failed)$/),
    });
    expect(visits).toEqual([]);
  },
);

test.each(["http://app.example/callback", "app:/callback", "callback"])(
  "the redirect URI %s is rejected",
  async (redirectUri) => {
    const { call, visits, world } = setting({}, { redirectUri });
    expect(await failure(call())).toMatchObject({ code: "invalid_target" });
    expect(visits).toEqual([]);
    expect(world.registrations).toEqual([]);
  },
);

test("metadata of another resource is rejected without a sign-in", async () => {
  const { world, call, visits } = setting();
  world.resourceMetadata!.resource = "https://evil.example/mcp";
  expect(await failure(call())).toMatchObject({ code: "authorization_failed" });
  expect(visits.length).toBe(0);
  expect(world.asked.length).toBe(1);
});

test("a server that refuses a new token causes no further sign-in", async () => {
  const { world, call, visits } = setting();
  world.answerToken = () => Response.json({ access_token: "useless", token_type: "Bearer" });
  expect(await failure(call())).toMatchObject({
    code: "unauthorized",
    message: expect.stringContaining("has just issued"),
  });
  expect(visits).toHaveLength(1);
});

test("a URL with a password is refused before a request, and the error does not contain it", async () => {
  const requests: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input) => (requests.push(input), new Response());
  const auth = oauth({ fetch });
  for (const name of ["signIn", "signOut", "whoami"] as const) {
    const error: unknown = await auth[name]("https://ann:hunter2@mcp.example/mcp").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "invalid_target", message: expect.stringContaining("user or password") });
    expect(String(error)).not.toContain("hunter2");
  }
  expect(requests).toEqual([]);
});
