import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import type { UpstreamToken } from "./options.ts";
import { tokenExchange } from "./token-exchange.ts";
import { principalTokens } from "./verified-token.ts";

const issuer = "https://as.example";
const jwt = (claims: object): string =>
  `${[{ alg: "none" }, claims].map((part) => btoa(JSON.stringify(part)).replace(/=+$/, "")).join(".")}.`;

/** Returns a token whose authorization server answers with this response. */
function exchanged(
  response: Response | Error,
  target: { resource?: string; audience?: string } = { resource: "https://calendar.example" },
): Promise<UpstreamToken> {
  const client = { id: "notes", secret: "s3cr3t" };
  const fetch = async (): Promise<Response> => {
    if (response instanceof Error) throw response;
    return response;
  };
  const upstream = tokenExchange({ issuer, tokenEndpoint: `${issuer}/token`, client, fetch, ...target });
  return upstream.tokenFor({ principal: principalWith("token-a", issuer) });
}

/** A token exchange, and the tokens that were sent to its authorization server. */
function exchange(more: object = {}) {
  const sent: string[] = [];
  const calendar = tokenExchange({
    issuer: "https://as.example",
    tokenEndpoint: "https://as.example/token",
    client: { id: "notes", secret: "s" },
    resource: "https://calendar.example",
    fetch: (_, init) => {
      const token = new URLSearchParams(init?.body as URLSearchParams).get("subject_token") ?? "";
      sent.push(token);
      return Promise.resolve(
        Response.json({ access_token: `upstream of ${token}`, token_type: "Bearer", expires_in: 600, ...more }),
      );
    },
  });
  return { calendar, sent };
}

function principalWith(token: string, issuer: string) {
  const principal = { issuer, subject: "alice", scopes: [] };
  principalTokens.set(principal, token);
  return principal;
}

describe("an exchanged token", () => {
  test("is not returned for a principal of another issuer with the same subject", async () => {
    const { calendar, sent } = exchange();
    const first = await calendar.tokenFor({ principal: principalWith("token-a", "https://a.example") });
    const second = await calendar.tokenFor({ principal: principalWith("token-b", "https://b.example") });
    expect(first.token).toBe("upstream of token-a");
    expect(second.token).toBe("upstream of token-b");
    expect(sent).toEqual(["token-a", "token-b"]);
  });

  test("is not returned for another token of the same principal, which may have other scopes", async () => {
    const { calendar } = exchange();
    await calendar.tokenFor({ principal: principalWith("broad", "https://a.example") });
    const second = await calendar.tokenFor({ principal: principalWith("narrow", "https://a.example") });
    expect(second.token).toBe("upstream of narrow");
  });

  test.each([{ expires_in: null }, { expires_in: 0 }, { expires_in: "", scope: null, refresh_token: null }])(
    "with %j has an unknown lifetime, and is cached",
    async (more) => {
      const { calendar, sent } = exchange(more);
      const principal = principalWith("token", "https://a.example");
      for (let count = 0; count < 2; count++) {
        expect(await calendar.tokenFor({ principal })).toEqual({ token: "upstream of token", scopes: undefined });
      }
      expect(sent).toEqual(["token"]);
    },
  );
});

describe("the audience of an exchanged token", () => {
  const issue = (claims: object, target?: Parameters<typeof exchanged>[1]): Promise<UpstreamToken> =>
    exchanged(Response.json({ access_token: jwt(claims), token_type: "Bearer" }), target);

  test.each([
    { aud: "https://calendar.example" },
    { aud: "https://calendar.example/" },
    { aud: "HTTPS://Calendar.Example:443" },
    { aud: ["account", "https://calendar.example"] },
  ])("%j is that of the resource", async (claims) => {
    expect((await issue(claims)).token).toBe(jwt(claims));
  });

  test.each([
    [{ aud: "account" }, 'has the audience "account"'],
    [{ aud: ["account", "https://calendar.example.evil"] }, '"https://calendar.example.evil"'],
    [{ aud: "https://calendar.example/v1" }, "https://calendar.example/v1"],
    [{ aud: [] }, "has no audience"],
    [{}, "has no audience"],
    [{ aud: null }, "has no audience"],
    [{ aud: ["x".repeat(100_000)] }, "xxx"],
  ])("%j is another one, and the token is not returned", async (claims, reason) => {
    const error = await issue(claims).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "unauthorized", message: expect.stringContaining(reason), data: { issuer } });
    const { message } = error as Error;
    expect(message).toContain('it was requested for "https://calendar.example"');
    expect(message.length).toBeLessThan(500);
    expect(message).not.toContain(jwt(claims));
  });

  test("is the requested audience", async () => {
    expect((await issue({ aud: "calendar" }, { audience: "calendar" })).token).toBe(jwt({ aud: "calendar" }));
    await expect(issue({ aud: "calendar" }, { audience: "mail" })).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("is the resource with or without a final slash, but the audience only as it was requested", async () => {
    const resource = "https://calendar.example/v1";
    expect((await issue({ aud: `${resource}/` }, { resource })).token).toBeDefined();
    expect((await issue({ aud: resource }, { resource: `${resource}/` })).token).toBeDefined();
    await expect(issue({ aud: "calendar/" }, { audience: "calendar" })).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("is one of the requested audience and resource", async () => {
    const target = { audience: "calendar", resource: "https://calendar.example" };
    expect((await issue({ aud: "calendar" }, target)).token).toBe(jwt({ aud: "calendar" }));
    expect((await issue({ aud: "https://calendar.example" }, target)).token).toBeDefined();
    await expect(issue({ aud: "account" }, target)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test.each(["opaque", "a.b", "a.b.c", "a.b.c.d.e"])("is unknown for %s, which is no JWT", async (token) => {
    expect((await exchanged(Response.json({ access_token: token }))).token).toBe(token);
  });
});

test.each([0, "0", -1, "", null, "soon"])("a token with expires_in %j is stored for a minute", async (seconds) => {
  const clock = fakeClock(1_000_000);
  let count = 0;
  const fetch = async (): Promise<Response> =>
    Response.json({ access_token: `t${++count}`, expires_in: seconds }, { status: 201 });
  const client = { id: "notes", secret: "s" };
  const calendar = tokenExchange({
    issuer,
    tokenEndpoint: `${issuer}/token`,
    client,
    audience: "calendar",
    fetch,
    clock,
  });
  const principal = principalWith("token-a", issuer);
  expect(await calendar.tokenFor({ principal })).toEqual({ token: "t1", scopes: undefined });
  await clock.advance(59_999);
  expect((await calendar.tokenFor({ principal })).token).toBe("t1");
  await clock.advance(1);
  expect((await calendar.tokenFor({ principal })).token).toBe("t2");
});

describe("a refused exchange", () => {
  test.each([
    [Response.json({ error: "invalid_request", error_description: "Token is bound" }, { status: 400 })],
    [Response.json({ error: "invalid_request", error_description: "Token is bound" })],
    [new Response(new URLSearchParams({ error: "invalid_request", error_description: "Token is bound" }))],
  ])("has the reason of the issuer", async (response) => {
    await expect(exchanged(response)).rejects.toMatchObject({
      code: "unauthorized",
      message:
        'Cannot get an upstream token: The authorization server "https://as.example" refused to exchange a token: invalid_request (Token is bound).',
      data: { error: "invalid_request", description: "Token is bound" },
    });
  });

  test("has a reason that is printable, bounded and without secrets", async () => {
    const description = `\u001b[31mtoken-a s3cr3t\n${"x".repeat(100_000)}`;
    const error = await exchanged(
      Response.json({ error: "invalid_grant", error_description: description }, { status: 400 }),
    ).catch((caught: unknown) => caught);
    const text = JSON.stringify([error, (error as Error).message, (error as { data: unknown }).data]);
    expect(text.length).toBeLessThan(2_000);
    expect(text).not.toMatch(/token-a|s3cr3t|\\u001b|\\n/);
  });

  test.each([408, 429, 500, 503])("is none with status %i: the issuer is unavailable", async (status) => {
    const response = Response.json({ error: "temporarily_unavailable" }, { status });
    await expect(exchanged(response)).rejects.toMatchObject({ code: "unreachable" });
  });

  test("is one without a body, and none without a response", async () => {
    await expect(exchanged(new Response(null, { status: 403 }))).rejects.toMatchObject({ code: "unauthorized" });
    await expect(exchanged(new TypeError("fetch failed"))).rejects.toMatchObject({
      code: "unreachable",
    });
  });
});
