import { generateKeyPair } from "jose";
import { jwtVerifier } from "mcparley/auth";
import { fakeClock } from "mcparley/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { type SignOptions, type TokenIssuer, makeTokenIssuer } from "./token-issuer.ts";

const start = 1_800_000_000;
const clock = fakeClock(start * 1000);
const now = (): number => clock.now() / 1000;
const evil = "https://evil.example";
let server: ProtectedServer;
let issuer: TokenIssuer;

beforeAll(async () => {
  server = await serveProtected({
    async protect(resource) {
      issuer = await makeTokenIssuer({ issuer: "https://as.example", audience: resource, now });
      const verifier = jwtVerifier({ issuer: issuer.issuer, audience: resource, fetch: issuer.fetch, clock });
      return { resource, issuers: [issuer.issuer], verifier, scopes: ["notes:read"], clock };
    },
  });
});
afterAll(() => server.close());

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

test("a valid token is accepted, and the handler receives its claims but not the token", async () => {
  const token = await issuer.sign({ client_id: "c", roles: ["admin"] });
  const { status, said } = await server.call("whoami", bearer(token));
  expect(status).toBe(200);
  expect(said.includes(token)).toBe(false);
  expect(JSON.parse(said)).toMatchObject({
    issuer: issuer.issuer,
    subject: "alice",
    scopes: ["notes:read"],
    clientId: "c",
    claims: { roles: ["admin"] },
  });
});

describe("rejects with 401 and the reason:", () => {
  const signed = (claims: Parameters<TokenIssuer["sign"]>[0], options?: SignOptions) => (): Promise<string> =>
    issuer.sign(claims, options);
  const parts = async (): Promise<[string, string, string]> => (await issuer.sign()).split(".") as never;
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

  test.each<[string, () => Promise<string>, RegExp]>([
    ["a token for another resource", signed({ aud: "https://other.example/mcp" }), /another audience/],
    ["a token for no resource", signed({ aud: undefined }), /no "aud"/],
    [
      "a token for a resource whose URL starts with the URL of this one",
      signed({ aud: "http://127.0.0.1" }),
      /audience/,
    ],
    [
      "a token whose issuer has an additional slash",
      signed({ iss: "https://as.example/" }),
      /issuer of the token is not accepted/,
    ],
    ["a token of another issuer", signed({ iss: evil }), /issuer of the token is not accepted/],
    ["a token that has expired", signed({ exp: start - 31 }), /expired/],
    ["a token that never expires", signed({ exp: undefined }), /no "exp"/],
    ["a token that is not yet valid", signed({ nbf: start + 31 }), /not valid yet/],
    ["a token without a subject", signed({ sub: undefined }), /no subject/],
    ["a token of another kind", signed({}, { header: { typ: "logout+jwt" } }), /not an access token/],
    [
      "a token bound to a certificate",
      signed({ cnf: { "x5t#S256": "x" } }),
      /method that this server does not support/,
    ],
    ["a token with an unknown kid", signed({ iat: start - 60 }, { header: { kid: "unknown" } }), /does not verify/],
    [
      "a token signed with another key",
      async () => issuer.sign({}, { key: (await generateKeyPair("ES256")).privateKey }),
      /does not verify/,
    ],
    [
      "a token signed by HMAC with the public key",
      async () => {
        const key = new TextEncoder().encode(JSON.stringify(issuer.publicKey()));
        return issuer.sign({}, { header: { alg: "HS256" }, key });
      },
      /algorithm/,
    ],
    [
      "a token with no signature",
      async () => `${encode({ alg: "none", typ: "at+jwt" })}.${(await parts())[1]}.`,
      /no valid JWT|algorithm/,
    ],
    [
      "a token whose claims were changed",
      async () => {
        const [header, , signature] = await parts();
        const claims = { iss: issuer.issuer, aud: server.url, sub: "mallory", exp: start + 300 };
        return `${header}.${encode(claims)}.${signature}`;
      },
      /does not verify/,
    ],
    ["text that is not a JWT", async () => "opaque", /issuer of the token is not accepted/],
  ])("%s", async (_, make, why) => {
    const token = await make();
    const { status, headers, said } = await server.call("whoami", bearer(token));
    expect(status).toBe(401);
    expect(said).toMatch(why);
    expect(said).not.toContain(token);
    const challenge = headers.get("www-authenticate")!;
    expect(challenge).toMatch(/^Bearer error="invalid_token", error_description="/);
    const { origin } = new URL(server.url);
    expect(challenge).toContain(`resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`);
    expect(challenge).toContain('scope="notes:read"');
    expect(challenge).not.toContain(token);
  });
});

test("the clocks of two machines may be 30 seconds apart", async () => {
  for (const claims of [{ exp: start - 29 }, { nbf: start + 29 }]) {
    expect(await server.call("whoami", bearer(await issuer.sign(claims)))).toMatchObject({ status: 200 });
  }
});

describe("transmission of the token", () => {
  test("missing or other credentials are answered with the URL of the metadata and no error code", async () => {
    for (const headers of [{}, { authorization: "Basic YTpi" }] as Record<string, string>[]) {
      const answer = await server.call("whoami", headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(
        /^Bearer resource_metadata="[^"]+", scope="notes:read", DPoP /,
      );
      expect(answer.headers.get("www-authenticate")).not.toContain("error");
    }
  });

  test("a token in the query is refused, even if the header has a valid one", async () => {
    const token = await issuer.sign();
    const names = ["access_token", "a=b&access_token", "a&b=c&ACCESS_TOKEN", "access%5Ftoken", "a=b&%61ccess_token"];
    for (const name of names)
      for (const headers of [{}, bearer(token)]) {
        const answer = await server.call("whoami", headers, { query: `?${name}=${token}` });
        expect(answer.status).toBe(400);
        expect(answer.said).toContain("Authorization header");
        expect(answer.headers.get("www-authenticate")).toContain('error="invalid_request"');
      }
  });

  test.each(["Bearer", "Bearer ", "Bearer a b", "Bearer a,b", "DPoP =", "Bearer é"])(
    "%j is malformed",
    async (authorization) => {
      expect((await server.call("whoami", { authorization })).status).toBe(400);
    },
  );

  test("the authentication scheme is case-insensitive", async () => {
    const authorization = `bEaReR ${await issuer.sign()}`;
    expect((await server.call("whoami", { authorization })).status).toBe(200);
  });

  test("every method requires a token", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      expect((await server.call("whoami", {}, { method })).status).toBe(401);
    }
  });
});

test("a caller without scopes receives all required scopes at once", async () => {
  const answer = await server.call("write", bearer(await issuer.sign({ scope: "notes:read notes:write" })));
  expect(answer.status).toBe(403);
  const challenge = answer.headers.get("www-authenticate")!;
  expect(challenge).toMatch(
    /^Bearer error="insufficient_scope", resource_metadata="[^"]+", scope="notes:write notes:sign"/,
  );
});

test("a verifier requires an issuer and an audience", () => {
  const audience = "https://mcp.example/mcp";
  for (const options of [
    { audience },
    { issuer: evil },
    { issuer: evil, audience: "" },
    { issuer: evil, audience: [] },
  ]) {
    expect(() => jwtVerifier(options as never)).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  }
});

test.each(["none", "HS256", "RS1", ""])("a verifier cannot be created for the algorithm %j", (algorithm) => {
  const make = (): unknown => jwtVerifier({ issuer: evil, audience: "https://a.example", algorithms: [algorithm] });
  expect(make).toThrow(`algorithms contains ${JSON.stringify(algorithm)}, which is not supported`);
});
