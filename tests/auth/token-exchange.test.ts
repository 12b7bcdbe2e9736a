import { inspect } from "node:util";
import { introspectionVerifier, tokenExchange } from "mcparley/auth";
import { type Context, tool } from "mcparley/server";
import { fakeClock } from "mcparley/testing";
import { errors } from "oidc-provider";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { getTokens } from "./tokens.ts";

const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
const client = { id: "notes-server", secret: "a secret that is long enough for anyone" };
const upstream = "https://calendar.example";
const clock = fakeClock(Date.now());
let as: AuthorizationServer;
let server: ProtectedServer;
let resource: string;
/** The Authorization headers that the upstream service received from the handlers. */
const received: string[] = [];
let given = 0;

beforeAll(async () => {
  as = await startAuthorizationServer({
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: ["client_credentials", grantType],
      },
    ],
  });
  exchangeTokens();
  server = await serveProtected({
    protect(url) {
      resource = url;
      as.resources.set(url, { scope: "notes:read", format: "opaque" });
      const verifier = introspectionVerifier({ issuer: as.issuer, audience: url, client, clock });
      return { resource, issuers: [as.issuer], verifier, clock };
    },
    definition: { tools: toolsOf(tokenExchange({ issuer: as.issuer, client, resource: upstream, clock })) },
  });
});
afterAll(async () => {
  await server.close();
  await as.close();
});
beforeEach(() => {
  received.length = 0;
  given = 0;
});

function toolsOf(calendar: ReturnType<typeof tokenExchange>) {
  return {
    events: tool({
      call: async (_, ctx) => {
        const { token } = await calendar.tokenFor(ctx);
        received.push(`Bearer ${token}`);
        return "none";
      },
    }),
    /** All values that a handler can reach through its context. */
    look: tool({ call: (_, ctx: Context) => inspect(ctx, { depth: 12, showHidden: true, getters: true }) }),
    refused: tool({
      call: async (_, ctx) => {
        const other = tokenExchange({ issuer: as.issuer, client, resource: "https://forbidden.example", clock });
        const error: unknown = await other.tokenFor(ctx).catch((caught: unknown) => caught);
        return inspect(error, { depth: 12 });
      },
    }),
  };
}

/** Adds the grant that the authorization server has no code for, for the one upstream that it knows. */
function exchangeTokens(): void {
  const parameters = ["subject_token", "subject_token_type", "requested_token_type", "resource"];
  as.provider.registerGrantType(
    grantType,
    async (ctx) => {
      const { subject_token: token, resource: wanted } = ctx.oidc.params as Record<string, string>;
      const subject = await as.provider.AccessToken.find(token!);
      if (!subject) throw new errors.InvalidGrant("subject_token");
      if (wanted !== upstream) throw new errors.InvalidTarget(`not for ${token}`);
      given++;
      ctx.body = {
        access_token: `upstream-of-${subject.accountId}-${given}`,
        issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
        token_type: "Bearer",
        expires_in: 120,
      };
    },
    parameters,
  );
}

const tokenOf = async (user: string): Promise<string> =>
  (await getTokens(as, { user, scope: "notes:read", resource })).access_token;
const call = (name: string, token: string) => server.call(name, { authorization: `Bearer ${token}` });

test("a handler receives a token for another service on behalf of its caller, and reuses it while it is valid", async () => {
  const [alice, bob] = await Promise.all([tokenOf("alice"), tokenOf("bob")]);
  await Promise.all(Array.from({ length: 5 }, () => call("events", alice)));
  expect(given).toBe(1);
  await call("events", bob);
  await call("events", alice);
  expect(given).toBe(2);
  expect(new Set(received)).toEqual(new Set(["Bearer upstream-of-alice-1", "Bearer upstream-of-bob-2"]));
  const asked = as.tokenRequests.findLast((parameters) => parameters.get("grant_type") === grantType)!;
  expect(asked.get("subject_token")).toBe(bob);
  expect(asked.get("resource")).toBe(upstream);
  await clock.advance(91_000);
  await call("events", alice);
  expect(received.at(-1)).toBe("Bearer upstream-of-alice-3");
});

describe("the token of a caller is sent only to its own issuer", () => {
  test("no other service receives the caller's token, whatever the handler does with its context", async () => {
    const token = await tokenOf("alice");
    await call("events", token);
    expect(received.join(" ")).not.toContain(token);
    const { said } = await call("look", token);
    expect(said).toContain("alice");
    expect(said).not.toContain(token);
  });

  test("the error of a refused exchange does not contain the token, even if the issuer's response does", async () => {
    const token = await tokenOf("alice");
    const { said } = await call("refused", token);
    expect(said).toContain("invalid_target");
    expect(said).not.toContain(token);
  });
});

test("an exchange fails for a caller that was not authenticated by a token", async () => {
  const exchange = tokenExchange({ issuer: as.issuer, client, resource: upstream });
  for (const principal of [undefined, { issuer: as.issuer, subject: "alice", scopes: [] }]) {
    await expect(exchange.tokenFor({ principal })).rejects.toMatchObject({ code: "unauthorized" });
  }
});

test("an exchange requires a resource or an audience", () => {
  expect(() => tokenExchange({ issuer: as.issuer, client })).toThrow("resource or audience");
});
