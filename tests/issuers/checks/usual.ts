import assert from "node:assert/strict";
import { clientCredentials, introspectionVerifier } from "mcparley/auth";
import { connect } from "mcparley/client";
import { type Check, checksOf } from "../check.ts";
import type { ClientName } from "../issuer.ts";
import { libraryUser } from "../library.ts";

/** Milliseconds after which a client renews an access token, which is valid for a minute. Its refresh token is valid. */
export const tokenAge = 56_000;

/** The usual path with the library, at each issuer. */
export const usual = checksOf([
  {
    name: "a client that registers itself signs in, calls, renews twice with rotation, and signs out",
    feature: "dynamic registration",
    async run({ serve }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      const account = await user.open().signIn(url);
      assert.equal(account.isRenewable, true);
      assert.match(await user.call(url, "whoami"), /"subject"/);
      // A refresh token is valid once, so the second renewal needs the rotated one.
      await user.call(url, "whoami", { clockAhead: tokenAge });
      await user.call(url, "whoami", { clockAhead: 2 * tokenAge });
      assert.equal(user.visited.length, 1);
      assert.equal(await user.open().signOut(url), "revoked");
    },
  },
  byHand("public", "public clients"),
  byHand("confidential", "client secrets"),
  byHand("private-key", "private keys of clients"),
  {
    name: "a user who declines is reported as such",
    async run({ serve }) {
      const { url } = await serve();
      const user = libraryUser("alice", { consents: false });
      await assert.rejects(user.open().signIn(url), { code: "sign_in_failed", message: /access_denied/ });
    },
  },
  {
    name: "a call that needs more scopes asks the user once, and keeps the scopes before",
    feature: "step-up to more scopes",
    async run({ serve }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      await user.open().signIn(url);
      assert.equal(await user.call(url, "write"), "written");
      assert.equal(user.visited.length, 2);
      const account = await user.open().whoami(url);
      for (const scope of ["notes:read", "notes:write", "notes:sign"])
        assert.ok(account?.scopes?.includes(scope), scope);
      await user.call(url, "write", { clockAhead: tokenAge });
      assert.equal(user.visited.length, 2);
    },
  },
  ...["confidential" as const, "private-key" as const].map((name): Check => ({
    name: `the client ${name} gets tokens without a user`,
    feature: "machine clients",
    async run({ serve, issuer }) {
      const { url } = await serve();
      const auth = clientCredentials({ issuer: issuer.url, client: issuer.client(name), scope: "notes:read" });
      const client = await connect(url, { auth });
      assert.match(JSON.stringify(await client.callToolResult("whoami")), /subject/);
      await client.close();
    },
  })),
  {
    name: "tokens that are bound to a key are accepted, renewed and stay bound",
    feature: "DPoP",
    async run({ serve, issuer }) {
      const { url } = await serve({ dpop: { required: true } });
      const user = libraryUser("alice");
      const client = issuer.client("bound");
      assert.match(await user.call(url, "whoami", { client, dpop: true }), /"cnf"/);
      assert.match(await user.call(url, "whoami", { client, dpop: true, clockAhead: tokenAge }), /"cnf"/);
      assert.equal(user.visited.length, 1);
      assert.equal(await user.open({ client, dpop: true }).signOut(url), "revoked");
    },
  },
  {
    name: "a client that registers itself binds its tokens if the server requires it",
    feature: "DPoP",
    async run({ serve }) {
      const { url } = await serve({ dpop: { required: true, nonce: true } });
      const user = libraryUser("alice");
      assert.match(await user.call(url, "whoami"), /"cnf"/);
    },
  },
  {
    name: "a client that must push its authorization requests signs in",
    feature: "pushed authorization requests",
    async run({ serve, issuer }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      assert.match(await user.call(url, "whoami", { client: issuer.client("pushed") }), /"subject"/);
      assert.ok(user.visited[0]?.searchParams.has("request_uri"));
    },
  },
  {
    name: "tokens of 10 s are not renewed for each call, and are renewed when they are old",
    feature: "tokens of 10 s",
    async run({ serve, issuer }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      const client = issuer.client("short");
      await user.open({ client }).signIn(url);
      for (let call = 0; call < 3; call++) await user.call(url, "whoami", { client });
      assert.equal(await issuer.countRenewals(client.id), 0);
      await user.call(url, "whoami", { client, clockAhead: 10_000 });
      assert.equal(await issuer.countRenewals(client.id), 1);
      assert.equal(user.visited.length, 1);
    },
  },
  {
    name: "a server verifies tokens by introspection, and a revoked token is refused",
    feature: "introspection and revocation",
    async run({ serve, issuer }) {
      const client = issuer.resourceServer;
      const { url } = await serve({
        isOpaque: true,
        verifierOf: (audience) => introspectionVerifier({ issuer: issuer.url, audience, client, cacheTtl: 0 }),
      });
      const user = libraryUser("alice");
      assert.match(await user.call(url, "whoami"), /"subject"/);
      const sent = await user.open().headers({ server: new URL(url), url: new URL(url), method: "POST" });
      const status = async (): Promise<number> => (await fetch(url, { method: "POST", headers: sent })).status;
      assert.notEqual(await status(), 401);
      await user.open().signOut(url);
      assert.equal(await status(), 401);
    },
  },
]);

/** A user signs in with a client that was registered by hand. */
function byHand(name: ClientName, feature: string): Check {
  return {
    name: `the client ${name} signs in, renews and signs out`,
    feature,
    async run({ serve, issuer }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      const client = issuer.client(name);
      assert.match(await user.call(url, "whoami", { client }), /"subject"/);
      await user.call(url, "whoami", { client, clockAhead: tokenAge });
      assert.equal(user.visited.length, 1);
      assert.equal(await user.open({ client }).signOut(url), "revoked");
    },
  };
}
