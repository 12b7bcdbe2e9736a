import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { oauth } from "./oauth.ts";
import type { OAuth } from "./options.ts";

interface Setting {
  world: ScriptedIssuer;
  auth: OAuth;
  call: () => Promise<number>;
  /** Makes the access token invalid. */
  expire: () => Promise<void>;
}

function setting(back = (url: URL): URL => url): Setting {
  const world = scriptedIssuer();
  const clock = fakeClock(1_000_000);
  const auth = oauth({ signIn: world.person({ back }), fetch: world.fetch, clock });
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
  const { signal } = new AbortController();
  const call = async (): Promise<number> =>
    (await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })).status;
  const expire = async (): Promise<void> => {
    world.live.clear();
    await clock.advance(world.lifetime * 1_000);
  };
  return { world, auth, call, expire };
}

const failure = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);
const encode = (value: object): string => btoa(JSON.stringify(value)).replace(/=+$/, "");
const unsigned = (header: object, claims: object): string => `${encode(header)}.${encode(claims)}.c2ln`;

describe("an ID token", () => {
  const claims = { iss: "https://as.example", sub: "alice", aud: "client-1", iat: 1_000, exp: 9e9 };

  test.each<[string, string, string | undefined]>([
    ["as usual", unsigned({ alg: "RS256" }, claims), "alice"],
    ["signed with an algorithm that the metadata does not name", unsigned({ alg: "ES256" }, claims), "alice"],
    ["with a nonce", unsigned({ alg: "RS256" }, { ...claims, nonce: "n" }), "alice"],
    ["with null claims", unsigned({ alg: "RS256" }, { ...claims, nbf: null, auth_time: null }), "alice"],
    ["without a subject", unsigned({ alg: "RS256" }, { ...claims, sub: undefined }), undefined],
    ["with a subject that is a number", unsigned({ alg: "RS256" }, { ...claims, sub: 5 }), undefined],
    ["of another issuer", unsigned({ alg: "RS256" }, { ...claims, iss: "https://as.example/" }), "alice"],
    ["for another audience", unsigned({ alg: "RS256" }, { ...claims, aud: ["x", "client-1"], azp: "x" }), "alice"],
    ["that has expired by the local clock", unsigned({ alg: "RS256" }, { ...claims, exp: 1 }), "alice"],
    ["that is not valid yet by the local clock", unsigned({ alg: "RS256" }, { ...claims, nbf: 9e9 }), "alice"],
    ["that is encrypted", "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.a.b.c.d", undefined],
    ["that is no JWT", "x", undefined],
  ])("%s is displayed at most, and ends no sign-in and no renewal", async (_, idToken, subject) => {
    const { world, auth, call, expire } = setting();
    world.rewrite = async (response, { path }) =>
      path === "/token" ? Response.json({ ...(await response.json()), id_token: idToken }) : response;
    expect(await call()).toBe(202);
    expect((await auth.whoami(serverUrl))?.subject).toBe(subject);
    await expire();
    expect(await call()).toBe(202);
    expect(world.visits).toHaveLength(1);
  });
});

describe("the error of a token request", () => {
  const issued = { access_token: "s3cr3t-access", token_type: "Bearer", refresh_token: "s3cr3t-refresh" };

  test.each<[string, () => Response, string]>([
    ["the title of a page", () => new Response("<title>Sign in to the proxy</title>"), "Sign in to the proxy"],
    ["the text of a page", () => new Response("<p>Out of order", { status: 203 }), "(status 203)*Out of order"],
    ["the status of an empty response", () => new Response(null, { status: 204 }), "(status 204)"],
    ["the type of a token", () => Response.json({ ...issued, token_type: "mac" }), '`token_type` value "mac"'],
    [
      "the characters of a token",
      () => Response.json({ ...issued, access_token: "a\r\nb" }),
      "line breaks or characters outside of ASCII",
    ],
    ["the letters of a token", () => Response.json({ ...issued, access_token: "é" }), "outside of ASCII"],
  ])("has %s", async (_, answer, expected) => {
    const { world, auth, call } = setting();
    world.answerToken = answer;
    const [start = "", end = ""] = expected.split("*");
    const message = expect.stringMatching(new RegExp(`${escapeText(start)}.*${escapeText(end)}`)) as string;
    expect(await failure(call())).toMatchObject({ code: "authorization_failed", message });
    expect(await auth.whoami(serverUrl)).toBeUndefined();
  });

  test("accepts a type of a token with spaces", async () => {
    const { world, call } = setting();
    world.rewrite = async (response, { path }) =>
      path === "/token" ? Response.json({ ...(await response.json()), token_type: "Bearer " }) : response;
    expect(await call()).toBe(202);
  });

  test.each<[string, (sent: URLSearchParams) => Response]>([
    ["a code of a form", (sent) => refusal(`code=${new URLSearchParams({ "": sent.get("code") ?? "" })}`)],
    ["a code in JSON", (sent) => refusal(JSON.stringify({ x: sent.get("code") }).replaceAll("/", "\\/"))],
    [
      "issued tokens",
      () => Response.json({ ...issued, error: "x", error_description: "s3cr3t-access, s3cr3t-refresh failed" }),
    ],
    [
      "the tokens of a user",
      () => Response.json({ error: "x", authed_user: issued, error_description: "s3cr3t-access failed" }),
    ],
    ["an issued secret", () => Response.json({ client_secret: "s3cr3t-1", error: "s3cr3t-1" }, { status: 400 })],
  ])("contains no secret that the issuer repeats: %s", async (_, answer) => {
    const back = (url: URL): URL => (url.searchParams.set("code", "4/s3cr3t+code=="), url);
    const { world, call } = setting(back);
    world.answerToken = answer;
    const error = await failure(call());
    expect(error).toMatchObject({ message: expect.stringContaining("[redacted]") as string });
    expect(JSON.stringify([error, String(error)])).not.toContain("s3cr3t");
  });

  function refusal(description: string): Response {
    return Response.json({ error: "invalid_grant", error_description: description }, { status: 400 });
  }

  function escapeText(text: string): string {
    return text.replace(/[()]/g, "\\$&");
  }
});

test.each<[string, (url: URL) => void]>([
  ["the description of an error", ({ searchParams }) => searchParams.set("error_description", "4/s3cr3t failed")],
  ["the issuer", ({ searchParams }) => searchParams.set("iss", "https://as.example/?code=4%2Fs3cr3t")],
])("a code that a redirect repeats in %s is not in the error", async (_, change) => {
  const { call } = setting((url) => {
    url.searchParams.set("code", "4/s3cr3t");
    url.searchParams.set("error", "server_error");
    change(url);
    return url;
  });
  const error = await failure(call());
  expect(error).toMatchObject({ code: "sign_in_failed", message: expect.stringContaining("[redacted]") as string });
  expect(JSON.stringify([error, String(error)])).not.toContain("s3cr3t");
});
