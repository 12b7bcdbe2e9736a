import { apiKeys, jwtVerifier, protectedResource } from "mcparley/auth";
import type { HttpOptions } from "mcparley/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type SignedIn, signInFirst, signInSecond } from "./official-sign-in.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";

const clients = [
  ["@modelcontextprotocol/sdk (v1)", signInFirst],
  [
    "@modelcontextprotocol/client (v2), legacy revision",
    (url: string, user: string) => signInSecond(url, user, "legacy"),
  ],
  [
    "@modelcontextprotocol/client (v2), modern revision",
    (url: string, user: string) => signInSecond(url, user, "modern"),
  ],
] as const;

let as: AuthorizationServer;
let server: ProtectedServer;

beforeAll(async () => {
  as = await startAuthorizationServer();
  server = await serveProtected({
    protect(resource) {
      as.resources.set(resource, { scope: "notes:read notes:write notes:sign" });
      const verifier = jwtVerifier({ issuer: as.issuer, audience: resource });
      return { resource, issuers: [as.issuer], verifier, scopes: ["notes:read"] };
    },
  });
});
afterAll(async () => {
  await server.close();
  await as.close();
});

describe.each(clients)("%s", (_, signIn) => {
  let alice: SignedIn;

  test("signs in to our server with the scopes of the challenge", async () => {
    alice = await signIn(server.url, "alice");
    expect(JSON.parse(await alice.call("whoami"))).toMatchObject({ issuer: as.issuer, subject: "alice" });
    expect(alice.scopes()).toEqual(["notes:read"]);
    expect(alice.browser.submitted).toEqual(["login", "consent"]);
    expect(await alice.listTools()).toEqual(["whoami"]);
  });

  test("steps up once for all scopes of a call", async () => {
    expect(await alice.call("write")).toBe("written");
    expect(alice.scopes()).toEqual(expect.arrayContaining(["notes:sign", "notes:write"]));
    expect(alice.browser.submitted).toEqual(["login", "consent", "consent"]);
    expect(await alice.listTools()).toEqual(["whoami", "write"]);
    await alice.close();
  });
});

test.each(["legacy", "modern"] as const)(
  "@modelcontextprotocol/client (v2) proves possession of its key in %s revisions",
  async (revisionKind) => {
    const bound = await serveProtected({
      protect(resource) {
        as.resources.set(resource, { scope: "notes:read" });
        const verifier = jwtVerifier({ issuer: as.issuer, audience: resource });
        const dpop = { required: true, nonce: true };
        return { resource, issuers: [as.issuer], verifier, scopes: ["notes:read"], dpop };
      },
    });
    const alice = await signInSecond(bound.url, "alice", revisionKind, { dpop: true });
    expect(JSON.parse(await alice.call("whoami"))).toMatchObject({ subject: "alice", claims: { cnf: {} } });
    await alice.close();
    await bound.close();
  },
);

test.each(clients.flatMap(([name, signIn]) => [["first", name, signIn] as const, ["last", name, signIn] as const]))(
  "with OAuth %s in a list with API keys, %s signs in and steps up",
  async (place, _, signIn) => {
    const http: HttpOptions = {};
    const several = await serveProtected({
      http,
      protect(resource) {
        as.resources.set(resource, { scope: "notes:read notes:write notes:sign" });
        const verifier = jwtVerifier({ issuer: as.issuer, audience: resource });
        const options = { resource, issuers: [as.issuer], verifier, scopes: ["notes:read"] };
        const keys = apiKeys([{ key: "a-key-of-the-server-01", subject: "ci" }]);
        http.auth = place === "first" ? [protectedResource(options), keys] : [keys, protectedResource(options)];
        return options;
      },
    });
    const alice = await signIn(several.url, "alice");
    expect(JSON.parse(await alice.call("whoami"))).toMatchObject({ issuer: as.issuer, subject: "alice" });
    expect(await alice.call("write")).toBe("written");
    await alice.close();
    await several.close();
  },
);
