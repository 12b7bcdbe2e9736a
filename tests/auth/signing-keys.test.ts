import { generateKeyPair } from "jose";
import { jwtVerifier } from "mcparley/auth";
import { afterEach, expect, test, vi } from "vitest";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { type TokenIssuer, makeTokenIssuer } from "./token-issuer.ts";

// The module that fetches keys uses the time of the process, and not the clock of the library.
vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
const opened: ProtectedServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

async function serve(): Promise<{ issuer: TokenIssuer; server: ProtectedServer; call: CallWith }> {
  let issuer: TokenIssuer | undefined;
  const server = await serveProtected({
    async protect(resource) {
      const now = (): number => Math.floor(Date.now() / 1000);
      issuer = await makeTokenIssuer({ issuer: "https://as.example", audience: resource, now });
      const verifier = jwtVerifier({ issuer: issuer.issuer, audience: resource, fetch: issuer.fetch });
      return { resource, issuers: [issuer.issuer], verifier };
    },
  });
  opened.push(server);
  const call: CallWith = (token) => server.call("whoami", { authorization: `Bearer ${token}` });
  return { issuer: issuer!, server, call };
}

type CallWith = (token: string) => ReturnType<ProtectedServer["call"]>;
const after = (ms: number): unknown => vi.setSystemTime(Date.now() + ms);

test("keys are fetched once for simultaneous requests, and cached for ten minutes", async () => {
  const { issuer, call } = await serve();
  const token = await issuer.sign({ exp: Date.now() / 1000 + 3600 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(token)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(issuer.fetched).toEqual([`${issuer.issuer}/.well-known/oauth-authorization-server`, `${issuer.issuer}/jwks`]);
  after(599_000);
  await call(token);
  expect(issuer.fetched).toHaveLength(2);
  after(2_000);
  await call(token);
  expect(issuer.fetched).toHaveLength(3);
});

test("a rotated key is fetched, and the old one is no longer accepted", async () => {
  const { issuer, call } = await serve();
  const old = await issuer.sign();
  expect((await call(old)).status).toBe(200);
  await issuer.rotate("second");
  after(31_000);
  expect((await call(await issuer.sign())).status).toBe(200);
  expect((await call(old)).status).toBe(401);
});

test("forged key ids cause at most one request for keys in 30 seconds", async () => {
  const { issuer, call } = await serve();
  await call(await issuer.sign());
  const before = issuer.fetched.length;
  for (let count = 0; count < 20; count++) {
    const forged = await issuer.sign({}, { header: { kid: `forged-${count}` } });
    expect((await call(forged)).status).toBe(401);
  }
  expect(issuer.fetched).toHaveLength(before);
});

test("if the keys are unavailable, the client receives Retry-After, the operator the reason, and the issuer no more requests", async () => {
  const { issuer, server, call } = await serve();
  issuer.down(true);
  for (let count = 0; count < 5; count++) {
    const answer = await call(await issuer.sign());
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(answer.headers.get("www-authenticate")).toBe(null);
  }
  expect(server.errors).toHaveLength(5);
  expect(server.errors[0]).toMatchObject({ code: "unreachable" });
  expect(issuer.fetched.length).toBeLessThanOrEqual(2);
  issuer.down(false);
  after(6_000);
  expect((await call(await issuer.sign())).status).toBe(200);
});

test("a token without a key id is verified with any matching key", async () => {
  const { issuer, call } = await serve();
  await issuer.rotate("second", { beside: true });
  expect((await call(await issuer.sign({}, { header: { kid: undefined } }))).status).toBe(200);
  const { privateKey: key } = await generateKeyPair("ES256");
  expect((await call(await issuer.sign({}, { header: { kid: undefined }, key }))).status).toBe(401);
});
