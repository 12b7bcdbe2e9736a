import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sendHttp } from "../../http/client/send.ts";
import { readHttpTarget } from "../../http/client/settings.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuthOptions } from "./options.ts";

/** The arguments of all console calls. */
let written: unknown[][] = [];
beforeEach(() => {
  written = [];
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, method).mockImplementation((...words: unknown[]) => void written.push(words));
  }
});
afterEach(() => vi.restoreAllMocks());

const secret = "s3cr3t-of-the-client-4711";

/** Returns all that a value reveals when it is inspected: messages, stacks, causes, data, hidden properties. */
const shown = (value: unknown): string =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity });

/** Creates a client of a scripted issuer, and collects all of its outputs that must not contain secrets. */
function watched(options: OAuthOptions = {}, habits: Parameters<ScriptedIssuer["person"]>[0] = {}) {
  const world = scriptedIssuer();
  const clock = fakeClock(1_000_000);
  const outcomes: unknown[] = [];
  const storage = memoryCredentials();
  const person = world.person(habits);
  world.clients.add("given");
  const client = { id: "given", secret };
  const onError = (error: Error): void => void outcomes.push(error);
  const auth = oauth({ signIn: person, fetch: world.fetch, clock, storage, client, onError, ...options });
  const settings = readHttpTarget({ url: serverUrl, auth, fetch: world.fetch });
  const call = async (): Promise<void> => {
    const { signal } = new AbortController();
    const outcome = sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal });
    outcomes.push(await outcome.then(({ status }) => status).catch((error: unknown) => error));
  };
  return { world, clock, auth, outcomes, call };
}

/** Returns the secrets: the values sent to the token endpoint, and the tokens that it issued. */
function secretsOf(world: ScriptedIssuer): string[] {
  const parameters = ["code", "code_verifier", "refresh_token", "client_secret"];
  const sent = world.tokenRequests.flatMap((request) => parameters.flatMap((name) => request.getAll(name)));
  const basic = world.tokenAuthorizations.flatMap((value) => value?.replace("Basic ", "") ?? []);
  return [...new Set([secret, ...sent, ...basic, ...world.live.keys()])];
}

function expectNothing({ world, outcomes }: ReturnType<typeof watched>): void {
  const visible = shown([outcomes, written]);
  const secrets = secretsOf(world);
  expect(secrets.length).toBeGreaterThan(1);
  for (const value of secrets) expect(visible).not.toContain(value);
}

test("a secret in the watched output is found", () => {
  const error = new Error("x", { cause: { parameters: new URLSearchParams({ code: "c0de" }) } });
  Object.defineProperty(error, "hidden", { value: "h1dden", enumerable: false });
  expect(shown(error)).toMatch(/c0de[^]*h1dden/);
});

test("a sign-in, a renewal, a step-up and a sign-out log no secret", async () => {
  const all = watched();
  const { world, clock, auth, outcomes, call } = all;
  world.challenge = 'scope="a"';
  await call();
  await clock.advance(3_600_000);
  await call();
  world.requiredScopes = ["b"];
  await call();
  expect(outcomes).toEqual([202, 202, 202]);
  const live = [...world.live.keys()];
  outcomes.push(await auth.whoami(serverUrl), await auth.signOut(serverUrl), auth);
  for (const token of live) expect(shown([outcomes, written])).not.toContain(token);
  expectNothing(all);
});

describe("an authorization server that repeats the secrets of a request in its response", () => {
  /** Answers that repeat the whole request, in every format of an answer. */
  const repeating: [string, (sent: string) => Response][] = [
    ["in a refusal", (sent) => Response.json({ error: "invalid_grant", error_description: sent }, { status: 400 })],
    ["as the code of a refusal", (sent) => Response.json({ error: sent }, { status: 400 })],
    [
      "in a refusal with a challenge",
      (sent) => Response.json({ error: "invalid_client", error_description: sent }, challenge(sent)),
    ],
    ["in a challenge only", (sent) => new Response(null, challenge(sent))],
    ["in invalid JSON", (sent) => new Response(sent)],
    ["in a token of an unknown type", (sent) => Response.json({ access_token: sent, token_type: "mac" })],
    ["in a response without a token", (sent) => Response.json({ access_token: sent, refresh_token: sent })],
    ["in a time", (sent) => Response.json({ access_token: sent, token_type: "Bearer", expires_in: sent })],
    ["in an ID token", (sent) => Response.json({ access_token: sent, token_type: "Bearer", id_token: sent })],
    [
      "in a redirect",
      (sent) => new Response(null, { status: 302, headers: { location: `https://evil.example/?${sent}` } }),
    ],
    ["in a status", (sent) => new Response(sent, { status: 500, statusText: "x" })],
  ];

  function challenge(sent: string): ResponseInit {
    const description = sent.replaceAll('"', "");
    return { status: 401, headers: { "www-authenticate": `Basic realm="x", error_description="${description}"` } };
  }

  for (const offered of ["client_secret_basic", "client_secret_post"]) {
    test.each(repeating)(`%s, with ${offered}`, async (_, answer) => {
      const all = watched();
      const { world, outcomes, call } = all;
      world.metadata.token_endpoint_auth_methods_supported = [offered];
      const repeat = (): Response => {
        const parameters = [...(world.tokenRequests.at(-1)?.values() ?? [])];
        const [, basic = ""] = world.tokenAuthorizations.at(-1)?.split(" ") ?? [];
        return answer([...parameters, basic, basic === "" ? "" : atob(basic)].join(" "));
      };
      world.answerToken = repeat;
      await call();
      world.answerToken = undefined;
      await call();
      world.live.clear();
      world.answerToken = (sent) => (sent.get("grant_type") === "refresh_token" ? repeat() : undefined);
      await call();
      expect(outcomes).toHaveLength(3);
      expectNothing(all);
    });
  }
});

test.each<[string, (url: URL) => URL]>([
  ["another state", (url) => (url.searchParams.set("state", "x"), url)],
  ["another issuer", (url) => (url.searchParams.set("iss", "https://evil.example"), url)],
  ["two codes", (url) => (url.searchParams.append("code", url.searchParams.get("code") ?? ""), url)],
  ["an error beside the code", (url) => (url.searchParams.set("error", "access_denied"), url)],
  ["another address", (url) => new URL(url.search, "http://127.0.0.1:7777/elsewhere")],
])("a redirect with %s puts no code into logs and errors", async (_, back) => {
  let code = "";
  const all = watched({}, { back: (url) => ((code = url.searchParams.get("code") ?? ""), back(url)) });
  await all.call();
  expect(code).toMatch(/^code-/);
  expect(all.outcomes).toEqual([expect.objectContaining({ code: "sign_in_failed" })]);
  expect(shown([all.outcomes, written])).not.toContain(code);
});
