import { createHash, randomUUID } from "node:crypto";
import { type CryptoKey, type JWK, SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import { type DpopOptions, jwtVerifier } from "mcparley/auth";
import { type Store, memoryStore } from "mcparley/server";
import { fakeClock } from "mcparley/testing";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type CallAnswer, type ProtectedServer, serveProtected } from "./protected-server.ts";
import { type TokenIssuer, makeTokenIssuer } from "./token-issuer.ts";

const start = 1_800_000_000;
const clock = fakeClock(start * 1000);
const now = (): number => clock.now() / 1000;
const opened: ProtectedServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

interface Holder {
  key: CryptoKey;
  jwk: JWK;
  jkt: string;
}

async function makeHolder(): Promise<Holder> {
  const { privateKey: key, publicKey } = await generateKeyPair("ES256");
  const jwk = await exportJWK(publicKey);
  return { key, jwk, jkt: await calculateJwkThumbprint(jwk) };
}

let holder: Holder;
beforeAll(async () => {
  holder = await makeHolder();
});

interface World {
  server: ProtectedServer;
  issuer: TokenIssuer;
  /** A token that is bound to the holder's key. */
  token: string;
  /** Signs claims over those of a good proof, with whatever else its header has. */
  readonly proof: (claims?: Record<string, unknown>, header?: object, key?: CryptoKey) => Promise<string>;
  readonly show: (proof: string | undefined, scheme?: string) => Promise<CallAnswer>;
}

async function open(dpop?: DpopOptions, store?: Store): Promise<World> {
  let issuer: TokenIssuer | undefined;
  const server = await serveProtected({
    async protect(resource) {
      issuer = await makeTokenIssuer({ issuer: "https://as.example", audience: resource, now });
      const verifier = jwtVerifier({ issuer: issuer.issuer, audience: resource, fetch: issuer.fetch, clock });
      return { resource, issuers: [issuer.issuer], verifier, clock, ...(dpop && { dpop }) };
    },
    ...(store && { definition: { store } }),
  });
  opened.push(server);
  const token = await issuer!.sign({ cnf: { jkt: holder.jkt } });
  return {
    server,
    issuer: issuer!,
    token,
    proof(claims = {}, header = {}, key = holder.key) {
      const ath = createHash("sha256").update(token).digest("base64url");
      return new SignJWT({ jti: randomUUID(), htm: "POST", htu: server.url, iat: now(), ath, ...claims })
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: holder.jwk, ...header })
        .sign(key);
    },
    show: (proof, scheme = "DPoP") =>
      server.call("whoami", { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }) }),
  };
}

test("a token that is bound to a key is accepted with a proof of possession", async () => {
  const { proof, show, server } = await open();
  expect((await show(await proof())).status).toBe(200);
  expect((await show(await proof({ htu: `${server.url}?a#b` }))).status).toBe(200);
});

test("a proof whose date shows a wrong clock is reported with the difference, also to the client", async () => {
  for (const [iat, difference] of [
    [start + 20, "20 s in the future"],
    [start - 71, "71 s in the past"],
  ] as const) {
    const { proof, show, server } = await open();
    const answer = await show(await proof({ iat }));
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toContain(`by the clock of this server it is dated ${difference}.`);
    const message = `The "iat" of a DPoP proof is ${difference} by the clock of this server`;
    expect(server.errors).toMatchObject([{ code: "unauthorized", message: expect.stringContaining(message) }]);
  }
  const { proof, show, server } = await open();
  await show(await proof({ iat: start - 300 }));
  await show(await proof({ htm: "GET" }));
  expect(server.errors).toEqual([]);
});

describe("rejects with 401 and invalid_dpop_proof:", () => {
  test.each<[string, (world: World) => Promise<string | undefined>, RegExp]>([
    ["no proof", async () => undefined, /a DPoP proof is required/],
    ["a proof for another method", ({ proof }) => proof({ htm: "GET" }), /another method/],
    ["a proof for another server", ({ proof }) => proof({ htu: "https://other.example/mcp" }), /another URL/],
    ["a proof for another path", ({ proof, server }) => proof({ htu: `${server.url}/other` }), /another URL/],
    ["a proof for another token", ({ proof }) => proof({ ath: "x" }), /another token/],
    ["a proof for no token", ({ proof }) => proof({ ath: undefined }), /is invalid/],
    ["a proof that is too old", ({ proof }) => proof({ iat: start - 71 }), /expired.* 71 s in the past/],
    [
      "a proof that was issued in the future",
      ({ proof }) => proof({ iat: start + 11 }),
      /not valid yet.* 11 s in the future/,
    ],
    ["a proof without an id", ({ proof }) => proof({ jti: undefined }), /is invalid/],
    ["a proof whose id is not a string", ({ proof }) => proof({ jti: 1 }), /is invalid|string/],
    ["a JWT of another type", ({ proof }) => proof({}, { typ: "JWT" }), /is invalid/],
    ["a proof without a public key", ({ proof }) => proof({}, { jwk: undefined }), /is invalid/],
    ["text that is not a JWT", async () => "proof", /is invalid/],
    ["two proofs", async ({ proof }) => `${await proof()}, ${await proof()}`, /is invalid/],
    ["a proof over the maximum length", async () => "a".repeat(8_193), /more than 8192/],
    [
      "a proof signed with another key than it names",
      async ({ proof }) => proof({}, {}, (await makeHolder()).key),
      /is invalid/,
    ],
    [
      "a proof of possession of another key",
      async ({ proof }) => {
        const other = await makeHolder();
        return proof({}, { jwk: other.jwk }, other.key);
      },
      /another key/,
    ],
  ])("%s", async (_, make, why) => {
    const world = await open();
    const { status, headers, said } = await world.show(await make(world));
    expect(status).toBe(401);
    expect(said).toMatch(why);
    expect(headers.get("www-authenticate")).toMatch(
      /^Bearer resource_metadata=.*, DPoP error="invalid_dpop_proof", .*algs="ES256 /,
    );
  });

  test("a proof that was used before, while it would still be valid", async () => {
    const { proof, show } = await open({}, memoryStore({ clock }));
    const used = await proof();
    expect((await show(used)).status).toBe(200);
    expect(await show(used)).toMatchObject({ status: 401, said: expect.stringContaining("used before") });
    await clock.advance(69_000);
    expect(await show(used)).toMatchObject({ status: 401, said: expect.stringContaining("used before") });
    await clock.advance(2_000);
    expect(await show(used)).toMatchObject({ status: 401, said: expect.stringContaining("expired") });
  });
});

test("a proof is accepted once by all processes of a server with a store, and once by each without", async () => {
  for (const [store, second] of [
    [memoryStore({ clock }), 401],
    [undefined, 200],
  ] as const) {
    const { server, proof, issuer, token } = await open({}, store);
    const verifier = jwtVerifier({ issuer: issuer.issuer, audience: server.url, fetch: issuer.fetch, clock });
    const other = await serveProtected({
      protect: () => ({ resource: server.url, issuers: [issuer.issuer], verifier, clock }),
      ...(store && { definition: { store } }),
    });
    opened.push(other);
    const headers = { authorization: `DPoP ${token}`, dpop: await proof() };
    expect((await server.call("whoami", headers)).status).toBe(200);
    expect((await other.call("whoami", headers)).status).toBe(second);
  }
});

test("one of many simultaneous requests with the same proof is accepted", async () => {
  const { proof, show } = await open();
  const used = await proof();
  const answers = await Promise.all(Array.from({ length: 10 }, () => show(used)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
});

test("if the store of used proofs is unavailable, no proof is accepted, and the operator is notified", async () => {
  const broken = { ...memoryStore(), compareAndSet: () => Promise.reject(new Error("down")) };
  const { proof, show, server } = await open({}, broken);
  expect((await show(await proof())).status).toBe(500);
  expect(server.errors).toEqual([new Error("down")]);
});

test("a bound token is refused as Bearer, and an unbound one as DPoP", async () => {
  const { proof, show, server, issuer } = await open();
  expect(await show(await proof(), "Bearer")).toMatchObject({
    status: 401,
    said: expect.stringContaining("with the scheme DPoP"),
  });
  const authorization = `DPoP ${await issuer.sign()}`;
  expect(await server.call("whoami", { authorization, dpop: await proof() })).toMatchObject({ status: 401 });
});

test("if proofs are required, other tokens are refused, and the challenge offers only DPoP", async () => {
  const { server, issuer, proof, show } = await open({ required: true });
  const answer = await server.call("whoami", { authorization: `Bearer ${await issuer.sign()}` });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toMatch(/^DPoP error="invalid_token"/);
  expect(answer.headers.get("www-authenticate")).not.toContain("Bearer");
  expect((await show(await proof())).status).toBe(200);
  const metadata = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", server.url));
  expect(await metadata.json()).toMatchObject({ dpop_bound_access_tokens_required: true });
});

describe("a nonce", () => {
  test("is requested, accepted, renewed, and accepted for one more period", async () => {
    const { proof, show } = await open({ nonce: true });
    const asked = await show(await proof());
    expect(asked.status).toBe(401);
    expect(asked.headers.get("www-authenticate")).toContain('DPoP error="use_dpop_nonce"');
    const nonce = asked.headers.get("dpop-nonce")!;
    expect((await show(await proof({ nonce }))).status).toBe(200);
    expect((await show(await proof({ nonce: `${nonce}x` }))).status).toBe(401);
    await clock.advance(120_000);
    const renewed = await show(await proof({ nonce }));
    expect(renewed.status).toBe(200);
    expect(renewed.headers.get("dpop-nonce")).not.toBe(nonce);
    await clock.advance(120_000);
    expect((await show(await proof({ nonce }))).headers.get("www-authenticate")).toContain("use_dpop_nonce");
  });

  test("of one process is accepted only by processes with the same secret", async () => {
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const [one, two, other] = [
      await open({ nonce: secret }),
      await open({ nonce: secret }),
      await open({ nonce: true }),
    ];
    const nonce = (await one.show(await one.proof())).headers.get("dpop-nonce")!;
    expect((await two.show(await two.proof({ nonce }))).status).toBe(200);
    expect((await other.show(await other.proof({ nonce }))).status).toBe(401);
  });
});

test.each([{ nonce: new Uint8Array(16) }, { maxAge: 301 }, { maxAge: 0 }])(
  "the options %j are rejected, because they would not protect",
  async (dpop) => {
    await expect(open(dpop)).rejects.toMatchObject({ code: "invalid_definition" });
  },
);
