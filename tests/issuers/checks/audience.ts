import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { type TokenExchange, tokenExchange } from "mcparley/auth";
import { tool } from "mcparley/server";
import { checksOf } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import { upstream } from "../keycloak/realm.ts";
import { libraryUser } from "../library.ts";

const wrongAudience = "reported wrong audience";
const exchange = "token exchange";

/** Tokens for another audience than the server. */
export const audience = checksOf<KeycloakIssuer>([
  {
    name: "a token for another audience ends after one sign-in with the description of the server",
    feature: wrongAudience,
    async run({ serve, issuer }) {
      const { url } = await serve({ isKnown: false });
      const user = libraryUser("alice");
      await assert.rejects(user.call(url, "whoami"), { code: "unauthorized", message: /audience|another resource/i });
      assert.equal(user.visited.length, 1);
      const account = await user.open().whoami(url);
      if (account) assert.equal(await issuer.countRenewals(account.clientId), 0);
    },
  },
  {
    name: "login fails if the server refuses its token",
    feature: wrongAudience,
    async run({ serve, user }) {
      const { url } = await serve({ isKnown: false });
      const { run, browser } = await user("alice");
      const login = await run("login", url);
      assert.notEqual(login.code, 0);
      assert.match(login.err, /is not for this|audience of the token|wrong audience|for another/i);
      assert.equal(browser.opened.length, 1);
    },
  },
  {
    name: "a token is exchanged for one of another service",
    feature: exchange,
    async run({ serve, issuer }) {
      const calendar = tokenExchange({ issuer: issuer.url, client: issuer.resourceServer, audience: upstream });
      const exchanged = tool({
        call: async (_, ctx) => JSON.stringify(decodeJwt((await calendar.tokenFor(ctx)).token)),
      });
      const { url } = await serve({ tools: { exchanged } });
      const claims = JSON.parse(await libraryUser("alice").call(url, "exchanged"));
      assert.deepEqual([claims.aud].flat(), [upstream]);
    },
  },
  {
    name: "an exchanged token for another audience than the requested resource does not leave the library",
    feature: exchange,
    async run({ serve, issuer }) {
      const resource = "https://calendar.example.com";
      const calendar = tokenExchange({ issuer: issuer.url, client: issuer.resourceServer, resource });
      const { url } = await serve({ tools: { exchanged: exchanging(calendar) } });
      assert.match(await libraryUser("alice").call(url, "exchanged"), /^refused: .*calendar\.example\.com/);
    },
  },
  {
    name: "the refused exchange of a bound token has the description of the issuer",
    feature: exchange,
    async run({ serve, issuer }) {
      const calendar = tokenExchange({ issuer: issuer.url, client: issuer.resourceServer, audience: upstream });
      const { url } = await serve({ tools: { exchanged: exchanging(calendar) } });
      const user = libraryUser("alice");
      const printed = await user.call(url, "exchanged", { client: issuer.client("bound"), dpop: true });
      assert.match(printed, /^refused: .*(?:DPoP|sender-constrained)/i);
    },
  },
  {
    name: "a refused exchange has the description of the issuer",
    feature: exchange,
    async run({ serve, issuer }) {
      const calendar = tokenExchange({ issuer: issuer.url, client: issuer.resourceServer, audience: "unknown" });
      const { url } = await serve({ tools: { exchanged: exchanging(calendar) } });
      assert.match(await libraryUser("alice").call(url, "exchanged"), /^refused: .*Audience not found/);
    },
  },
]);

/** A tool that returns the exchanged token, or the reason of a refusal. */
function exchanging(exchange: TokenExchange): ReturnType<typeof tool> {
  return tool({
    call: (_, ctx) =>
      exchange.tokenFor(ctx).then(
        ({ token }) => token,
        (error: Error) => `refused: ${error.message}`,
      ),
  });
}
