import assert from "node:assert/strict";
import { introspectionVerifier } from "mcparley/auth";
import { checksOf } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import type { Realm } from "../keycloak/realm.ts";
import { libraryUser } from "../library.ts";

const feature = "reasons of the issuer";

/** Faults of users, keys, clocks and realms while Keycloak runs. */
export const faults = checksOf<KeycloakIssuer>([
  {
    name: "a token with a new key causes no second sign-in",
    feature: "rotation of keys",
    async run({ serve, issuer: { realm } }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      await user.call(url, "whoami");
      await rotateKeys(realm);
      const other = libraryUser("bob");
      await other.open().signIn(url);
      const response = await other.request(url);
      assert.notEqual(response.status, 401);
      if (response.status === 503) assert.ok(Number(response.headers.get("retry-after")) <= 30);
      await other.call(url, "whoami").catch(() => {});
      assert.equal(other.visited.length, 1);
    },
  },
  {
    name: "the redirect of a refused scope has the description of the issuer in its error",
    feature,
    async run({ serve, issuer }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      const sign = user.open({ client: issuer.client("no-offline"), scope: "notes:read offline_access" }).signIn(url);
      await assert.rejects(sign, { code: "authorization_failed", message: /Invalid scopes/ });
    },
  },
  {
    name: "a user who was disabled after the sign-in is reported at the renewal",
    feature,
    async run({ serve, refuseTokens, onEnd, issuer: { realm } }) {
      const { url } = await serve();
      const user = libraryUser("bob");
      await user.call(url, "whoami");
      const id = await realm.findUser("bob");
      onEnd(() => realm.send("PUT", `/users/${id}`, { enabled: true }));
      await realm.send("PUT", `/users/${id}`, { enabled: false });
      refuseTokens();
      await assert.rejects(user.call(url, "whoami"));
      assert.match(user.steps.join("\n"), /User disabled/);
    },
  },
  {
    name: "login of a user who is disabled ends with a hint at the page of the issuer",
    feature,
    async run({ serve, user }) {
      const { url } = await serve();
      const { run } = await user("dave");
      const login = await run("login", url, "--timeout", "4s");
      assert.notEqual(login.code, 0);
      assert.match(login.err, /error|--new-client/i);
    },
  },
  {
    name: "introspection with a wrong secret is reported with the reason of the issuer",
    feature: "introspection and revocation",
    async run({ serve, issuer }) {
      const client = { ...issuer.resourceServer, secret: "wrong" };
      const { url, errors } = await serve({
        verifierOf: (resource) => introspectionVerifier({ issuer: issuer.url, audience: resource, client }),
      });
      const user = libraryUser("alice");
      await user.open().signIn(url);
      assert.equal((await user.request(url)).status, 503);
      const reasons = errors.map(String).join("\n");
      assert.match(reasons, /Invalid client|invalid_client|unauthorized_client/);
      assert.doesNotMatch(reasons, /did not respond/);
    },
  },
  {
    name: "a realm that is disabled and enabled again needs no sign-in",
    feature: "restarts of the issuer",
    async run({ serve, refuseTokens, onEnd, issuer: { realm } }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      await user.call(url, "whoami");
      onEnd(() => realm.send("PUT", "", { enabled: true }));
      await realm.send("PUT", "", { enabled: false });
      refuseTokens();
      await assert.rejects(user.call(url, "whoami"));
      assert.match(user.steps.join("\n"), /Realm not enabled|realm_not_enabled|Realm disabled/i);
      await realm.send("PUT", "", { enabled: true });
      assert.match(await user.call(url, "whoami"), /"subject"/);
      assert.equal(user.visited.length, 1, user.steps.join("\n"));
    },
  },
  {
    name: "a clock that is ahead is named in the error",
    feature: "wrong clocks",
    async run(world) {
      const { url } = await world.serve({ dpop: { required: true } });
      const { run } = await world.user("alice");
      world.clockAhead = 120_000;
      const login = await run("login", url);
      assert.notEqual(login.code, 0);
      assert.match(login.err, /clock/);
    },
  },
]);

/** Gives the realm a new key, with which it signs from now on. */
async function rotateKeys(realm: Realm): Promise<void> {
  const { id } = await realm.send("GET", "");
  await realm.send("POST", "/components", {
    name: `key-${Date.now()}`,
    parentId: id,
    providerId: "rsa-generated",
    providerType: "org.keycloak.keys.KeyProvider",
    config: { priority: [String(Math.floor(Date.now() / 1_000))], keySize: ["2048"], algorithm: ["RS256"] },
  });
}
