import { SignJWT, exportJWK, generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import { rawHttp } from "mcparley-tests/support/raw-http.ts";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { introspectionVerifier } from "./introspection-verifier.ts";
import type { IntrospectionVerifierOptions } from "./options.ts";
import { jwtVerifier } from "./jwt-verifier.ts";
import { protectedResource } from "./protected-resource.ts";
import type { TokenVerifier } from "./verified-token.ts";

/* Errors that only the operator of a server can correct: `onError` receives the reason, and callers do not. */

const resource = "https://mcp.example/mcp";
const issuer = "https://as.example";
const start = 1_800_000_000;
const token = "canary-token-0123456789";
const secret = "canary-secret-0123456789";

async function call(verifier: TokenVerifier, sent = token) {
  const errors: unknown[] = [];
  const tools = { whoami: tool({ call: () => "you" }) };
  const server = createServer({ name: "test", version: "1.0.0", tools, onError: (error) => void errors.push(error) });
  const auth = protectedResource({ resource, issuers: [issuer], verifier, clock: fakeClock(start * 1000) });
  const { fetch } = toFetch(server, { auth, path: "/mcp", allowedHosts: ["mcp.example"] });
  const headers = { authorization: `Bearer ${sent}` };
  const answer = await rawHttp(resource, fetch).modern("tools/call", { name: "whoami" }, { headers });
  return { answer, text: await answer.text(), errors: errors as (Error & { code?: string })[] };
}

describe("an introspection endpoint", () => {
  const json = (status: number, body: object, headers: Record<string, string> = {}) =>
    Response.json(body, { status, headers });
  const refusal = { error: "invalid_client", error_description: `The secret ${secret} is wrong for ${token}.` };
  const introspect = (respond: () => Response, options: Partial<IntrospectionVerifierOptions> = {}) =>
    call(
      introspectionVerifier({
        issuer,
        audience: resource,
        client: { id: "notes-server", secret },
        endpoint: `${issuer}/introspect`,
        fetch: async () => respond(),
        ...options,
      }),
    );

  test.each<[string, () => Response, RegExp]>([
    [
      "401 with an OAuth error",
      () => json(401, refusal),
      /invalid_client \(The secret \[redacted\] is wrong for \[redacted\]\.\)/,
    ],
    [
      "401 with a challenge",
      () => new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="as"' } }),
      /invalid_client/,
    ],
    ["401 with both", () => json(401, refusal, { "www-authenticate": "Basic" }), /invalid_client/],
    ["401 without a body", () => new Response("", { status: 401 }), /status 401/],
    ["403 with an OAuth error", () => json(403, { error: "access_denied" }), /access_denied/],
    ["403 with a page", () => new Response("<h1>Forbidden</h1>", { status: 403 }), /Forbidden/],
    ["400 with invalid_client", () => json(400, { error: "invalid_client" }), /invalid_client/],
    ["400 with unauthorized_client", () => json(400, { error: "unauthorized_client" }), /unauthorized_client/],
    ["200 with invalid_client", () => json(200, { error: "invalid_client" }), /invalid_client/],
  ])("that answers %s is reported as a refusal of the client", async (_, respond, reason) => {
    const { answer, text, errors } = await introspect(respond);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(answer.headers.get("www-authenticate")).toBe(null);
    expect(text).not.toMatch(/client|canary/);
    expect(errors).toMatchObject([{ code: "authorization_failed" }]);
    expect(errors[0]?.message).toMatch(
      /^The authorization server https:\/\/as\.example refused the client "notes-server" of this server/,
    );
    expect(errors[0]?.message).toMatch(reason);
    expect(errors[0]?.message).not.toContain("canary");
  });

  test.each<[string, () => Response, string, RegExp]>([
    ["500", () => new Response("", { status: 500 }), "unreachable", /did not respond to the introspection request/],
    [
      "503 with an error",
      () => json(503, { error: "temporarily_unavailable" }),
      "unreachable",
      /temporarily_unavailable/,
    ],
    ["429", () => new Response("", { status: 429 }), "unreachable", /status 429/],
    [
      "400 with an OAuth error",
      () => json(400, { error: "invalid_request" }),
      "authorization_failed",
      /invalid_request/,
    ],
    ["404", () => new Response("", { status: 404 }), "authorization_failed", /status 404/],
    ["a page", () => new Response("<html>"), "authorization_failed", /invalid response/],
    [
      "a redirect",
      () => new Response("", { status: 302, headers: { location: "https://b.example" } }),
      "unreachable",
      /redirects/,
    ],
  ])(
    "that answers %s is reported with the reason, and not as a refusal of the client",
    async (_, respond, code, reason) => {
      const { answer, errors } = await introspect(respond);
      expect(answer.status).toBe(503);
      expect(errors).toMatchObject([{ code, message: expect.stringMatching(reason) }]);
      expect(errors[0]?.message).not.toMatch(/refused the client|canary/);
    },
  );

  test("whose connection breaks is reported as unavailable", async () => {
    const { answer, errors } = await introspect(() => {
      throw new TypeError("fetch failed");
    });
    expect(answer.status).toBe(503);
    expect(errors).toMatchObject([{ code: "unreachable", message: expect.stringContaining("did not respond") }]);
  });

  test.each<[string, object, Partial<IntrospectionVerifierOptions>, RegExp]>([
    [
      "has no introspection endpoint",
      {},
      {},
      /has no introspection_endpoint in its metadata\. Set the option endpoint/,
    ],
    ["has a null endpoint", { introspection_endpoint: null }, {}, /has no introspection_endpoint/],
    [
      "accepts no secret",
      { introspection_endpoint: `${issuer}/introspect`, token_endpoint_auth_methods_supported: ["private_key_jwt"] },
      {},
      /accepts no client secret, only \["private_key_jwt"\]/,
    ],
    [
      "gets an unreadable key",
      {},
      { client: { id: "notes-server", privateKey: "no key" }, endpoint: `${issuer}/i` },
      /private key/,
    ],
  ])("of an issuer that %s is reported with the cure", async (_, metadata, options, reason) => {
    const { answer, errors } = await introspect(() => Response.json({ issuer, ...metadata }), {
      ...(!options.endpoint && { endpoint: undefined as never }),
      ...options,
    });
    expect(answer.status).toBe(503);
    expect(errors).toMatchObject([{ code: "authorization_failed", message: expect.stringMatching(reason) }]);
  });
});

describe("a realm that is disabled", () => {
  test.each([
    ["from the start", 403, 0],
    ["from the start, and unknown", 404, 0],
    ["after its keys were loaded", 403, 601_000],
    ["after its keys were loaded, and unknown", 404, 601_000],
  ])("%s is answered with 503, status %d, and accepted when it is enabled again", async (_, status, used) => {
    const clock = fakeClock(start * 1000);
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const documents: Record<string, unknown> = {
      "/.well-known/oauth-authorization-server": { issuer, jwks_uri: `${issuer}/jwks` },
      "/jwks": { keys: [await exportJWK(publicKey)] },
    };
    let isEnabled = used > 0;
    const fetch = async (input: URL | RequestInfo): Promise<Response> =>
      isEnabled ? Response.json(documents[new URL(new Request(input).url).pathname]) : new Response("", { status });
    const claims = { iss: issuer, aud: resource, sub: "alice", exp: start + 3_600 };
    const signed = await new SignJWT(claims).setProtectedHeader({ alg: "ES256" }).sign(privateKey);
    const verifier = jwtVerifier({ issuer, audience: resource, fetch, clock });
    if (used > 0) expect((await call(verifier, signed)).answer.status).toBe(200);
    isEnabled = false;
    await clock.advance(used);
    const { answer, errors } = await call(verifier, signed);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(errors).toMatchObject([{ code: "unreachable", message: expect.stringContaining("https://as.example") }]);
    isEnabled = true;
    await clock.advance(4_999);
    expect((await call(verifier, signed)).answer.status).toBe(503);
    await clock.advance(1);
    expect((await call(verifier, signed)).answer.status).toBe(200);
  });
});

describe("a wrong clock", () => {
  const clock = fakeClock(start * 1000);
  const claims = { iss: issuer, aud: resource, sub: "alice", iat: start, exp: start + 300 };

  async function jwtWith(more: object) {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const signed = await new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: "ES256" }).sign(privateKey);
    const jwks = { keys: [await exportJWK(publicKey)] };
    return call(jwtVerifier({ issuer, audience: resource, jwks, clock }), signed);
  }
  const introspectedWith = (more: object) => {
    const fetch = async (): Promise<Response> => Response.json({ active: true, ...claims, ...more });
    const client = { id: "notes-server", secret };
    return call(introspectionVerifier({ issuer, audience: resource, client, endpoint: `${issuer}/i`, fetch, clock }));
  };

  describe.each([
    ["JWT", jwtWith],
    ["introspected token", introspectedWith],
  ])("that refuses a %s", (_, callWith) => {
    test.each<[object, string, string]>([
      [
        { nbf: start + 31 },
        "The token is not valid yet by the clock of this server.",
        '"nbf" of a token of https://as.example is 31 s in the future',
      ],
      [{ nbf: start + 7_200 }, "The token is not valid yet by the clock of this server.", "7200 s in the future"],
      [
        { iat: start - 40, exp: start - 30 },
        "The token has expired.",
        '"exp" of a token of https://as.example is 30 s in the past',
      ],
      [{ iat: start - 59, exp: start - 49 }, "The token has expired.", "49 s in the past"],
    ])("%j is reported with the difference, which the caller does not receive", async (more, said, reported) => {
      const { answer, text, errors } = await callWith(more);
      expect(answer.status).toBe(401);
      expect(JSON.parse(text)).toMatchObject({ error: { message: said } });
      expect(answer.headers.get("www-authenticate")).toContain(`error_description="${said}"`);
      expect(errors).toMatchObject([{ code: "unauthorized", message: expect.stringContaining(reported) }]);
    });

    test.each([{ iat: start - 60, exp: start - 30 }, { exp: start - 30 }])(
      "the expiry of %j is ordinary",
      async (more) => {
        const { answer, errors } = await callWith({ iat: undefined, ...more });
        expect(answer.status).toBe(401);
        expect(errors).toEqual([]);
      },
    );
  });
});
