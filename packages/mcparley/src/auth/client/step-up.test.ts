import { describe, expect, test } from "vitest";
import { scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";

/** Processes that share a storage, and a server whose first challenge requires the scope "a". */
function setting() {
  const world = scriptedIssuer();
  world.challenge = 'scope="a"';
  const clock = fakeClock(1_000_000);
  const storage = memoryCredentials();
  const start = (options: OAuthOptions = {}) => {
    const auth = oauth({ storage, clock, signIn: world.person(), fetch: world.fetch, ...options });
    return { auth, call: () => callWith(auth) };
  };
  async function callWith(auth: OAuth): Promise<number> {
    const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
    const { signal } = new AbortController();
    return (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
  }
  return { world, clock, start };
}

const unattended = {
  prepare: () =>
    Promise.resolve({
      redirectUri: "http://127.0.0.1:7777/callback",
      visit: () => Promise.reject(new LocalError("sign_in_required", "Nobody is here.")),
      close: () => Promise.resolve(),
    }),
};

describe("a call that needs more scopes", () => {
  test("requests the present and the required ones, but not all that the server supports", async () => {
    const { world, start } = setting();
    const { call } = start();
    await call();
    world.resourceMetadata!.scopes_supported = ["a", "b", "admin"];
    world.requiredScopes = ["b"];
    expect(await call()).toBe(202);
    expect(world.authorizations.map((sent) => sent.get("scope"))).toEqual(["a", "a b"]);
  });

  test("adds the required ones to an explicit scope, which a later sign-in sends as it is", async () => {
    const { world, start } = setting();
    const { call } = start({ scope: "mine" });
    await call();
    world.requiredScopes = ["b"];
    expect(await call()).toBe(202);
    world.requiredScopes = [];
    world.live.clear();
    world.answerToken = (sent) =>
      sent.has("refresh_token") ? Response.json({ error: "invalid_grant" }, { status: 400 }) : undefined;
    expect(await call()).toBe(202);
    expect(world.authorizations.map((sent) => sent.get("scope"))).toEqual(["mine", "mine b", "mine"]);
  });

  test("keeps the present token if no user can sign in", async () => {
    const { world, start } = setting();
    await start().call();
    const { call } = start({ signIn: unattended });
    world.requiredScopes = ["b"];
    await expect(call()).rejects.toMatchObject({ code: "sign_in_required" });
    world.requiredScopes = ["a"];
    expect(await call()).toBe(202);
    expect(await start().call()).toBe(202);
    expect(world.visits).toHaveLength(1);
  });

  test("keeps the present token if the sign-in fails", async () => {
    const { world, start } = setting();
    await start().call();
    const { call } = start({ signIn: world.person({ back: () => Promise.reject(new Error("closed")) }) });
    world.requiredScopes = ["b"];
    await expect(call()).rejects.toThrow("closed");
    world.requiredScopes = [];
    for (const { call: again } of [{ call }, start()]) expect(await again()).toBe(202);
    expect(world.visits).toHaveLength(2);
  });

  test("finds out that the issuer has lost the client before a page opens", async () => {
    const { world, start } = setting();
    const { call } = start();
    await call();
    world.requiredScopes = ["b"];
    world.clients.clear();
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(2);
    expect(world.authorizations.at(-1)?.get("client_id")).not.toBe(world.authorizations[0]?.get("client_id"));
  });
});

describe("a client that runs", () => {
  test("uses the tokens of a sign-in of another process instead of a sign-in", async () => {
    const { world, start } = setting();
    const { call } = start();
    await call();
    world.requiredScopes = ["b"];
    await start().auth.signIn(serverUrl, { scope: "b" });
    expect(await call()).toBe(202);
    world.live.clear();
    await start().auth.signIn(serverUrl, { scope: "b" });
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(3);
    const renewals = world.tokenRequests.filter((sent) => sent.get("refresh_token")?.startsWith("refresh-"));
    expect(renewals).toEqual([]);
  });

  test("uses them if its own renewal is refused meanwhile", async () => {
    const { world, clock, start } = setting();
    const { call } = start();
    await call();
    await clock.advance(world.lifetime * 1_000);
    world.answerToken = async (sent) => {
      if (!sent.get("refresh_token")?.startsWith("refresh-")) return undefined as never;
      world.answerToken = undefined;
      await start().auth.signIn(serverUrl);
      world.live.delete("access-3");
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    };
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(2);
  });

  test("does not renew a token of ten seconds for each call", async () => {
    const { world, clock, start } = setting();
    world.lifetime = 10;
    const { call } = start();
    await call();
    const renewals = (): number =>
      world.tokenRequests.filter((sent) => sent.get("grant_type") === "refresh_token").length;
    for (let second = 1; second < 9; second++) {
      await clock.advance(1_000);
      expect(await call()).toBe(202);
    }
    expect(renewals()).toBe(0);
    await clock.advance(1_000);
    for (let i = 0; i < 3; i++) expect(await call()).toBe(202);
    expect(renewals()).toBe(1);
  });
});

test("a renewal keeps the scopes of a call that needed more, for the sign-in after a refused renewal", async () => {
  const { world, clock, start } = setting();
  const { call } = start();
  await call();
  world.requiredScopes = ["b"];
  expect(await call()).toBe(202);
  world.requiredScopes = [];
  const renew = async (): Promise<void> => {
    world.live.clear();
    await clock.advance(world.lifetime * 1_000);
    expect(await call()).toBe(202);
  };
  await renew();
  expect(world.visits).toHaveLength(2);
  world.answerToken = (sent) =>
    sent.has("refresh_token") ? Response.json({ error: "invalid_grant" }, { status: 400 }) : undefined;
  await renew();
  expect(world.authorizations.map((sent) => sent.get("scope"))).toEqual(["a", "a b", "a b"]);
});
