import assert from "node:assert/strict";
import { connect } from "mcparley/client";
import { browserOf } from "../../auth/browser.ts";
import { checksOf } from "../check.ts";
import { libraryUser } from "../library.ts";
import { tokenAge } from "./usual.ts";

/** The command, at each issuer. */
export const command = checksOf([
  {
    name: "mcparley login, call, whoami and logout",
    feature: "the command",
    async run(world) {
      const { url } = await world.serve();
      const { run, browser } = await world.user("alice");
      const login = await run("login", url);
      assert.equal(login.code, 0, login.err);
      assert.match((await run("call", url, "whoami")).out, /subject/);
      const account = (await run("whoami", url, "--json")).json();
      assert.equal(account.issuer, world.issuer.url);
      world.clockAhead = tokenAge;
      const renewed = await run("call", url, "whoami");
      assert.equal(renewed.code, 0, renewed.err);
      assert.equal(browser.opened.length, 1);
      assert.equal((await run("logout", url, "--json")).json().outcome, "revoked");
      assert.equal((await run("whoami", url)).code, 3);
    },
  },
  {
    name: "mcparley login --client-id with a secret",
    feature: "client secrets",
    async run(world) {
      const { url } = await world.serve();
      const client = world.issuer.client("confidential");
      const { run } = await world.user("alice", { SECRET: client.secret ?? "" });
      const login = await run("login", url, "--client-id", client.id, "--client-secret-env", "SECRET");
      assert.equal(login.code, 0, login.err);
      assert.match((await run("call", url, "whoami")).out, /subject/);
    },
  },
  {
    name: "mcparley login --dpop binds the tokens",
    feature: "DPoP",
    async run(world) {
      const { url } = await world.serve();
      const { run } = await world.user("alice");
      const login = await run("login", url, "--dpop");
      assert.equal(login.code, 0, login.err);
      assert.match((await run("call", url, "whoami")).out, /cnf/);
    },
  },
  {
    name: "mcparley login --no-offline requests no offline_access",
    feature: "sign-in without offline_access",
    async run(world) {
      const { url } = await world.serve();
      const { run, browser } = await world.user("alice");
      const login = await run("login", url, "--no-offline");
      assert.equal(login.code, 0, login.err);
      assert.doesNotMatch(browser.opened[0]?.searchParams.get("scope") ?? "", /offline_access/);
      assert.match((await run("call", url, "whoami")).out, /subject/);
    },
  },
  {
    name: "mcparley login --no-browser without a terminal prints the URL, and waits for the redirect",
    feature: "sign-in without a terminal",
    async run(world) {
      const { url } = await world.serve();
      const { run, start } = await world.user("alice");
      const { ended, printed } = start("login", url, "--no-browser", "--json", "--timeout", "20s");
      const [address] = await printed(/https?:[^\s"]+(?:redirect|request)_uri=[^\s"]+/);
      const redirect = await browserOf({ user: "alice" }).signIn(address);
      await (await fetch(redirect)).text();
      const { code, err } = await ended;
      assert.equal(code, 0, err);
      assert.match((await run("call", url, "whoami")).out, /subject/);
    },
  },
  {
    name: "a sign-in that fails keeps the tokens before it",
    feature: "several processes",
    async run({ serve }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      await user.open().signIn(url);
      await assert.rejects(user.open({ client: { id: "unknown" } }).signIn(url));
      assert.match(await user.call(url, "whoami"), /"subject"/);
      assert.equal(await user.open().signOut(url), "revoked");
    },
  },
  {
    name: "a client that runs uses the tokens of a new sign-in by another process",
    feature: "several processes",
    async run({ serve, refuseTokens }) {
      const { url } = await serve();
      const user = libraryUser("alice");
      const client = await connect(url, { auth: user.open() });
      await client.callToolResult("whoami");
      await user.open().signIn(url);
      refuseTokens();
      await client.callToolResult("whoami");
      await client.close();
      assert.equal(user.visited.length, 2);
    },
  },
  {
    name: "five processes with an old token renew it once",
    feature: "several processes",
    async run(world) {
      const { url } = await world.serve();
      const { run, browser } = await world.user("alice");
      await run("login", url);
      const { clientId } = (await run("whoami", url, "--json")).json();
      world.clockAhead = tokenAge;
      const ended = await Promise.all([1, 2, 3, 4, 5].map(() => run("call", url, "whoami")));
      for (const { code, err } of ended) assert.equal(code, 0, err);
      assert.equal(await world.issuer.countRenewals(clientId), 1);
      assert.equal(browser.opened.length, 1);
    },
  },
  {
    name: "without a terminal a step-up ends with a command that grants the missing scopes",
    feature: "step-up to more scopes",
    async run(world) {
      const { url } = await world.serve();
      const { run, browser } = await world.user("alice");
      await run("login", url);
      const refused = await run("call", url, "write");
      assert.equal(refused.code, 3, refused.err);
      const [, hint = ""] = /mcparley (login [^\n`]+)/.exec(refused.err) ?? [];
      for (const scope of ["notes:write", "notes:sign"]) assert.ok(hint.includes(scope), refused.err);
      const words = [...hint.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
      const login = await run(...words.map((word) => word.replace(/\.$/, "")));
      assert.equal(login.code, 0, login.err);
      const written = await run("call", url, "write");
      assert.equal(written.out.trim(), "written", written.err);
      assert.equal(browser.opened.length, 2);
    },
  },
  {
    name: "without a terminal no error names a URL at which nobody listens",
    async run(world) {
      const { url } = await world.serve();
      const { run } = await world.user("alice");
      const refused = await run("call", url, "whoami", "--json");
      assert.equal(refused.code, 3, refused.err);
      assert.doesNotMatch(refused.out + refused.err, /redirect_uri/);
    },
  },
]);
