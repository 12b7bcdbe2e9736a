import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { getTokens } from "./tokens.ts";

let server: AuthorizationServer;
const resource = "http://127.0.0.1:1/mcp";

beforeAll(async () => {
  server = await startAuthorizationServer();
  server.resources.set(resource, { scope: "notes:read notes:write" });
  server.resources.set("http://127.0.0.1:2/mcp", { scope: "notes:read", format: "opaque" });
});
afterAll(() => server.close());

test("issues an access token for one resource and a refresh token after sign-in and consent", async () => {
  const tokens = await getTokens(server, { user: "alice", resource, scope: "notes:read" });
  expect(tokens.token_type).toBe("bearer");
  expect(tokens.refresh_token).toBeDefined();
  const { iss, sub, aud, scope } = decodeJwt(tokens.access_token);
  expect({ iss, sub, aud, scope }).toEqual({ iss: server.issuer, sub: "alice", aud: resource, scope: "notes:read" });
});

test("issues an opaque token for a resource with opaque tokens", async () => {
  const tokens = await getTokens(server, { user: "alice", resource: "http://127.0.0.1:2/mcp", scope: "notes:read" });
  expect(tokens.access_token).not.toContain(".");
});

test("binds a token to a key if the client proves possession of the key", async () => {
  const dpop = await oauth.generateKeyPair("ES256");
  const tokens = await getTokens(server, { user: "alice", resource, scope: "notes:read", dpop });
  expect(tokens.token_type).toBe("dpop");
  expect(decodeJwt(tokens.access_token).cnf).toHaveProperty("jkt");
});

test("issues no token for an unknown resource", async () => {
  const order = { user: "alice", resource: "http://127.0.0.1:3/mcp", scope: "notes:read" };
  await expect(getTokens(server, order)).rejects.toMatchObject({ error: "invalid_target" });
});
