import { type JWK, SignJWT, exportJWK, generateKeyPair } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { introspectionVerifier } from "./introspection-verifier.ts";
import { jwtVerifier } from "./jwt-verifier.ts";
import type { TokenVerifier, VerifiedToken } from "./verified-token.ts";

/* Tokens and documents of issuers with members that are unknown, unusual or without a value. */

const issuer = "https://as.example";
const audience = "https://mcp.example/mcp";
const head = {} as Parameters<TokenVerifier>[1];
const now = (): number => Math.floor(Date.now() / 1000);
let pair: Awaited<ReturnType<typeof generateKeyPair>>;
let key: JWK;
let encryption: JWK;
let otherKey: JWK;

beforeAll(async () => {
  pair = await generateKeyPair("ES256");
  key = await exportJWK(pair.publicKey);
  otherKey = await exportJWK((await generateKeyPair("ES256")).publicKey);
  encryption = { ...(await exportJWK((await generateKeyPair("RS256")).publicKey)), kid: "e", use: "enc" };
});

/** Verifies a JWT with these claims and members of its header over good ones. */
async function verifiedJwt(claims: object, header: object = {}, keys?: unknown[]): Promise<VerifiedToken | undefined> {
  const good = { iss: issuer, aud: audience, sub: "alice", iat: now(), exp: now() + 300, scope: "notes:read" };
  const token = await new SignJWT({ ...good, ...claims })
    .setProtectedHeader({ alg: "ES256", kid: "k", typ: "at+jwt", ...header })
    .sign(pair.privateKey);
  const documents: Record<string, unknown> = {
    "/.well-known/oauth-authorization-server": { issuer, jwks_uri: `${issuer}/jwks`, unknown: null },
    "/jwks": { keys: keys ?? [{ ...key, kid: "k" }], unknown: {} },
  };
  const fetch = async (input: URL | RequestInfo): Promise<Response> =>
    Response.json(documents[new URL(new Request(input).url).pathname]);
  return jwtVerifier({ issuer, audience, fetch })(token, head);
}

/** Verifies a token for which the issuer returns these members over good ones. */
async function introspected(claims: object): Promise<VerifiedToken | undefined> {
  const answer = { active: true, sub: "alice", aud: audience, scope: "notes:read", ...claims };
  const client = { id: "notes", secret: "s" };
  const fetch = async (): Promise<Response> => Response.json(answer);
  return introspectionVerifier({ issuer, audience, endpoint: `${issuer}/introspect`, client, fetch })("a-token", head);
}

const ways = [
  ["JWT", verifiedJwt],
  ["introspection answer", introspected],
] as const;

describe.each(ways)("a %s", (_, verified) => {
  test.each<[object, Partial<VerifiedToken>]>([
    [{ "https://as.example/roles": ["a"], unknown: { a: [null] } }, {}],
    [{ aud: [audience] }, { audience: [audience] }],
    [{ aud: ["https://other.example", audience, 1] }, { audience: ["https://other.example", audience] }],
    [{ scope: ["notes:read", "notes:write"] }, { scopes: ["notes:read", "notes:write"] }],
    [{ scope: ["notes:read notes:write", 1] }, { scopes: ["notes:read", "notes:write"] }],
    [{ scope: undefined, scp: ["notes:read"] }, { scopes: ["notes:read"] }],
    [{ scope: "", scp: "notes:write" }, { scopes: ["notes:write"] }],
    [{ scope: null, scp: ["notes:write"] }, { scopes: ["notes:write"] }],
    [{ scope: [], scp: [] }, { scopes: [] }],
    [{ exp: now() + 299.5, iat: now() - 0.5, nbf: now() - 1.25 }, { expiresAt: expect.closeTo(now() + 299.5, -1) }],
    [{ client_id: null, azp: "app", username: null }, { clientId: "app" }],
    [
      { sub: null, client_id: "app" },
      { subject: "app", clientId: "app" },
    ],
  ])("with %j is accepted", async (claims, expected) => {
    expect(await verified(claims)).toMatchObject({ subject: "alice", ...expected });
  });

  test.each<[object, string | undefined]>([
    [{ cnf: undefined }, undefined],
    [{ cnf: null }, undefined],
    [{ cnf: {} }, undefined],
    [{ cnf: { "kc-jkt-type": "jkt" } }, undefined],
    [{ cnf: { jkt: "thumbprint" } }, "thumbprint"],
    [{ cnf: { jkt: "thumbprint", "kc-jkt-type": "jkt" } }, "thumbprint"],
    [{ cnf: { jkt: "thumbprint", jwk: null, unknown: { kid: "a" } } }, "thumbprint"],
    [{ cnf: { jkt: null } }, undefined],
  ])("with %j is accepted, and is bound to the key %s", async (claims, jkt) => {
    expect((await verified(claims))?.jkt).toBe(jkt);
  });

  test.each<[object, RegExp]>([
    [{ cnf: { jwk: {} } }, /method that this server does not support: "jwk"/],
    [{ cnf: { kid: "a" } }, /"kid"/],
    [{ cnf: { jku: "https://as.example/jwks", kid: "a" } }, /"(kid|jku)"/],
    [{ cnf: { jwe: "a" } }, /"jwe"/],
    [{ cnf: { osc: {} } }, /"osc"/],
    [{ cnf: { "x5t#S256": "a" } }, /"x5t#S256"/],
    [{ cnf: { jkt: "thumbprint", "x5t#S256": "a" } }, /"x5t#S256"/],
    [{ cnf: { jkt: "thumbprint", jwk: {}, unknown: 1 } }, /"jwk"/],
    [{ cnf: { jkt: "" } }, /"jkt"/],
    [{ cnf: { jkt: ["thumbprint"] } }, /"jkt"/],
    [{ cnf: "thumbprint" }, /"cnf"/],
    [{ cnf: ["thumbprint"] }, /"cnf"/],
    [{ aud: null }, /audience/],
    [{ aud: [] }, /audience/],
    [{ aud: { [audience]: true } }, /audience/],
    [{ sub: null }, /no subject/],
    [{ sub: 7 }, /no subject/],
  ])("with %j is refused, with the reason", async (claims, reason) => {
    const refused = verified(claims).catch((error: unknown) => error);
    expect(await refused).toMatchObject({ name: "InvalidToken", message: expect.stringMatching(reason) });
  });
});

describe("the header of a JWT", () => {
  test.each([
    { typ: "at+jwt" },
    { typ: "AT+JWT" },
    { typ: "application/at+jwt" },
    { typ: "JWT" },
    { typ: "jwt" },
    { typ: undefined },
    { typ: null },
    { typ: "" },
    { kid: undefined },
    { kid: null },
    { kid: "k", x5t: "a", x5c: null, jku: "https://evil.example/jwks", unknown: [] },
  ])("with %j is accepted", async (header) => {
    expect(await verifiedJwt({}, header)).toMatchObject({ subject: "alice" });
  });

  test.each<[object, RegExp]>([
    [{ typ: "logout+jwt" }, /not an access token/],
    [{ typ: "dpop+jwt" }, /not an access token/],
    [{ typ: 5 }, /not an access token/],
    [{ typ: ["at+jwt"] }, /not an access token/],
  ])("with %j is refused, with the reason", async (header, reason) => {
    await expect(verifiedJwt({}, header)).rejects.toThrow(reason);
  });

  // RFC 7515, 4.1.11: an extension that is critical must be understood.
  test("with a critical extension is refused", async () => {
    const token = [
      { alg: "ES256", kid: "k", crit: ["exp"], exp: 1 },
      { iss: issuer, aud: audience, exp: now() + 300 },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const signed = await crypto.subtle.sign(
      { name: "ECDSA", hash: "SHA-256" },
      pair.privateKey,
      new TextEncoder().encode(token),
    );
    const verifier = jwtVerifier({ issuer, audience, jwks: { keys: [{ ...key, kid: "k" }] } });
    const verified = verifier(`${token}.${Buffer.from(signed).toString("base64url")}`, head);
    await expect(verified).rejects.toThrow("The token is not a valid JWT.");
  });
});

test.each([
  [true, { subject: "alice" }],
  [false, /not a valid JWT/],
])("a JWT with the critical extension b64 of %s follows RFC 7797", async (b64, expected) => {
  const claims = { iss: issuer, aud: audience, sub: "alice", exp: now() + 300 };
  const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: "k", crit: ["b64"], b64 })).toString("base64url");
  const text = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  const algorithm = { name: "ECDSA", hash: "SHA-256" };
  const signature = await crypto.subtle.sign(algorithm, pair.privateKey, new TextEncoder().encode(text));
  const verify = jwtVerifier({ issuer, audience, jwks: { keys: [{ ...key, kid: "k" }] } });
  const verified = verify(`${text}.${Buffer.from(signature).toString("base64url")}`, head);
  if (expected instanceof RegExp) await expect(verified).rejects.toThrow(expected);
  else expect(await verified).toMatchObject(expected);
});

describe("a set of keys", () => {
  test.each<[string, () => unknown[]]>([
    [
      "keys of an unknown type",
      () => [
        { kty: "XYZ", kid: "k" },
        { ...key, kid: "k" },
      ],
    ],
    [
      "keys of an unknown algorithm",
      () => [
        { ...otherKey, kid: "k", alg: "XY512" },
        { ...key, kid: "k" },
      ],
    ],
    [
      "keys of an unknown curve",
      () => [
        { ...otherKey, kid: "k", crv: "P-000" },
        { ...key, kid: "k" },
      ],
    ],
    ["keys for encryption", () => [encryption, { ...key, kid: "k", use: "sig" }]],
    ["entries that are no keys", () => [null, "key", 1, [], {}, { ...key, kid: "k" }]],
    ["unknown members", () => [{ ...key, kid: "k", unknown: [], x5t: "a", "x-created": 1 }]],
    [
      "members without a value",
      () => [{ ...key, kid: "k", alg: null, use: null, key_ops: null, ext: null, x5c: null }],
    ],
    ["empty members", () => [{ ...key, kid: "k", alg: "", use: "", key_ops: [] }]],
    ["the operations of a key", () => [{ ...key, kid: "k", key_ops: ["verify"], ext: "true" }]],
    ["one key without an id", () => [key]],
    ["several keys without an id", () => [otherKey, key, encryption]],
    ["a key with a null id", () => [{ ...key, kid: null }]],
    [
      "two keys with the same id",
      () => [
        { ...otherKey, kid: "k" },
        { ...key, kid: "k" },
      ],
    ],
  ])("with %s is used", async (_, keys) => {
    expect(await verifiedJwt({}, {}, keys())).toMatchObject({ subject: "alice" });
  });

  test("with a key of another id is not used for a token that names its key", async () => {
    await expect(verifiedJwt({ iat: 1 }, {}, [{ ...key, kid: "other" }])).rejects.toThrow('the issuer has no key "k"');
  });

  test.each([[{ keys: null }], [{}], [[]], ["keys"]])(
    "that is %j is reported as an error of the issuer",
    async (document) => {
      const fetch = async (): Promise<Response> => Response.json(document);
      const jwt = await new SignJWT({ iss: issuer }).setProtectedHeader({ alg: "ES256" }).sign(pair.privateKey);
      const verified = jwtVerifier({ issuer, audience, jwks: `${issuer}/jwks`, fetch })(jwt, head);
      await expect(verified).rejects.toMatchObject({ code: "unreachable", message: expect.stringContaining("keys") });
    },
  );
});

test("the text of an issuer in an error is printable", async () => {
  const fetch = async (): Promise<Response> => new Response("\u001b[2J\u202e");
  const jwt = await new SignJWT({ iss: issuer }).setProtectedHeader({ alg: "ES256" }).sign(pair.privateKey);
  const refused = Promise.resolve(jwtVerifier({ issuer, audience, jwks: `${issuer}/jwks`, fetch })(jwt, head));
  const { message } = await refused.then(
    () => new Error("accepted"),
    (error: Error) => error,
  );
  expect(message).toMatch(/did not return its public keys.*JSON/);
  expect(message).not.toContain("\u001b");
});

describe("metadata", () => {
  test.each([null, "", 7, undefined])("with the jwks_uri %j is reported by name", async (uri) => {
    const fetch = async (): Promise<Response> => Response.json({ issuer, jwks_uri: uri });
    const jwt = await new SignJWT({ iss: issuer }).setProtectedHeader({ alg: "ES256" }).sign(pair.privateKey);
    await expect(jwtVerifier({ issuer, audience, fetch })(jwt, head)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("has no jwks_uri in its metadata"),
    });
  });
});

describe("an introspection answer", () => {
  test.each([
    { iss: null, exp: null, nbf: null, iat: null, jti: null, token_type: null, username: null },
    { token_type: "access_token" },
    { token_type: "urn:ietf:params:oauth:token-type:access_token" },
    { token_type: "", typ: "", token_use: "" },
    { iss: issuer, unknown: {} },
  ])("with %j is accepted", async (claims) => {
    expect(await introspected(claims)).toMatchObject({ subject: "alice" });
  });

  test.each([{ active: "true" }, { active: 1 }, { active: null }, { active: undefined }])(
    "with %j is an error of the issuer, because only true states that a token is valid",
    async (claims) => {
      await expect(introspected(claims)).rejects.toMatchObject({
        name: "LocalError",
        message: expect.stringMatching(/invalid response.*"active"/),
      });
    },
  );
});
