import { generateKeyPairSync } from "node:crypto";
import { type JWK, exportJWK, generateKeyPair } from "jose";
import { jwtVerifier } from "mcparley/auth";
import { type FakeClock, fakeClock } from "mcparley/testing";
import { afterEach, describe, expect, test } from "vitest";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { type TokenIssuer, makeTokenIssuer } from "./token-issuer.ts";

const opened: ProtectedServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

interface World {
  clock: FakeClock;
  issuer: TokenIssuer;
  server: ProtectedServer;
  call: (token: string) => ReturnType<ProtectedServer["call"]>;
}

interface Published {
  /** Changes the keys of the issuer. */
  keys?: (keys: JWK[]) => unknown[];
  /** Replaces the document with the keys. */
  document?: () => unknown;
}

/** A valid key of another issuer. */
const other = await exportJWK((await generateKeyPair("ES256")).publicKey);

/** Serves with an issuer. */
async function serve({ keys = (own) => own, document: changed }: Published = {}): Promise<World> {
  const clock = fakeClock(1_800_000_000_000);
  let issuer: TokenIssuer | undefined;
  const server = await serveProtected({
    async protect(resource) {
      const now = (): number => Math.floor(clock.now() / 1000);
      issuer = await makeTokenIssuer({ issuer: "https://as.example", audience: resource, now });
      const fetch: typeof globalThis.fetch = async (input) => {
        const response = await issuer!.fetch(input);
        const document = (await response
          .clone()
          .json()
          .catch(() => undefined)) as { keys?: JWK[] } | undefined;
        if (!document?.keys) return response;
        return Response.json(changed ? changed() : { keys: keys(document.keys) });
      };
      const verifier = jwtVerifier({ issuer: issuer.issuer, audience: resource, fetch, clock });
      return { resource, issuers: [issuer.issuer], verifier, clock };
    },
  });
  opened.push(server);
  return {
    clock,
    issuer: issuer!,
    server,
    call: (token) => server.call("whoami", { authorization: `Bearer ${token}` }),
  };
}

/** The number of requests for keys. */
const loads = ({ fetched }: TokenIssuer): number => fetched.filter((url) => url.endsWith("/jwks")).length;

test("keys are fetched once for simultaneous requests, and cached for ten minutes", async () => {
  const { clock, issuer, call } = await serve();
  const token = await issuer.sign({ exp: clock.now() / 1000 + 3600 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(token)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(issuer.fetched).toEqual([`${issuer.issuer}/.well-known/oauth-authorization-server`, `${issuer.issuer}/jwks`]);
  await clock.advance(599_000);
  await call(token);
  expect(issuer.fetched).toHaveLength(2);
  await clock.advance(2_000);
  await call(token);
  expect(issuer.fetched).toHaveLength(3);
});

describe("a key that cannot be used", () => {
  /** Returns an RSA key of 1024 bits, which `jose` does not create. */
  const weak = (): object => generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });

  test.each<[what: string, keys: (good: JWK) => unknown[]]>([
    ["null and other values that are no objects", (good) => [null, 5, "key", [], good]],
    ["keys without members", (good) => [{}, { kty: null }, { kty: "EC" }, { kty: "EC", crv: "P-256" }, good]],
    ["a malformed key without an id", (good) => [{ ...good, kid: undefined, x: "AA" }, good]],
    ["a malformed key with the same id", (good) => [{ ...good, x: "!!" }, good]],
    ["a key with the same id", (good) => [{ ...good, ...other }, good]],
    ["a key with an unknown type", (good) => [{ kty: "new", kid: good.kid }, good]],
    ["a key for encryption", (good) => [{ ...good, ...other, use: "enc" }, good]],
    ["a key for another operation", (good) => [{ ...good, ...other, key_ops: ["deriveKey"] }, good]],
    ["key_ops that are no list", (good) => [{ ...good, ...other, key_ops: "verify" }, good]],
    ["a private key", (good) => [{ ...good, d: "AA" }, good]],
    ["a shared secret", (good) => [{ kty: "oct", k: "AAAA", kid: good.kid }, good]],
  ])("is ignored: %s", async (_, keys) => {
    const { issuer, call } = await serve({ keys: ([good]) => keys(good!) });
    expect((await call(await issuer.sign())).status).toBe(200);
    expect((await call(await issuer.sign({}, { header: { kid: undefined } }))).status).toBe(200);
  });

  test("because an RSA key is too short is ignored before the right one, and refuses tokens as the only one", async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256");
    const right = await exportJWK(publicKey);
    const options = { header: { alg: "RS256", kid: undefined }, key: privateKey };
    const both = await serve({ keys: () => [weak(), right] });
    expect((await both.call(await both.issuer.sign({}, options))).status).toBe(200);
    const single = await serve({ keys: () => [{ ...weak(), kid: "first" }] });
    const token = await single.issuer.sign({}, { header: { alg: "RS256" }, key: privateKey });
    expect((await single.call(token)).status).toBe(401);
  });

  test("is refused by its id with 401", async () => {
    const { issuer, call } = await serve({ keys: ([good]) => [{ ...good, kid: "bad", x: "AA" }, good] });
    expect((await call(await issuer.sign({}, { header: { kid: "bad" } }))).status).toBe(401);
  });

  test.each([["a list"], ["null"], ["no keys"], ["keys that are no list"]])(
    "a document that is %s is the fault of the issuer",
    async (what) => {
      const documents: Record<string, unknown> = {
        "a list": [],
        null: null,
        "no keys": {},
        "keys that are no list": { keys: {} },
      };
      const { issuer, call } = await serve({ document: () => documents[what] });
      expect((await call(await issuer.sign())).status).toBe(503);
    },
  );
});

describe("after a rotation of keys", () => {
  test("the new key is fetched at once if the last request for keys was 30 seconds ago, and the old one is refused", async () => {
    const { clock, issuer, call } = await serve();
    const old = await issuer.sign();
    expect((await call(old)).status).toBe(200);
    await issuer.rotate("second");
    await clock.advance(30_000);
    const token = await issuer.sign();
    const answers = await Promise.all(Array.from({ length: 5 }, () => call(token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(loads(issuer)).toBe(2);
    expect(await call(old)).toMatchObject({ status: 401, said: expect.stringContaining('no key "first"') });
  });

  test("a token with the new key is answered with 503 and the time until keys can be fetched again", async () => {
    const { clock, issuer, server, call } = await serve();
    await call(await issuer.sign());
    await issuer.rotate("second", { beside: true });
    const token = await issuer.sign();
    await clock.advance(29_999);
    const early = await call(token);
    expect(early).toMatchObject({ status: 503, said: expect.stringContaining('The key "second" of the token') });
    expect(early.headers.get("retry-after")).toBe("1");
    expect(early.headers.get("www-authenticate")).toBe(null);
    expect(server.errors).toEqual([
      expect.objectContaining({ code: "unreachable", message: expect.stringContaining('"second"') }),
    ]);
    expect(loads(issuer)).toBe(1);
    await clock.advance(1);
    expect((await call(token)).status).toBe(200);
    expect(loads(issuer)).toBe(2);
  });

  test.each([
    ["tokens without key ids", (key: object) => key],
    ["tokens and keys without ids", (key: object) => ({ ...key, kid: undefined })],
  ])("also for %s", async (_, publish) => {
    const { clock, issuer, call } = await serve({ keys: (own) => own.map((key) => publish(key)) });
    const sign = () => issuer.sign({}, { header: { kid: undefined } });
    expect((await call(await sign())).status).toBe(200);
    await issuer.rotate("second");
    await clock.advance(1_000);
    const token = await sign();
    expect(await call(token)).toMatchObject({ status: 503, said: expect.stringContaining("without kid") });
    await clock.advance(29_000);
    expect((await call(token)).status).toBe(200);
  });

  test("also for tokens that name keys which the issuer lists without ids", async () => {
    const { clock, issuer, call } = await serve({ keys: (own) => own.map((key) => ({ ...key, kid: undefined })) });
    expect((await call(await issuer.sign())).status).toBe(200);
    await issuer.rotate("second");
    const token = await issuer.sign();
    expect(await call(token)).toMatchObject({ status: 503, said: expect.stringContaining('"second"') });
    await clock.advance(30_000);
    expect((await call(token)).status).toBe(200);
  });

  test("a token of the old key that was issued before is refused at once, also during the pause", async () => {
    const { clock, issuer, call } = await serve();
    const old = await issuer.sign();
    await issuer.rotate("second");
    await clock.advance(30_000);
    await call(await issuer.sign());
    expect((await call(old)).status).toBe(401);
    expect(loads(issuer)).toBe(1);
  });

  test.each([
    ["\u001b[2J\u202e\n", '"\\u001b[2J\\u202e\\n"'],
    ["k".repeat(200), `"${"k".repeat(100)}..."`],
    [7, "without kid"],
  ])("the key id %j is shown in the answer as %s", async (kid, shown) => {
    const { issuer, call } = await serve();
    await call(await issuer.sign());
    const { status, said } = await call(await issuer.sign({}, { header: { kid: kid as string } }));
    expect(status).toBe(503);
    expect(said).toContain(shown);
  });
});

test("forged key ids cause at most one request for keys in 30 seconds, and other callers are not refused", async () => {
  const { clock, issuer, call } = await serve();
  const token = await issuer.sign();
  await call(token);
  const flood = async (): Promise<void> => {
    for (let count = 0; count < 20; count++) {
      const forged = await issuer.sign({}, { header: { kid: `forged-${count}` } });
      const { status, headers } = await call(forged);
      expect([401, 503]).toContain(status);
      expect(headers.has("retry-after")).toBe(status === 503);
      expect((await call(token)).status).toBe(200);
    }
  };
  await flood();
  expect(loads(issuer)).toBe(1);
  await issuer.rotate("second", { beside: true });
  const rotated = await issuer.sign();
  await clock.advance(30_000);
  await flood();
  expect(loads(issuer)).toBe(2);
  expect((await call(rotated)).status).toBe(200);
  await clock.advance(29_000);
  await flood();
  expect(loads(issuer)).toBe(2);
});

test("a forged token of an earlier time is refused with 401 during the pause, and names its key", async () => {
  const { clock, issuer, call } = await serve();
  await call(await issuer.sign());
  const iat = clock.now() / 1000 - 30;
  const forged = (kid: string, when: number) => issuer.sign({ iat: when }, { header: { kid } });
  expect(await call(await forged("gone", iat))).toMatchObject({
    status: 401,
    said: 'The signature of the token does not verify: the issuer has no key "gone" for its algorithm.',
  });
  // Issuers whose clock is up to `clockTolerance` behind may have signed with a new key.
  expect((await call(await forged("new", iat + 1))).status).toBe(503);
});

describe("if the issuer is unavailable", () => {
  test("the client receives Retry-After, the operator the reason, and the issuer no more requests", async () => {
    const { clock, issuer, server, call } = await serve();
    issuer.down(true);
    for (let count = 0; count < 5; count++) {
      const answer = await call(await issuer.sign());
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("5");
      expect(answer.headers.get("www-authenticate")).toBe(null);
    }
    expect(server.errors).toHaveLength(5);
    expect(server.errors[0]).toMatchObject({ code: "unreachable", message: expect.stringContaining("status 503") });
    expect(issuer.fetched.length).toBeLessThanOrEqual(2);
    issuer.down(false);
    await clock.advance(6_000);
    expect((await call(await issuer.sign())).status).toBe(200);
  });

  test("loaded keys are used for ten minutes, and a new key is answered with 503 until the issuer responds", async () => {
    const { clock, issuer, server, call } = await serve();
    const token = await issuer.sign({ exp: clock.now() / 1000 + 3600 });
    expect((await call(token)).status).toBe(200);
    issuer.down(true);
    await issuer.rotate("second", { beside: true });
    await clock.advance(31_000);
    const rotated = await issuer.sign({ exp: clock.now() / 1000 + 3600 });
    expect(await call(rotated)).toMatchObject({
      status: 503,
      said: expect.stringContaining("Tokens cannot be checked"),
    });
    expect(server.errors.at(-1)).toMatchObject({ code: "unreachable", message: expect.stringContaining("status 503") });
    expect((await call(token)).status).toBe(200);
    await clock.advance(568_000);
    expect((await call(token)).status).toBe(200);
    await clock.advance(1_000);
    expect((await call(token)).status).toBe(503);
    issuer.down(false);
    await clock.advance(5_000);
    expect((await call(token)).status).toBe(200);
    expect((await call(rotated)).status).toBe(200);
  });

  test("a slow issuer is answered with 503 after five seconds, and delays no caller whose key is known", async () => {
    const clock = fakeClock(1_800_000_000_000);
    const issuer = await makeTokenIssuer({
      issuer: "https://as.example",
      audience: "x",
      now: () => clock.now() / 1000,
    });
    let isSlow = false;
    const never = (signal?: AbortSignal | null): Promise<Response> =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      });
    const fetch: typeof globalThis.fetch = (input, init) => (isSlow ? never(init?.signal) : issuer.fetch(input, init));
    const verifier = jwtVerifier({ issuer: issuer.issuer, audience: "x", fetch, clock });
    const verify = (token: string) => Promise.resolve(verifier(token, undefined as never));
    const token = await issuer.sign();
    expect(await verify(token)).toMatchObject({ subject: "alice" });
    isSlow = true;
    await issuer.rotate("second");
    await clock.advance(30_000);
    const refused = verify(await issuer.sign()).catch((error: unknown) => error);
    expect(await verify(token)).toMatchObject({ subject: "alice" });
    await clock.advance(5_000);
    expect(await refused).toMatchObject({ code: "unreachable", message: expect.stringContaining("5000 ms") });
  });
});

test("a token that names a known key but another algorithm is refused at once, and causes no request", async () => {
  const { clock, issuer, call } = await serve();
  await call(await issuer.sign());
  const { privateKey: key } = await generateKeyPair("ES384");
  const forged = await issuer.sign({}, { header: { alg: "ES384" }, key });
  expect(await call(forged)).toMatchObject({ status: 401, said: expect.stringContaining("does not verify") });
  await clock.advance(31_000);
  expect((await call(forged)).status).toBe(401);
  expect(loads(issuer)).toBe(1);
});

test("a token without a key id is verified with any matching key", async () => {
  const { issuer, call } = await serve();
  await issuer.rotate("second", { beside: true });
  expect((await call(await issuer.sign({}, { header: { kid: undefined } }))).status).toBe(200);
  const { privateKey: key } = await generateKeyPair("ES256");
  expect((await call(await issuer.sign({}, { header: { kid: undefined }, key }))).status).toBe(401);
});
