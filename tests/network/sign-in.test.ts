import { jwtVerifier, oauth } from "mcparley/auth";
import { connect } from "mcparley/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "../auth/authorization-server.ts";
import { browserOf } from "../auth/browser.ts";
import { type ProtectedServer, serveProtected } from "../auth/protected-server.ts";
import { signInWith } from "../auth/sign-in-with.ts";
import { type ForwardProxy, startForwardProxy } from "../support/forward-proxy.ts";

let issuer: AuthorizationServer;
let server: ProtectedServer;
let proxy: ForwardProxy;

beforeAll(async () => {
  proxy = await startForwardProxy({ credentials: "me:topsecret" });
  issuer = await startAuthorizationServer();
  server = await serveProtected({
    protect(resource) {
      issuer.resources.set(resource, { scope: "notes:read" });
      const verifier = jwtVerifier({ issuer: issuer.issuer, audience: resource });
      return { resource, issuers: [issuer.issuer], verifier, scopes: ["notes:read"] };
    },
  });
});
afterAll(async () => {
  await server.close();
  await issuer.close();
  await proxy.close();
});

/** The origins and paths that the proxy received since the last time. */
function forwarded(): string[] {
  return proxy.requests.splice(0).map(({ target }) => target);
}

test("the requests of a sign-in use the proxy of the target", async () => {
  const connection = { proxy: `http://me:topsecret@${proxy.host}` };
  const auth = oauth({ signIn: signInWith(browserOf({ user: "alice" })) });
  const client = await connect({ url: server.url, connection, auth });
  expect(JSON.parse(String(await client.callTool("whoami")))).toMatchObject({ subject: "alice" });
  await client.close();
  const targets = forwarded();
  const { token_endpoint: tokens, registration_endpoint: registration } = (await (
    await fetch(`${issuer.issuer}/.well-known/oauth-authorization-server`)
  ).json()) as Record<string, string>;
  expect(targets).toContain(server.url);
  expect(targets).toContain(tokens);
  expect(targets).toContain(registration);
  expect(targets.some((target) => target.startsWith(`${new URL(server.url).origin}/.well-known/`))).toBe(true);
  expect(targets.some((target) => target.startsWith(`${issuer.issuer}/.well-known/`))).toBe(true);
  expect(await auth.signOut(server.url)).toBe("revoked");
  expect(forwarded().length).toBeGreaterThan(0);
});

test("signIn uses the connection of the authorization", async () => {
  const connection = { proxy: `http://me:topsecret@${proxy.host}` };
  const auth = oauth({ signIn: signInWith(browserOf({ user: "alice" })), connection });
  expect(await auth.signIn(server.url)).toMatchObject({ subject: "alice" });
  expect(forwarded()[0]).toBe(server.url);
});

test("a sign-in through a proxy that rejects the credentials fails with an error that names the setting", async () => {
  const connection = { proxy: `http://me:wrong-secret@${proxy.host}` };
  const auth = oauth({ signIn: signInWith(browserOf({ user: "alice" })), connection });
  const error: unknown = await auth.signIn(server.url).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "unreachable", data: { status: 407, proxy: proxy.host } });
  expect(String((error as Error).stack)).not.toContain("wrong-secret");
});
