import assert from "node:assert/strict";
import { checksOf } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import { libraryUser } from "../library.ts";

const feature = "sign-in without offline_access";

/** The scopes that a sign-in requests. */
export const scopes = checksOf<KeycloakIssuer>([
  {
    name: "a user without the role offline_access signs in",
    feature,
    async run({ serve, issuer }) {
      const { url } = await serve();
      const user = libraryUser("carol");
      assert.match(await user.call(url, "whoami", { client: issuer.client("public") }), /"subject"/);
    },
  },
  {
    name: "a client without the scope offline_access signs in",
    feature,
    async run({ serve, issuer }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      assert.match(await user.call(url, "whoami", { client: issuer.client("no-offline") }), /"subject"/);
      assert.ok(user.visited.length <= 2);
    },
  },
  {
    name: "an explicit scope is sent exactly",
    feature,
    async run({ serve, user }) {
      const { url } = await serve();
      const { run, browser } = await user("alice");
      const login = await run("login", url, "--scope", "notes:read");
      assert.equal(login.code, 0, login.err);
      assert.equal(browser.opened[0]?.searchParams.get("scope"), "notes:read");
    },
  },
  {
    name: "an explicit scope without offline_access creates no offline session",
    feature,
    async run({ serve, issuer: { realm } }) {
      const { url } = await serve();
      const user = libraryUser("bob");
      const { clientId } = await user.open({ scope: "notes:read" }).signIn(url);
      const client = await realm.findClient(clientId);
      assert.deepEqual(await realm.send("GET", `/clients/${client}/offline-session-count`), { count: 0 });
    },
  },
]);
