import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuth, OAuthOptions } from "./options.ts";

interface Setting {
  world: ScriptedIssuer;
  errors: Error[];
  start: (options?: OAuthOptions) => OAuth;
}

/** An issuer that supports `offline_access`. */
function setting(): Setting {
  const world = scriptedIssuer();
  world.metadata.scopes_supported = ["notes", "offline_access"];
  world.challenge = 'scope="notes"';
  const storage = memoryCredentials();
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const start = (options: OAuthOptions = {}): OAuth =>
    oauth({ storage, signIn: world.person(), fetch: world.fetch, onError, ...options });
  return { world, errors, start };
}

const requested = ({ authorizations }: ScriptedIssuer): (string | null)[] =>
  authorizations.map((sent) => sent.get("scope"));

describe("offline_access is requested", () => {
  test.each<[string, OAuthOptions, (world: ScriptedIssuer) => void, string | null]>([
    ["if the issuer supports it", {}, () => {}, "notes offline_access"],
    [
      "once, if the server names it too",
      {},
      (world) => (world.challenge = 'scope="offline_access notes"'),
      "notes offline_access",
    ],
    ["never with an explicit scope", { scope: "b a" }, () => {}, "b a"],
    ["with an explicit scope that has it", { scope: "offline_access a" }, () => {}, "offline_access a"],
    ["never if it is declined", { offlineAccess: false }, () => {}, "notes"],
    [
      "never if it is declined and the server names it",
      { offlineAccess: false },
      (world) => (world.challenge = 'scope="offline_access notes"'),
      "notes",
    ],
    [
      "with an explicit scope that has it, also if it is declined",
      { scope: "offline_access", offlineAccess: false },
      () => {},
      "offline_access",
    ],
    [
      "never if the issuer has no refresh tokens",
      {},
      (world) => (world.metadata.grant_types_supported = ["authorization_code"]),
      "notes",
    ],
    [
      "if the issuer lists refresh tokens",
      {},
      (world) => (world.metadata.grant_types_supported = ["authorization_code", "refresh_token"]),
      "notes offline_access",
    ],
    ["never if the issuer does not support it", {}, (world) => (world.metadata.scopes_supported = ["notes"]), "notes"],
  ])("%s", async (_, options, change, expected) => {
    const { world, start } = setting();
    change(world);
    await start(options).signIn(serverUrl);
    expect(requested(world)).toEqual([expected]);
    expect(world.authorizations[0]?.get("prompt")).toBe(expected?.includes("offline_access") ? "consent" : null);
  });
});

/** An error in the redirect of the first sign-ins that request `offline_access`. */
const refusingRedirect =
  (error: string, description?: string) =>
  ({ world }: Setting): OAuthOptions => ({
    signIn: world.person({
      back(url) {
        if (!requested(world).at(-1)?.includes("offline_access")) return url;
        url.searchParams.delete("code");
        url.searchParams.set("error", error);
        if (description !== undefined) url.searchParams.set("error_description", description);
        return url;
      },
    }),
  });

/** An error of the token endpoint, as of Keycloak for users without the role. */
const refusingTokens =
  (error: string, description?: string) =>
  ({ world }: Setting): OAuthOptions => {
    world.answerToken = () =>
      requested(world).at(-1)?.includes("offline_access")
        ? Response.json(
            { error, ...(description !== undefined && { error_description: description }) },
            { status: 400 },
          )
        : undefined;
    return {};
  };

describe("an issuer that refuses offline_access", () => {
  test.each([
    ["invalid_scope in the redirect", refusingRedirect("invalid_scope")],
    ["a denial of the scopes in the redirect", refusingRedirect("access_denied", "Scope not granted")],
    ["not_allowed for the code", refusingTokens("not_allowed", "Offline tokens not allowed for the user or client")],
    ["invalid_scope for the code", refusingTokens("invalid_scope")],
  ])("with %s is sent one sign-in without it, with a warning", async (_, refuse) => {
    const all = setting();
    const { world, errors, start } = all;
    const { scopes } = await start(refuse(all)).signIn(serverUrl);
    expect(scopes).toEqual(["notes"]);
    expect(requested(world)).toEqual(["notes offline_access", "notes"]);
    expect(world.registrations).toHaveLength(1);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/\. The sign-in starts again without offline_access\.$/),
    ]);
  });

  describe.each<[string, OAuthOptions]>([
    ["that registered itself", {}],
    ["that was registered manually", { client: { id: "manual" } }],
  ])("to a client %s", (_, options) => {
    const refusing = () => {
      const all = setting();
      all.world.clients.add("manual");
      const refuse = refusingTokens("not_allowed")(all);
      return { ...all, start: () => all.start({ ...refuse, ...options }) };
    };

    test("is not asked for it again by the next sign-in", async () => {
      const { world, errors, start } = refusing();
      await start().signIn(serverUrl);
      await start().signIn(serverUrl);
      expect(requested(world)).toEqual(["notes offline_access", "notes", "notes"]);
      expect(errors).toHaveLength(1);
    });

    test("is asked for it again after a sign-out", async () => {
      const { world, start } = refusing();
      await start().signIn(serverUrl);
      await start().signOut(serverUrl);
      world.answerToken = undefined;
      await start().signIn(serverUrl);
      expect(requested(world)).toEqual(["notes offline_access", "notes", "notes offline_access"]);
    });
  });

  test("is asked for it again by a new registration", async () => {
    const all = setting();
    const refuse = refusingTokens("not_allowed")(all);
    await all.start(refuse).signIn(serverUrl);
    await all.start(refuse).signIn(serverUrl, { newClient: true });
    expect(requested(all.world)).toEqual(["notes offline_access", "notes", "notes offline_access", "notes"]);
  });

  test("in a pushed request opens one page", async () => {
    const { world, start } = setting();
    world.metadata.pushed_authorization_request_endpoint = "https://as.example/par";
    world.answerPush = (sent) =>
      sent.get("scope")?.includes("offline_access")
        ? Response.json(
            { error: "invalid_request", error_description: "Invalid scopes: offline_access" },
            { status: 400 },
          )
        : undefined;
    await start().signIn(serverUrl);
    expect(requested(world)).toEqual(["notes"]);
    expect(world.pushedRequests).toHaveLength(2);
  });

  test("and all other scopes ends the sign-in after the second page", async () => {
    const { world, start } = setting();
    world.answerToken = () => Response.json({ error: "invalid_scope" }, { status: 400 });
    await expect(start().signIn(serverUrl)).rejects.toMatchObject({ data: { error: "invalid_scope" } });
    expect(requested(world)).toEqual(["notes offline_access", "notes"]);
  });

  test.each([
    ["a user who declines", refusingRedirect("access_denied", "The user said no")],
    ["a user who declines without words", refusingRedirect("access_denied")],
    ["another error", refusingTokens("server_error", "Down")],
  ])("is not assumed after %s", async (_, refuse) => {
    const all = setting();
    await expect(all.start(refuse(all)).signIn(serverUrl)).rejects.toThrow();
    expect(requested(all.world)).toEqual(["notes offline_access"]);
  });

  test("is not assumed for an explicit scope", async () => {
    const all = setting();
    const options = { ...refusingTokens("invalid_scope")(all), scope: "notes offline_access" };
    await expect(all.start(options).signIn(serverUrl)).rejects.toMatchObject({ data: { error: "invalid_scope" } });
    expect(all.world.visits).toHaveLength(1);
  });
});
