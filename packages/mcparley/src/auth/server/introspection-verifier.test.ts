import { describe, expect, test } from "vitest";
import { settled } from "../../testing/fake-clock.ts";
import { introspectionVerifier } from "./introspection-verifier.ts";
import type { TokenVerifier } from "./verified-token.ts";

const issuer = "https://as.example";
const audience = "https://mcp.example/mcp";
const active = { active: true, sub: "alice", aud: audience, scope: "notes:read" };
const head = {} as Parameters<TokenVerifier>[1];

/** A verifier, and the requests that wait for a response of its issuer. */
function waiting() {
  const requests: { token: string; answer: (claims: object) => void; fail: () => void }[] = [];
  const verifier = introspectionVerifier({
    issuer,
    audience,
    endpoint: `${issuer}/introspect`,
    client: { id: "notes", secret: "s" },
    fetch: (_, init) =>
      new Promise((resolve, reject) => {
        requests.push({
          token: new URLSearchParams(init?.body as URLSearchParams).get("token") ?? "",
          answer: (claims) => resolve(Response.json(claims)),
          fail: () => reject(new TypeError("fetch failed")),
        });
      }),
  });
  return { requests, verify: (token: string) => Promise.resolve(verifier(token, head)) };
}

/** Verifies a token for which the issuer returns these claims. */
function verified(claims: object): Promise<unknown> {
  const fetch = (): Promise<Response> => Promise.resolve(Response.json(claims));
  const client = { id: "notes", secret: "s" };
  const verifier = introspectionVerifier({ issuer, audience, endpoint: `${issuer}/introspect`, client, fetch });
  return Promise.resolve(verifier("a-token", head));
}

describe("the type of an introspected token", () => {
  test.each([
    {},
    { token_type: "Bearer" },
    { token_type: "DPoP" },
    { token_type: "N_A" },
    { typ: "Bearer" },
    { typ: "at+jwt" },
    { token_use: "access_token" },
    { token_use: "access" },
  ])("%j is that of an access token", async (type) =>
    expect(await verified({ ...active, ...type })).toMatchObject({ subject: "alice" }),
  );

  test.each([
    { token_type: "refresh_token" },
    { token_type: "urn:ietf:params:oauth:token-type:refresh_token" },
    { typ: "Refresh" },
    { typ: "Offline" },
    { typ: "ID" },
    { token_use: "refresh_token" },
    { token_use: "id" },
  ])("%j is refused, although the token is active", async (type) => {
    await expect(verified({ ...active, ...type })).rejects.toThrow("The token is no access token.");
  });
});

describe("introspection requests", () => {
  const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `token-${from + at}`);

  test("for the same token are shared while one is in flight", async () => {
    const { requests, verify } = waiting();
    const results = Promise.all([verify("one"), verify("one"), verify("one")]);
    await settled();
    expect(requests.map(({ token }) => token)).toEqual(["one"]);
    requests[0]?.answer(active);
    expect(await results).toHaveLength(3);
  });

  test("are at most 64 at the same time; further ones are sent in order when others end, also after failures", async () => {
    const { requests, verify } = waiting();
    const results = Promise.allSettled(names(70).map(verify));
    await settled();
    expect(requests).toHaveLength(64);
    requests[0]?.answer(active);
    requests[1]?.fail();
    await settled();
    expect(requests.slice(64).map(({ token }) => token)).toEqual(["token-64", "token-65"]);
    for (let at = 2; at < 70; at++) {
      requests[at]?.answer(active);
      await settled();
    }
    const kinds = (await results).map(({ status }) => status);
    expect(kinds.filter((kind) => kind === "rejected")).toHaveLength(1);
    const more = Promise.all(names(64, 100).map(verify));
    await settled();
    expect(requests).toHaveLength(134);
    for (const request of requests.slice(70)) request.answer(active);
    await more;
  });

  test("are refused as unavailable if 1,000 wait, and known tokens are still accepted", async () => {
    const { requests, verify } = waiting();
    const known = verify("known");
    await settled();
    requests[0]?.answer(active);
    await known;
    const flood = Promise.allSettled(names(1_064).map(verify));
    await settled();
    await expect(verify("one-more")).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("1000"),
    });
    expect(await verify("known")).toMatchObject({ subject: "alice" });
    for (let at = 1; at <= 1_064; at++) {
      while (!requests[at]) await settled();
      requests[at]?.answer({ active: false });
    }
    expect((await flood).every(({ status }) => status === "rejected")).toBe(true);
  });
});
