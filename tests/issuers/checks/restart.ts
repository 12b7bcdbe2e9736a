import assert from "node:assert/strict";
import type { Check } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import { libraryUser } from "../library.ts";
import type { World } from "../world.ts";

type Steps = { whileDown?(): Promise<void>; afterwards?(): Promise<void> };

/** A check of a restart: it signs in first, and returns the steps without Keycloak and with an empty database. */
export interface RestartCheck extends Pick<Check, "name" | "feature"> {
  prepare(world: World<KeycloakIssuer>): Promise<Steps>;
}

const feature = "restarts of the issuer";

/** Keycloak ends, and starts again with an empty database. */
export const restart: readonly RestartCheck[] = [
  {
    name: "a logout while the issuer is down reports that the tokens were not revoked",
    feature,
    async prepare({ serve, user }) {
      const { url } = await serve();
      const { run } = await user("alice");
      await run("login", url);
      return {
        async whileDown() {
          const logout = await run("logout", url);
          assert.notEqual(logout.code, 0, logout.out);
          assert.match(logout.err, /not revoked|remain valid/);
          assert.equal((await run("whoami", url)).code, 3);
        },
      };
    },
  },
  {
    name: "while the issuer is down, tokens with cached keys are accepted",
    feature,
    async prepare({ serve }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      await user.call(url, "whoami");
      return { whileDown: async () => void (await user.call(url, "whoami")) };
    },
  },
  {
    name: "while the issuer is down, a server without its keys answers 503 with Retry-After",
    feature,
    async prepare({ serve }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      await user.open().signIn(url);
      return {
        async whileDown() {
          const response = await user.request(url);
          assert.equal(response.status, 503);
          assert.ok(Number(response.headers.get("retry-after")) > 0);
        },
      };
    },
  },
  {
    name: "after the loss of the database, the library signs in once",
    feature,
    async prepare({ serve, refuseTokens, issuer }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      await user.call(url, "whoami");
      return {
        async afterwards() {
          await issuer.addResource(url);
          refuseTokens();
          assert.match(await user.call(url, "whoami"), /"subject"/);
          assert.equal(user.visited.length, 2);
          assert.equal(await user.open().signOut(url), "revoked");
        },
      };
    },
  },
  {
    name: "after the loss of the database, login registers another client before a browser opens",
    feature,
    async prepare({ serve, user, issuer }) {
      const { url } = await serve();
      const { run, browser } = await user("alice");
      await run("login", url);
      return {
        async afterwards() {
          await issuer.addResource(url);
          const login = await run("login", url, "--timeout", "10s");
          assert.equal(login.code, 0, login.err);
          assert.equal(browser.opened.length, 2);
          assert.match((await run("call", url, "whoami")).out, /subject/);
        },
      };
    },
  },
];
