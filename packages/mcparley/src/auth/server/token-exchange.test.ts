import { describe, expect, test } from "vitest";
import { tokenExchange } from "./token-exchange.ts";
import { keepToken } from "./verified-token.ts";

/** A token exchange, and the tokens that were sent to its authorization server. */
function exchange(more: object = {}) {
  const sent: string[] = [];
  const calendar = tokenExchange({
    issuer: "https://as.example",
    tokenEndpoint: "https://as.example/token",
    client: { id: "notes", secret: "s" },
    resource: "https://calendar.example",
    fetch: (_, init) => {
      const token = new URLSearchParams(init?.body as URLSearchParams).get("subject_token") ?? "";
      sent.push(token);
      return Promise.resolve(
        Response.json({ access_token: `upstream of ${token}`, token_type: "Bearer", expires_in: 600, ...more }),
      );
    },
  });
  return { calendar, sent };
}

function principalWith(token: string, issuer: string) {
  const principal = { issuer, subject: "alice", scopes: [] };
  keepToken(principal, token);
  return principal;
}

describe("an exchanged token", () => {
  test("is not returned for a principal of another issuer with the same subject", async () => {
    const { calendar, sent } = exchange();
    const first = await calendar.tokenFor({ principal: principalWith("token-a", "https://a.example") });
    const second = await calendar.tokenFor({ principal: principalWith("token-b", "https://b.example") });
    expect(first.token).toBe("upstream of token-a");
    expect(second.token).toBe("upstream of token-b");
    expect(sent).toEqual(["token-a", "token-b"]);
  });

  test("is not returned for another token of the same principal, which may have other scopes", async () => {
    const { calendar } = exchange();
    await calendar.tokenFor({ principal: principalWith("broad", "https://a.example") });
    const second = await calendar.tokenFor({ principal: principalWith("narrow", "https://a.example") });
    expect(second.token).toBe("upstream of narrow");
  });

  test.each([{ expires_in: null }, { expires_in: 0 }, { expires_in: "", scope: null, refresh_token: null }])(
    "with %j has an unknown lifetime, and is cached",
    async (more) => {
      const { calendar, sent } = exchange(more);
      const principal = principalWith("token", "https://a.example");
      for (let count = 0; count < 2; count++) {
        expect(await calendar.tokenFor({ principal })).toEqual({ token: "upstream of token", scopes: undefined });
      }
      expect(sent).toEqual(["token"]);
    },
  );
});
