import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { checksOf } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import { libraryUser } from "../library.ts";
import { tokenAge } from "./usual.ts";

/** The life of registrations: deleted at the issuer, refused, and used by several servers. */
export const registrations = checksOf<KeycloakIssuer>([
  {
    name: "a registration that was deleted is replaced when its token is refused, with one sign-in",
    feature: "deleted registrations",
    async run({ serve, refuseTokens, issuer: { realm } }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      const { clientId } = await user.open().signIn(url);
      await user.call(url, "whoami");
      await realm.send("DELETE", `/clients/${await realm.findClient(clientId)}`);
      refuseTokens();
      assert.match(await user.call(url, "whoami"), /"subject"/);
      assert.equal(user.visited.length, 2);
    },
  },
  {
    name: "after a logout, a registration that was deleted is replaced by login",
    feature: "deleted registrations",
    async run({ serve, user, issuer: { realm } }) {
      const { url } = await serve();
      const { run, browser } = await user("alice");
      await run("login", url);
      const { clientId } = (await run("whoami", url, "--json")).json();
      await realm.send("DELETE", `/clients/${await realm.findClient(clientId)}`);
      await run("logout", url);
      const login = await run("login", url, "--timeout", "10s");
      assert.equal(login.code, 0, login.err);
      assert.equal(browser.opened.length, 2);
    },
  },
  {
    name: "login replaces a registration that was deleted, before a browser opens",
    feature: "deleted registrations",
    async run({ serve, user, issuer: { realm } }) {
      const { url } = await serve();
      const { run, browser } = await user("alice");
      await run("login", url);
      const { clientId } = (await run("whoami", url, "--json")).json();
      await realm.send("DELETE", `/clients/${await realm.findClient(clientId)}`);
      const login = await run("login", url, "--timeout", "10s");
      assert.equal(login.code, 0, login.err);
      assert.equal(browser.opened.length, 2);
      assert.match((await run("call", url, "whoami")).out, /subject/);
    },
  },
  {
    name: "logout deletes the registration at the issuer",
    feature: "deletion of registrations (RFC 7592)",
    async run({ serve, issuer: { realm } }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      const { clientId } = await user.open().signIn(url);
      assert.notEqual(await realm.findClient(clientId), undefined);
      await user.open().signOut(url);
      assert.equal(await realm.findClient(clientId), undefined);
    },
  },
  {
    name: "logout keeps a registration that another server uses",
    feature: "deletion of registrations (RFC 7592)",
    async run({ serve, issuer: { realm } }) {
      const [first, second] = [await serve(), await serve()];
      const user = libraryUser("alice");
      await user.open().signIn(first.url);
      const { clientId } = await user.open().signIn(second.url);
      await user.open().signOut(first.url);
      assert.notEqual(await realm.findClient(clientId), undefined);
      await user.call(second.url, "whoami", { clockAhead: tokenAge });
      assert.equal(user.visited.length, 2);
      assert.equal(await user.open().signOut(second.url), "revoked");
    },
  },
  {
    name: "login --new-client registers another client",
    feature: "deleted registrations",
    async run({ serve, user }) {
      const { url } = await serve();
      const { run } = await user("alice");
      await run("login", url);
      const before = (await run("whoami", url, "--json")).json().clientId;
      const login = await run("login", url, "--new-client");
      assert.equal(login.code, 0, login.err);
      assert.notEqual((await run("whoami", url, "--json")).json().clientId, before);
    },
  },
  {
    name: "login with an unknown --client-id ends before a browser opens",
    feature: "deleted registrations",
    async run({ serve, user }) {
      const { url } = await serve();
      const { run, browser } = await user("alice");
      const login = await run("login", url, "--client-id", "unknown", "--timeout", "4s");
      assert.equal(login.code, 3, login.err);
      assert.match(login.err, /invalid_client/);
      assert.equal(browser.opened.length, 0);
    },
  },
  {
    name: "login with a wrong secret ends before a browser opens",
    feature: "client secrets",
    async run({ serve, user }) {
      const { url } = await serve();
      const { run, browser } = await user("alice", { CLIENT_SECRET: "wrong" });
      const options = ["--client-id", "confidential", "--client-secret-env", "CLIENT_SECRET", "--timeout", "4s"];
      const login = await run("login", url, ...options);
      assert.equal(login.code, 3, login.err);
      assert.match(login.err, /invalid_client|unauthorized_client/);
      assert.equal(browser.opened.length, 0);
    },
  },
  {
    name: "two servers whose users sign in at the same time are both renewed and revoked",
    feature: "several servers at one issuer",
    async run({ serve, issuer: { realm } }) {
      const urls = [(await serve()).url, (await serve()).url];
      const user = libraryUser("alice");
      // Each sign-in has a port of its own, as those of two processes. Keycloak ends the session of a browser with a code for
      // `offline_access`, also if another code of the session is not redeemed.
      const signInFrom = (port: number, url: string): Promise<unknown> =>
        user.open({ redirectUri: `http://127.0.0.1:${port}/callback`, offlineAccess: false }).signIn(url);
      await Promise.all(urls.map((url, index) => signInFrom(9 + index, url)));
      assert.equal(user.visited.length, 2);
      for (const url of urls) {
        await user.call(url, "whoami", { clockAhead: tokenAge });
        const { clientId = "" } = (await user.open().whoami(url)) ?? {};
        assert.notEqual(await realm.countEvents("REFRESH_TOKEN", clientId), 0);
      }
      assert.equal(user.visited.length, 2);
      for (const url of urls) assert.equal(await user.open().signOut(url), "revoked");
    },
  },
  {
    name: "two processes that sign in to two servers at the same time are both renewed and revoked",
    feature: "several servers at one issuer",
    async run(world) {
      const urls = [(await world.serve()).url, (await world.serve()).url];
      const { run, browser } = await world.user("alice");
      // Without `offline_access` for the reason above.
      const logins = urls.map((url) => run("login", url, "--no-offline"));
      for (const { code, err } of await Promise.all(logins)) assert.equal(code, 0, err);
      world.clockAhead = tokenAge;
      for (const url of urls) assert.equal((await run("call", url, "whoami")).code, 0);
      assert.equal(browser.opened.length, 2);
      for (const url of urls) assert.equal((await run("logout", url, "--json")).json().outcome, "revoked");
    },
  },
  {
    name: "a sign-in while the registered port is busy leaves other servers renewable and revocable",
    feature: "several servers at one issuer",
    async run(world) {
      const urls = [(await world.serve()).url, (await world.serve()).url] as const;
      const { run, browser } = await world.user("alice");
      await run("login", urls[0]);
      const busy = createServer().listen(Number(browser.cameBack[0]?.port), "127.0.0.1");
      await once(busy, "listening");
      world.onEnd(() => busy.close());
      const login = await run("login", urls[1]);
      assert.equal(login.code, 0, login.err);
      world.clockAhead = tokenAge;
      for (const url of urls) assert.equal((await run("call", url, "whoami")).code, 0);
      assert.equal(browser.opened.length, 2);
      for (const url of urls) assert.equal((await run("logout", url, "--json")).json().outcome, "revoked");
    },
  },
  {
    name: "a refused registration is reported with the reason of the issuer and the option --client-id",
    feature: "refused registrations",
    async run({ serve, user, issuer: { closed } }) {
      const { url } = await serve({ issuers: [closed.issuer] });
      const { run, browser } = await user("alice");
      const login = await run("login", url);
      assert.equal(login.code, 3, login.err);
      assert.match(login.err, /Host not trusted/);
      assert.match(login.err, /--client-id/);
      assert.doesNotMatch(login.err, /--header/);
      assert.equal(browser.opened.length, 0);
    },
  },
]);
