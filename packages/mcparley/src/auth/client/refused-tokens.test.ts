import { describe, expect, test } from "vitest";
import { type ScriptedIssuer, scriptedIssuer, serverUrl } from "mcparley-tests/support/scripted-issuer.ts";
import { connect } from "../../connect.ts";
import { LocalError } from "../../rpc/errors.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { memoryCredentials } from "./credentials.ts";
import { oauth } from "./oauth.ts";
import type { OAuthOptions } from "./options.ts";
import type { SignIn, SignInPurpose } from "./sign-in.ts";

const reason = 'error="invalid_token", error_description="The audience must be notes"';

interface Refusing {
  readonly world: ScriptedIssuer;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly auth: ReturnType<typeof oauth>;
  /** Connects a client, and returns the error. */
  readonly failure: () => Promise<LocalError>;
}

/** A server that refuses each token, and a client that signs in there. `change` changes the responses of both servers. */
function refusing(
  options: OAuthOptions = {},
  change: (response: Response, url: string) => Response | Promise<Response> = (response) => response,
): Refusing {
  const world = scriptedIssuer();
  world.challenge = reason;
  const clock = fakeClock(Date.parse("2026-11-20T12:00:00Z"));
  const send: typeof fetch = async (input, init) => {
    world.live.clear();
    return change(await world.fetch(input, init), String(input instanceof Request ? input.url : input));
  };
  const auth = oauth({ signIn: world.person(), fetch: send, clock, storage: memoryCredentials(), ...options });
  const failure = (): Promise<LocalError> =>
    connect({ url: serverUrl, fetch: send }, { auth, clock }).then(
      () => Promise.reject(new Error("The server accepted a token.")),
      (error: LocalError) => error,
    );
  return { world, clock, auth, failure };
}

describe("a token that is refused directly after the sign-in", () => {
  test("ends the connection after one sign-in and no renewal, with the reason of the server", async () => {
    const { world, failure } = refusing();
    const error = await failure();
    expect(error).toMatchObject({
      code: "unauthorized",
      message:
        `https://mcp.example rejects the token that "https://as.example" has just issued for "${serverUrl}": ` +
        "invalid_token (The audience must be notes). Check the accepted issuers and audiences of the server.",
      data: { status: 401, issuer: "https://as.example", error: "invalid_token" },
    });
    expect(world.visits).toHaveLength(1);
    expect(world.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual(["authorization_code"]);
  });

  test("starts no second sign-in for the first connection after `signIn`", async () => {
    const { world, auth, failure } = refusing();
    await auth.signIn(serverUrl);
    expect((await failure()).message).toContain("invalid_token (The audience must be notes)");
    expect(world.visits).toHaveLength(1);
    expect(world.tokenRequests).toHaveLength(1);
    await auth.signIn(serverUrl);
    expect(world.visits).toHaveLength(2);
  });

  test("ends two connections that wait for the same sign-in with the same error", async () => {
    const { world, failure } = refusing();
    const errors = await Promise.all([failure(), failure()]);
    for (const { message } of errors) expect(message).toContain("invalid_token (The audience must be notes)");
    expect(world.visits).toHaveLength(1);
  });

  test("is followed by another sign-in after ten minutes", async () => {
    const { world, clock, failure } = refusing();
    await failure();
    await clock.advance(599_999);
    await failure();
    expect(world.visits).toHaveLength(1);
    await clock.advance(1);
    await failure();
    expect(world.visits).toHaveLength(2);
  });

  test("is renewed if the server has accepted it before", async () => {
    const world = scriptedIssuer();
    const auth = oauth({ signIn: world.person(), fetch: world.fetch, storage: memoryCredentials() });
    const call = async (): Promise<LocalError | undefined> =>
      connect({ url: serverUrl, fetch: world.fetch }, { auth }).then(
        () => undefined,
        (error: LocalError) => error,
      );
    expect((await call())?.code).not.toBe("unauthorized");
    world.live.clear();
    expect((await call())?.code).not.toBe("unauthorized");
    expect(world.tokenRequests.map((sent) => sent.get("grant_type"))).toEqual(["authorization_code", "refresh_token"]);
    expect(world.visits).toHaveLength(1);
  });

  test("is named with its reason if a later process cannot sign in", async () => {
    const storage = memoryCredentials();
    await refusing({ storage }).failure();
    const nobody = {
      prepare: () => Promise.reject(new LocalError("sign_in_required", "A user must sign in.")),
    };
    const error = await refusing({ storage, signIn: nobody }).failure();
    expect(error).toMatchObject({
      code: "sign_in_required",
      message: expect.stringContaining(
        `A user must sign in. ${serverUrl} refused the stored token: invalid_token (The audience must be notes).`,
      ),
    });
  });
});

test("the sign-in receives the servers and the scopes before a client is registered", async () => {
  const purposes: unknown[] = [];
  const signIn = {
    prepare: (_: string | undefined, purpose: unknown) => {
      purposes.push(purpose);
      return Promise.reject(new LocalError("sign_in_required", "A user must sign in."));
    },
  };
  const { world, failure } = refusing({ signIn });
  world.challenge = 'scope="a b"';
  expect((await failure()).code).toBe("sign_in_required");
  expect(purposes).toEqual([{ server: serverUrl, issuer: "https://as.example", scopes: ["a", "b"] }]);
  expect(world.registrations).toEqual([]);
});

test("the sign-in of a request for more scopes receives those that are missing", async () => {
  const purposes: (SignInPurpose | undefined)[] = [];
  const world = scriptedIssuer();
  const signIn: SignIn = {
    prepare(_, purpose) {
      purposes.push(purpose);
      if (purpose?.missingScopes) throw new LocalError("sign_in_required", "A user must sign in.");
      return world.person().prepare();
    },
  };
  world.challenge = 'scope="read"';
  const auth = oauth({ signIn, fetch: world.fetch });
  await auth.signIn(serverUrl);
  world.requiredScopes = ["read", "write"];
  const connecting = connect({ url: serverUrl, fetch: world.fetch }, { auth });
  await expect(connecting).rejects.toMatchObject({ code: "sign_in_required" });
  const servers = { server: serverUrl, issuer: "https://as.example" };
  expect(purposes).toEqual([
    { ...servers, scopes: ["read"] },
    { ...servers, scopes: ["read", "write"], missingScopes: ["write"] },
  ]);
});

/** Returns a JWT without a valid signature. `exp` is a time in milliseconds. */
const jwt = (exp: number): string => `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ exp: exp / 1_000 }))}.`;

describe("the clocks of a refused token", () => {
  const failureAt = async ({ server = 0, issuer = 0 }): Promise<string> => {
    const now = Date.parse("2026-11-20T12:00:00Z");
    const { failure } = refusing({}, async (response, url) => {
      if (url === serverUrl) response.headers.set("date", new Date(now + server * 1_000).toUTCString());
      if (!url.endsWith("/token")) return response;
      const body = (await response.json()) as object;
      return Response.json({ ...body, access_token: jwt(now + 3_600_000 + issuer * 1_000) });
    });
    return (await failure()).message;
  };

  test("are named if they differ by more than 5 seconds", async () => {
    expect(await failureAt({ server: 5, issuer: -5 })).not.toContain("clock");
    expect(await failureAt({ server: 21 })).toContain(
      "The clock of this machine is 21 s behind the clock of the server. Correct the clock",
    );
    // The header has whole seconds.
    expect(await failureAt({ server: -60 })).toContain("is 59 s ahead of the clock of the server.");
    const issuer = await failureAt({ issuer: 35 });
    expect(issuer).toContain("The clock of this machine is 35 s behind the clock of the authorization server.");
    expect(issuer).not.toContain("clock of the server");
  });

  test("are named if the issuer refuses a proof with the time of this machine", async () => {
    const failureWith = async (dpop: boolean, seconds: number): Promise<string> => {
      const world = scriptedIssuer();
      world.answerToken = () =>
        Response.json(
          { error: "invalid_request", error_description: "DPoP proof is not active" },
          { status: 400, headers: { date: new Date(Date.now() + seconds * 1_000).toUTCString() } },
        );
      const auth = oauth({ signIn: world.person(), fetch: world.fetch, dpop });
      return auth.signIn(serverUrl).then(
        () => "",
        (error: LocalError) => error.message,
      );
    };
    expect(await failureWith(true, -40)).toMatch(
      /DPoP proof is not active\)\. The clock of this machine is (?:39|40) s ahead of the clock of the authorization server\./,
    );
    expect(await failureWith(true, -4)).not.toContain("clock");
  });
});
