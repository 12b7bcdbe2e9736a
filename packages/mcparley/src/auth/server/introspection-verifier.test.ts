import { describe, expect, test } from "vitest";
import { flushPromises } from "../../testing/fake-clock.ts";
import { introspectionVerifier } from "./introspection-verifier.ts";
import { InvalidToken, type TokenVerifier } from "./verified-token.ts";

const issuer = "https://as.example";
const audience = "https://mcp.example/mcp";
const active = { active: true, sub: "alice", aud: audience, scope: "notes:read" };
const head = {} as Parameters<TokenVerifier>[1];

/** A verifier, and the requests that wait for a response of its issuer. */
function waiting() {
  const watchers = new Set<() => void>();
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
        for (const watcher of watchers) watcher();
      }),
  });
  /** Resolves when this number of requests was sent. */
  const sent = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (requests.length < count) return;
        watchers.delete(check);
        resolve();
      };
      watchers.add(check);
      check();
    });
  return { requests, sent, verify: (token: string) => Promise.resolve(verifier(token, head)) };
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
  ])("%j is accepted", async (type) =>
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
  ])("%j is rejected, although the token is active", async (type) => {
    await expect(verified({ ...active, ...type })).rejects.toThrow("The token is not an access token.");
  });
});

test("the client is authenticated by a method that the metadata lists for introspection", async () => {
  const metadata = {
    issuer,
    introspection_endpoint: `${issuer}/introspect`,
    introspection_endpoint_auth_methods_supported: ["client_secret_post"],
    token_endpoint_auth_methods_supported: ["client_secret_basic"],
  };
  let sent = new URLSearchParams();
  const fetch: typeof globalThis.fetch = async (_, init) => {
    if (init?.method !== "POST") return Response.json(metadata);
    sent = new URLSearchParams(init.body as string);
    return Response.json(active);
  };
  const verifier = introspectionVerifier({ issuer, audience, client: { id: "notes", secret: "s3cr3t" }, fetch });
  expect(await verifier("a-token", head)).toMatchObject({ subject: "alice" });
  expect(sent.get("client_secret")).toBe("s3cr3t");
});

describe("the response of the issuer", () => {
  const answered = (response: Response): Promise<unknown> => {
    const client = { id: "notes", secret: "s3cr3t" };
    const fetch = (): Promise<Response> => Promise.resolve(response);
    const verifier = introspectionVerifier({ issuer, audience, endpoint: `${issuer}/introspect`, client, fetch });
    return Promise.resolve(verifier("a-token", head));
  };

  test.each([
    ["has null members and status 201", Response.json({ ...active, cnf: null, nbf: null }, { status: 201 })],
    ["separates scopes by commas", Response.json({ ...active, scope: "notes:read,other" })],
    ["has members that are not understood", Response.json({ ...active, session_state: { a: [1] } })],
  ])("is accepted if it %s", async (_, response) => {
    expect(await answered(response)).toMatchObject({
      subject: "alice",
      scopes: expect.arrayContaining(["notes:read"]),
    });
  });

  test.each([
    ["of another issuer", { ...active, iss: "https://other.example" }],
    ["of another audience", { ...active, aud: "https://other.example" }],
    ["without an audience", { ...active, aud: null }],
    ["that is not active", { active: false }],
    ["that is bound by another method", { ...active, cnf: { "x5t#S256": "a" } }],
  ])("is refused for a token %s", async (_, claims) => {
    await expect(answered(Response.json(claims))).rejects.toBeInstanceOf(InvalidToken);
  });

  test("of another issuer is refused with both values", async () => {
    await expect(answered(Response.json({ ...active, iss: "https://other.example" }))).rejects.toThrow(
      'The token\'s "iss" is "https://other.example", expected "https://as.example".',
    );
  });

  test("that is missing is not the reason of the issuer", async () => {
    const { requests, sent, verify } = waiting();
    const result = verify("one");
    await sent(1);
    requests[0]?.fail();
    await expect(result).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("did not respond to the introspection request"),
    });
  });

  test.each([
    ["with a status", { status: 401 }],
    ["with status 200", { status: 200 }],
  ])("that refuses the client %s has its reason in the error", async (_, init) => {
    const refusal = { error: "invalid_client", error_description: "Wrong secret s3cr3t for a-token" };
    await expect(answered(Response.json(refusal, init))).rejects.toMatchObject({
      code: "authorization_failed",
      message: expect.stringMatching(
        /refused the client .* refused to introspect a token: invalid_client \(Wrong secret \[redacted\] for \[redacted\]\)\.$/,
      ),
    });
  });
});

describe("introspection requests", () => {
  const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `token-${from + at}`);

  test("for the same token are shared while one is in flight", async () => {
    const { requests, sent, verify } = waiting();
    const results = Promise.all([verify("one"), verify("one"), verify("one")]);
    await sent(1);
    await flushPromises();
    expect(requests.map(({ token }) => token)).toEqual(["one"]);
    requests[0]?.answer(active);
    expect(await results).toHaveLength(3);
  });

  test("at most 64 run at the same time; further ones are sent when others end, also after failures", async () => {
    const { requests, sent, verify } = waiting();
    const results = Promise.allSettled(names(70).map(verify));
    await sent(64);
    await flushPromises();
    expect(requests).toHaveLength(64);
    requests[0]?.answer(active);
    requests[1]?.fail();
    await sent(66);
    await flushPromises();
    expect(requests).toHaveLength(66);
    for (let at = 2; at < 70; at++) {
      await sent(at + 1);
      requests[at]?.answer(active);
    }
    const kinds = (await results).map(({ status }) => status);
    expect(kinds.filter((kind) => kind === "rejected")).toHaveLength(1);
    const more = Promise.all(names(64, 100).map(verify));
    await sent(134);
    for (const request of requests.slice(70)) request.answer(active);
    expect(await more).toHaveLength(64);
  });

  test("are rejected as unavailable if 1,000 wait, and cached tokens are still accepted", async () => {
    const { requests, sent, verify } = waiting();
    const known = verify("known");
    await sent(1);
    requests[0]?.answer(active);
    await known;
    const flood = names(1_070).map((name) => verify(name).catch((error: Error) => error));
    const [first] = await Promise.all([Promise.race(flood), sent(65)]);
    expect(first).toMatchObject({ code: "unreachable", message: expect.stringContaining("1000") });
    expect(await verify("known")).toMatchObject({ subject: "alice" });
    for (let at = 1; at <= 1_064; at++) {
      await sent(at + 1);
      requests[at]?.answer({ active: false });
    }
    const ends = (await Promise.all(flood)).map((error) => (error as { code?: string }).code ?? "inactive");
    expect(ends.filter((end) => end === "unreachable")).toHaveLength(6);
    expect(ends.filter((end) => end === "inactive")).toHaveLength(1_064);
    expect(requests).toHaveLength(1_065);
  });
});
