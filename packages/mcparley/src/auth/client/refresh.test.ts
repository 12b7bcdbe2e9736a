import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";

interface Setting {
  world: ScriptedIssuer;
  clock: FakeClock;
  auth: OAuth;
  errors: Error[];
  /** Sends a request to the MCP server and returns the status of the response. */
  call: () => Promise<number>;
  /** Makes the access token invalid. */
  expire: () => Promise<void>;
}

function setting(options: OAuthOptions = {}, world = scriptedIssuer()): Setting {
  world.challenge = 'scope="a b"';
  const clock = fakeClock(1_000_000);
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const auth = oauth({ signIn: world.person(), fetch: world.fetch, clock, onError, ...options });
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
  const { signal } = new AbortController();
  const call = async (): Promise<number> =>
    (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
  const expire = async (): Promise<void> => {
    world.live.clear();
    await clock.advance(world.lifetime * 1_000);
  };
  return { world, clock, auth, errors, call, expire };
}

/** A sign-in that finds no user. */
const absentUser: OAuthOptions["signIn"] = {
  prepare: () =>
    Promise.reject(new LocalError("sign_in_required", "Sign in.", { data: { url: "https://as.example/" } })),
};

const refreshes = (world: ScriptedIssuer): URLSearchParams[] =>
  world.tokenRequests.filter((sent) => sent.get("grant_type") === "refresh_token");
const isRefresh = (sent: URLSearchParams): boolean => sent.get("grant_type") === "refresh_token";
const failure = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);
const oauthError = (error: string, status: number) => () => Response.json({ error }, { status });

function brokenBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
}

describe("a refused refresh", () => {
  test.each<[string, () => Response]>([
    ["invalid_grant", oauthError("invalid_grant", 400)],
    ["invalid_scope", oauthError("invalid_scope", 400)],
    ["invalid_target", oauthError("invalid_target", 400)],
    ["invalid_request", oauthError("invalid_request", 400)],
    ["an unknown error", oauthError("user_disabled", 400)],
    ["a client that may not refresh", oauthError("unauthorized_client", 403)],
    ["an OAuth error with status 200", oauthError("bad_refresh_token", 200)],
    ["an OAuth error with status 202", oauthError("bad_refresh_token", 202)],
    ["an OAuth error of another media type", () => new Response('{"error":"gone"}', { status: 410 })],
    ["a form with status 200", () => new Response(new URLSearchParams({ error: "bad_refresh_token" }))],
    ["a page with status 400", () => new Response("<h1>Bad Request</h1>", { status: 400 })],
    ["an empty body with status 401", () => new Response(null, { status: 401 })],
    ["an empty body with status 404", () => new Response(null, { status: 404 })],
    ["an empty body with status 499", () => new Response(null, { status: 499 })],
    ["a challenge", () => new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } })],
  ])("by %s is followed by one sign-in", async (_, answer) => {
    const { world, auth, call, expire } = setting();
    expect(await call()).toBe(202);
    await expire();
    world.answerToken = (sent) => (isRefresh(sent) ? answer() : undefined);
    expect(await Promise.all([call(), call(), call()])).toEqual([202, 202, 202]);
    expect(world.visits).toHaveLength(2);
    const sent = refreshes(world).map((parameters) => parameters.get("refresh_token"));
    expect(new Set(sent.filter((token) => token?.startsWith("refresh-"))).size).toBe(1);
    // The tokens of the sign-in are renewed as usual.
    world.answerToken = undefined;
    await expire();
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(2);
    expect(await auth.whoami(serverUrl)).toMatchObject({ isRenewable: true });
  });

  test("is sent once by two processes, and followed by one sign-in", async () => {
    const storage = memoryCredentials();
    const first = setting({ storage });
    const second = setting({ storage }, first.world);
    expect([await first.call(), await second.call()]).toEqual([202, 202]);
    await Promise.all([first.expire(), second.expire()]);
    first.world.answerToken = (sent) => (isRefresh(sent) ? oauthError("invalid_grant", 400)() : undefined);
    expect(await Promise.all([first.call(), second.call()])).toEqual([202, 202]);
    expect(refreshes(first.world).filter((sent) => sent.get("refresh_token")?.startsWith("refresh-"))).toHaveLength(1);
    expect(first.world.visits).toHaveLength(2);
  });

  test.each([
    ["the token has expired", 0],
    ["the token has not expired", 3_600],
  ])("is a reason in the errors of sign-ins that are not possible, also of later ones, if %s", async (_, extension) => {
    const storage = memoryCredentials();
    const { world, call } = setting({ storage });
    world.lifetime += extension;
    await call();
    world.lifetime -= extension;
    const first = setting({ storage, signIn: absentUser }, world);
    await first.expire();
    const refusal = { error: "invalid_grant", error_description: "User disabled" };
    world.answerToken = () => Response.json(refusal, { status: 400 });
    const expected = {
      code: "sign_in_required",
      message:
        'Sign in. The authorization server "https://as.example" refused to refresh tokens: invalid_grant (User disabled).',
      data: { url: "https://as.example/" },
    };
    expect(await failure(first.call())).toMatchObject(expected);
    expect(await failure(first.call())).toMatchObject(expected);
    expect(await failure(setting({ storage, signIn: absentUser }, world).call())).toMatchObject(expected);
    expect(refreshes(world).filter((sent) => sent.get("refresh_token")?.startsWith("refresh-"))).toHaveLength(1);
  });

  test("is a reason in the error of a sign-in that fails", async () => {
    const { world, call, expire } = setting();
    await call();
    await expire();
    const refusal = { error: "invalid_grant", error_description: "User disabled" };
    world.answerToken = () => Response.json(refusal, { status: 400 });
    const message =
      'The authorization server "https://as.example" refused to issue tokens: invalid_grant (User disabled). ' +
      'The authorization server "https://as.example" refused to refresh tokens: invalid_grant (User disabled).';
    expect(await failure(call())).toMatchObject({ code: "authorization_failed", message });
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ["status 408", oauthError("slow", 408)],
    ["status 429", oauthError("slow_down", 429)],
    ["status 500", () => new Response("<h1>Error</h1>", { status: 500 })],
    ["status 503 and an OAuth error", oauthError("invalid_grant", 503)],
    ["status 599", () => new Response(null, { status: 599 })],
    ["status 502 and a long page", () => new Response("x".repeat(1_048_577), { status: 502 })],
    ["no connection", () => Promise.reject(new TypeError("fetch failed"))],
    ["the end of the connection within the body", () => new Response(brokenBody())],
  ])("with %s keeps the refresh token", async (_, answer) => {
    const { world, call, expire } = setting();
    await call();
    await expire();
    world.answerToken = () => answer();
    expect(await failure(call())).toBeInstanceOf(LocalError);
    world.answerToken = undefined;
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(1);
    expect(new Set(refreshes(world).map((sent) => sent.get("refresh_token"))).size).toBe(1);
  });

  test("before the token expires does not ask the user until the server refuses the token", async () => {
    const { world, clock, errors, call } = setting();
    await call();
    world.answerToken = oauthError("invalid_grant", 400);
    await clock.advance((world.lifetime - 10) * 1_000);
    expect([await call(), await call()]).toEqual([202, 202]);
    expect(refreshes(world)).toHaveLength(1);
    expect(errors).toMatchObject([{ data: { error: "invalid_grant" } }]);
    expect(world.visits).toHaveLength(1);
    world.answerToken = undefined;
    world.live.clear();
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(2);
  });
});

describe("a refused refresh token", () => {
  test.each(["expired_token", "revoked_token", "token_expired", "TokenRevoked", "INVALID_GRANT", "invalidGrant"])(
    "is not sent again after %s",
    async (error) => {
      const storage = memoryCredentials();
      const { world, call } = setting({ storage });
      await call();
      const later = setting({ storage, signIn: absentUser }, world);
      await later.expire();
      world.answerToken = oauthError(error, 400);
      for (let i = 0; i < 3; i++) expect(await failure(later.call())).toMatchObject({ code: "sign_in_required" });
      expect(refreshes(world).filter((sent) => sent.get("refresh_token")?.startsWith("refresh-"))).toHaveLength(1);
    },
  );
});

test("a refused access token that contains spaces is renewed, and replaced by a sign-in if that is refused", async () => {
  const { world, call, expire } = setting();
  world.rewrite = async (response, { path }) => {
    const issued = path === "/token" ? ((await response.clone().json()) as Record<string, unknown>) : {};
    if (typeof issued.access_token !== "string") return response;
    const token = `a  ${issued.access_token}`;
    world.live.set(token, "a b");
    return Response.json({ ...issued, access_token: token });
  };
  expect(await call()).toBe(202);
  world.live.clear();
  expect(await call()).toBe(202);
  expect(world.visits).toHaveLength(1);
  world.answerToken = (sent) => (isRefresh(sent) ? oauthError("invalid_grant", 400)() : undefined);
  await expire();
  expect(await call()).toBe(202);
  expect(world.visits).toHaveLength(2);
});

describe("a refusal that can be temporary", () => {
  const page = (status: number) => () =>
    new Response("<title>Blocked by the proxy</title>", { status, headers: { "content-type": "text/html" } });
  const ofRenewals = (world: ScriptedIssuer): number =>
    refreshes(world).filter((sent) => sent.get("refresh_token")?.startsWith("refresh-")).length;

  test.each<[string, () => Response]>([
    ["a page with status 400", page(400)],
    [
      "a page of a proxy with a challenge",
      () => new Response("<p>Sign in", { status: 401, headers: { "www-authenticate": 'Basic realm="proxy"' } }),
    ],
    ["a page with status 403", page(403)],
    ["a page with status 404", page(404)],
    ["a page with status 407", page(407)],
    ["temporarily_unavailable with status 400", oauthError("temporarily_unavailable", 400)],
    ["server_error with status 400", oauthError("server_error", 400)],
    ["slow_down with status 400", oauthError("slow_down", 400)],
    ["rate_limited with status 403", oauthError("rate_limited", 403)],
    ["a realm that is switched off", oauthError("access_denied", 403)],
    ["service_unavailable with status 200", () => Response.json({ ok: false, error: "service_unavailable" })],
    ["a page with status 200", page(200)],
    ["an empty body", () => new Response("")],
    ["an empty body with status 204", () => new Response(null, { status: 204 })],
    ["a redirect with status 302", () => new Response(null, { status: 302, headers: { location: "/login" } })],
    ["a redirect with status 307", () => new Response(null, { status: 307, headers: { location: "/token2" } })],
    ["a body over the limit", () => new Response("x".repeat(1_048_577))],
    ["an empty document", () => Response.json({})],
    ["an error that is an object", () => Response.json({ error: { message: "Sorry" } })],
    ["a token of an unknown type", () => Response.json({ access_token: "a", token_type: "mac" })],
    ["a bound token that was not requested", () => Response.json({ access_token: "a", token_type: "DPoP" })],
    ["a token that is an object", () => Response.json({ access_token: { a: 1 }, token_type: "Bearer" })],
    ["a token that cannot be sent", () => Response.json({ access_token: "a\nb", token_type: "Bearer" })],
  ])("keeps the refresh token until a sign-in succeeds: %s", async (_, answer) => {
    const storage = memoryCredentials();
    const { world, call } = setting({ storage });
    await call();
    const later = setting({ storage, signIn: absentUser }, world);
    await later.expire();
    world.answerToken = () => answer();
    expect(await failure(later.call())).toMatchObject({ code: "sign_in_required" });
    expect(ofRenewals(world)).toBe(2);
    // In the pause after a failed renewal, the token is only renewed if the server refuses it.
    expect(await failure(later.call())).toMatchObject({ code: "sign_in_required" });
    expect(ofRenewals(world)).toBe(3);
    world.answerToken = undefined;
    expect(await later.call()).toBe(202);
    expect(ofRenewals(world)).toBe(4);
    await later.expire();
    expect(await later.call()).toBe(202);
    expect(world.visits).toHaveLength(1);
  });

  test("is followed by one sign-in whose tokens replace the others: a page with status 200", async () => {
    const { world, call, expire } = setting();
    await call();
    await expire();
    world.answerToken = (sent) => (isRefresh(sent) ? page(200)() : undefined);
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(2);
    world.answerToken = undefined;
    await expire();
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(2);
  });

  test("is followed by two sign-ins at most if they fail, and by a renewal when the issuer is back", async () => {
    const { world, errors, call, expire } = setting();
    await call();
    await expire();
    world.answerToken = page(404);
    for (let i = 0; i < 5; i++) expect(await failure(call())).toBeInstanceOf(LocalError);
    expect(world.visits).toHaveLength(3);
    world.answerToken = undefined;
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(3);
    expect(errors).toMatchObject([{ message: expect.stringContaining("Blocked by the proxy") as string }]);
  });
});

describe("the parameters of a refresh", () => {
  test("are the granted scopes and the resource", async () => {
    const { world, call, expire } = setting({ scope: "a b c", resource: "https://mcp.example" });
    world.rewrite = async (response, { path }) =>
      path === "/token" ? Response.json({ ...(await response.json()), scope: "a b" }) : response;
    await call();
    await expire();
    expect(await call()).toBe(202);
    const [sent] = refreshes(world);
    expect(sent?.get("scope")).toBe("a b");
    expect(sent?.get("resource")).toBe("https://mcp.example");
  });

  test.each([
    [undefined, "a b"],
    ["", "a b"],
    [" ", null],
  ])("are the requested scopes unless the issuer names others: %j", async (granted, expected) => {
    const { world, call, expire } = setting({ scope: "a b" });
    world.rewrite = async (response, { path }) =>
      path === "/token" ? Response.json({ ...(await response.json()), scope: granted }) : response;
    await call();
    await expire();
    await call();
    expect(refreshes(world)[0]?.get("scope")).toBe(expected);
  });

  test("have no resource if the option is false, and no scope if none is known", async () => {
    const { world, call, expire } = setting({ resource: false });
    world.challenge = "";
    await call();
    await expire();
    await call();
    const [sent] = refreshes(world);
    expect(sent?.has("resource")).toBe(false);
    expect(sent?.has("scope")).toBe(false);
  });

  test.each([
    ["resource", "invalid_target"],
    ["resource", "invalid_request"],
    ["scope", "invalid_scope"],
  ])("are repeated without %s if only this request refuses it with %s", async (name, error) => {
    const { world, call, expire } = setting();
    await call();
    world.answerToken = (sent) => (isRefresh(sent) && sent.has(name) ? oauthError(error, 400)() : undefined);
    for (let i = 0; i < 2; i++) {
      await expire();
      expect(await call()).toBe(202);
    }
    expect(refreshes(world).map((sent) => sent.has(name))).toEqual([true, false, true, false]);
    expect(refreshes(world).every((sent) => sent.has(name === "scope" ? "resource" : "scope"))).toBe(true);
    expect(world.visits).toHaveLength(1);
  });

  test.each(["invalid_target", "invalid_request", "invalid_scope"])(
    "are not repeated after %s with a temporary status",
    async (error) => {
      const { world, call, expire } = setting();
      await call();
      await expire();
      world.answerToken = oauthError(error, 503);
      expect(await failure(call())).toMatchObject({ code: "authorization_failed" });
      // One before the request, and one after its refusal.
      expect(refreshes(world).map((sent) => sent.has("scope") && sent.has("resource"))).toEqual([true, true]);
      world.answerToken = undefined;
      expect(await call()).toBe(202);
      expect(world.visits).toHaveLength(1);
    },
  );

  test("are repeated without both if both are refused", async () => {
    const { world, call, expire } = setting();
    await call();
    world.answerToken = (sent) => {
      if (!isRefresh(sent)) return undefined;
      if (sent.has("resource")) return oauthError("invalid_target", 400)();
      return sent.has("scope") ? oauthError("invalid_scope", 400)() : undefined;
    };
    await expire();
    expect(await call()).toBe(202);
    expect(refreshes(world)).toHaveLength(3);
    expect(world.visits).toHaveLength(1);
  });
});

test.each([0, "0", -1, "", null, "soon", 1e300])(
  "a token with expires_in %j is not renewed before each request",
  async (seconds) => {
    const { world, clock, auth, call } = setting();
    world.rewrite = async (response, { path }) =>
      path === "/token" ? Response.json({ ...(await response.json()), expires_in: seconds }) : response;
    await call();
    await clock.advance(1);
    await call();
    await call();
    expect(world.tokenRequests).toHaveLength(1);
    expect(await auth.whoami(serverUrl)).toMatchObject({ expiresAt: undefined, isRenewable: true });
  },
);
