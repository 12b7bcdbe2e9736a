import { describe, expect, test } from "vitest";
import { type DeviationResults, issuerDeviations } from "mcparley-tests/support/issuer-deviations.ts";
import { scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { oauth } from "./oauth.ts";

const usual: DeviationResults = { first: 202, second: 202, visits: 1, scopes: ["a", "b"], signOut: "revoked" };

describe.each(issuerDeviations)("$issuer", ({ deviation, apply, options, expected }) => {
  const { first, second, visits, scopes, signOut } = { ...usual, ...expected };

  test(deviation, async () => {
    const world = scriptedIssuer();
    world.challenge = 'scope="a b"';
    apply(world);
    const clock = fakeClock(1_000_000);
    const auth = oauth({ signIn: world.person(), fetch: world.fetch, clock, ...options });
    const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
    const { signal } = new AbortController();
    const call = async (): Promise<number> =>
      (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;

    if (typeof first !== "number") {
      await expect(call()).rejects.toMatchObject({
        code: "authorization_failed",
        message: expect.stringMatching(first),
      });
      expect(world.visits).toHaveLength(visits);
      return;
    }
    expect(await call()).toBe(first);
    expect(await auth.whoami(serverUrl)).toMatchObject({ scopes });
    world.live.clear();
    await clock.advance(world.lifetime * 1_000);
    expect(await call()).toBe(second);
    expect(world.visits).toHaveLength(visits);
    expect(await auth.signOut(serverUrl)).toBe(signOut);
  });
});
