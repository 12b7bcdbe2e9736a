import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { clockRemark } from "./oauth-error.ts";
import { oauth } from "./oauth.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const dated = (ms: number): Headers => new Headers({ date: new Date(ms).toUTCString() });

describe("the remark about a clock", () => {
  const remark = (headers: Headers, sentAt = now, receivedAt = now): string =>
    clockRemark({ headers, sentAt, receivedAt }, "the server");

  test.each([
    ["0 s apart", dated(now)],
    ["5 s behind", dated(now + 5_000)],
    ["5 s ahead, and the date is rounded down", dated(now - 6_000)],
    ["unknown", new Headers()],
    ["unknown, because the date is invalid", new Headers({ date: "yesterday" })],
  ])("is empty if the clocks are %s", (_, headers) => {
    expect(remark(headers)).toBe("");
  });

  test.each([
    ["6 s behind the clock of the server", dated(now + 6_000)],
    ["6 s ahead of the clock of the server", dated(now - 7_000)],
    ["86400 s behind the clock of the server", dated(now + 86_400_000)],
  ])("says: %s", (text, headers) => {
    expect(remark(headers)).toContain(`The clock of this machine is ${text}.`);
  });

  test("is empty if the response took long", () => {
    expect(remark(dated(now + 14_000), now, now + 14_000)).toBe("");
    expect(remark(dated(now), now, now + 14_000)).toBe("");
  });
});

describe("a clock that differs from that of", () => {
  function setting(seconds: number, change: (world: ScriptedIssuer) => void): Promise<number> {
    const world = scriptedIssuer();
    change(world);
    const clock = fakeClock(now + seconds * 1_000);
    const date = new Date(now).toUTCString();
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await world.fetch(input, init);
      const headers = new Headers(response.headers);
      headers.set("date", date);
      return new Response(response.body, { status: response.status, headers });
    };
    const auth = oauth({ signIn: world.person(), fetch, clock });
    const settings = readHttpTarget({ url: serverUrl, auth, fetch });
    const { signal } = new AbortController();
    return sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal }).then(({ status }) => status);
  }

  const refuseCode = (world: ScriptedIssuer): void => {
    const refusal = { error: "invalid_dpop_proof", error_description: "DPoP proof is not active" };
    world.answerToken = () => Response.json(refusal, { status: 400 });
  };
  const refuseTokens = (world: ScriptedIssuer): void => {
    world.rewrite = async (response, { path }) =>
      path === "/token" ? Response.json({ ...(await response.json()), access_token: "other" }) : response;
  };

  test.each([
    [20, "19 s ahead of"],
    [-20, "20 s behind"],
  ])("the authorization server by %i s is named in the error of a refused request", async (seconds, text) => {
    await expect(setting(seconds, refuseCode)).rejects.toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining(
        `invalid_dpop_proof (DPoP proof is not active). The clock of this machine is ${text} the clock of the authorization server.`,
      ),
      data: { error: "invalid_dpop_proof" },
    });
  });

  test.each([
    [20, "19 s ahead of"],
    [-20, "20 s behind"],
  ])("the MCP server by %i s is named if it refuses a new token", async (seconds, text) => {
    await expect(setting(seconds, refuseTokens)).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining(`The clock of this machine is ${text} the clock of the server.`),
    });
  });

  test("neither is not named", async () => {
    await expect(setting(2, refuseCode)).rejects.toMatchObject({ message: expect.not.stringContaining("clock") });
    await expect(setting(2, refuseTokens)).rejects.toMatchObject({ message: expect.not.stringContaining("clock") });
  });

  test("the authorization server does not fail a sign-in that succeeds", async () => {
    expect(await setting(-3_600, () => {})).toBe(202);
  });
});
