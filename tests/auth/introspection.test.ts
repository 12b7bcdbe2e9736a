import { introspectionVerifier } from "mcparley/auth";
import { fakeClock } from "mcparley/testing";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { getTokens } from "./tokens.ts";

const client = { id: "notes-server", secret: "a secret that is long enough for anyone" };
const clock = fakeClock(Date.now());
let as: AuthorizationServer;
let server: ProtectedServer;
let resource: string;

beforeAll(async () => {
  as = await startAuthorizationServer({
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: ["client_credentials"],
      },
    ],
  });
  as.resources.set("http://127.0.0.1:1/mcp", { scope: "notes:read", format: "opaque" });
  server = await serveProtected({
    protect(url) {
      resource = url;
      as.resources.set(url, { scope: "notes:read notes:write", format: "opaque" });
      const verifier = introspectionVerifier({ issuer: as.issuer, audience: url, client, clock });
      return { resource, issuers: [as.issuer], verifier, clock };
    },
  });
});
afterAll(async () => {
  await server.close();
  await as.close();
});
beforeEach(() => void as.requests.splice(0));

const call = (token: string) => server.call("whoami", { authorization: `Bearer ${token}` });
const asked = (): number => as.requests.filter((request) => request === "POST /token/introspection").length;
const alice = { user: "alice", scope: "notes:read" };

test("an opaque token is accepted with the claims of its issuer, and introspected once for several requests", async () => {
  const { access_token: token } = await getTokens(as, { ...alice, resource });
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(token)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(JSON.parse(answers[0]!.said)).toMatchObject({
    issuer: as.issuer,
    subject: "alice",
    scopes: ["notes:read"],
  });
  expect(asked()).toBe(1);
  expect((await call(token)).status).toBe(200);
  expect(asked()).toBe(1);
});

test("a revoked token is refused after the cached answer has expired", async () => {
  const { access_token: token } = await getTokens(as, { ...alice, resource });
  expect((await call(token)).status).toBe(200);
  const found = await as.provider.AccessToken.find(token);
  await found!.destroy();
  await clock.advance(29_000);
  expect((await call(token)).status).toBe(200);
  await clock.advance(2_000);
  expect(await call(token)).toMatchObject({ status: 401, said: "The token is not active." });
});

test("a token for another resource of the same issuer is refused", async () => {
  const { access_token: token } = await getTokens(as, { ...alice, resource: "http://127.0.0.1:1/mcp" });
  expect(await call(token)).toMatchObject({ status: 401, said: "The token is for another audience." });
});

test("an active refresh token is refused as an access token", async () => {
  const { refresh_token: token } = await getTokens(as, { ...alice, resource });
  expect((await call(token!)).status).toBe(401);
});

test("an unknown token is refused, and its introspection is cached", async () => {
  for (let count = 0; count < 3; count++) expect((await call("made-up")).status).toBe(401);
  expect(asked()).toBe(1);
});

test("a token that is bound to a key is refused without a proof", async () => {
  const dpop = await oauth.generateKeyPair("ES256");
  const { access_token: token } = await getTokens(as, { ...alice, resource, dpop });
  expect(await call(token)).toMatchObject({ status: 401, said: expect.stringContaining("with the scheme DPoP") });
});

test("if introspection is unavailable, the client receives Retry-After and the operator the reason, without the token", async () => {
  const down = await serveProtected({
    protect(url) {
      const fetch = async (): Promise<Response> => new Response("", { status: 500 });
      const endpoint = `${as.issuer}/token/introspection`;
      const verifier = introspectionVerifier({ issuer: as.issuer, audience: url, client, endpoint, fetch });
      return { resource: url, issuers: [as.issuer], verifier };
    },
  });
  const answer = await down.call("whoami", { authorization: "Bearer canary-token" });
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("5");
  expect(down.errors).toHaveLength(1);
  expect(down.errors[0]).toMatchObject({ code: "unreachable" });
  await down.close();
});

test("a verifier requires an issuer, an audience and client credentials", () => {
  const given = { issuer: "https://as.example", audience: "https://mcp.example/mcp", client };
  for (const missing of [
    { issuer: undefined },
    { audience: undefined },
    { client: { id: "a" } },
    { client: { secret: "b" } },
  ]) {
    const make = (): unknown => introspectionVerifier({ ...given, ...missing } as never);
    expect(make).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  }
});
