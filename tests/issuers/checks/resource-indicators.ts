import assert from "node:assert/strict";
import { checksOf } from "../check.ts";
import { libraryUser } from "../library.ts";

/** The checks of issuers that read the parameter `resource` (RFC 8707). */
export const resourceIndicators = checksOf([
  {
    name: "a token is for the server alone for which it was requested",
    feature: "resource indicators",
    async run({ serve }) {
      const [first, second] = [await serve(), await serve()];
      const user = libraryUser("alice");
      for (const { url } of [first, second]) {
        const { claims } = JSON.parse(await user.call(url, "whoami")) as { claims: { aud: unknown } };
        assert.equal(claims.aud, url);
      }
      const headers = await user.open().headers({
        server: new URL(first.url),
        url: new URL(first.url),
        method: "POST",
      });
      assert.equal((await fetch(second.url, { method: "POST", headers })).status, 401);
    },
  },
]);
