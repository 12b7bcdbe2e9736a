import { decodeJwt } from "jose";
import { type OAuth, type OAuthOptions, jwtVerifier, memoryCredentials, oauth } from "mcparley/auth";
import { connect } from "mcparley/client";
import { fakeClock } from "mcparley/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type Browser, browserOf } from "./browser.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { signInWith } from "./sign-in-with.ts";

/** Both servers want their own nonces in the proofs, and the MCP server takes no token without one. */
let as: AuthorizationServer;
let server: ProtectedServer;

beforeAll(async () => {
  as = await startAuthorizationServer({ dpopNonce: true });
  server = await serveProtected({
    protect(resource) {
      as.resources.set(resource, { scope: "notes:read notes:write notes:sign" });
      const verifier = jwtVerifier({ issuer: as.issuer, audience: resource });
      return {
        resource,
        issuers: [as.issuer],
        verifier,
        scopes: ["notes:read"],
        dpop: { required: true, nonce: true },
      };
    },
  });
});
afterAll(async () => {
  await server.close();
  await as.close();
});

function userOf(options: OAuthOptions = {}): { auth: OAuth; browser: Browser } {
  const browser = browserOf({ user: "alice" });
  return { browser, auth: oauth({ signIn: signInWith(browser), ...options }) };
}

/** A sent request, as described by its proof. */
interface Proved {
  method: string;
  status: number;
  jti: string | undefined;
  htm: unknown;
  token: string | undefined;
}

function watching(): { fetch: typeof fetch; proved: Proved[] } {
  const proved: Proved[] = [];
  return {
    proved,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const headers = new Headers(init?.headers);
      const { jti, htm } = decodeJwt(headers.get("dpop") ?? "e30.e30.e30");
      const token = headers.get("authorization")?.split(" ")[1];
      proved.push({ method: init?.method ?? "GET", status: response.status, jti, htm, token });
      return response;
    },
  };
}

test("a token is bound to a key if the server requires it, and each request of a session has a proof", async () => {
  const { auth, browser } = userOf();
  const { fetch, proved } = watching();
  const client = await connect(server.url, { auth, fetch, revision: "2025-11-25" });
  expect(await client.callTool("write")).toBe("written");
  await client.close();
  expect(browser.submitted).toEqual(["login", "consent", "consent"]);
  const good = proved.filter(({ status }) => status < 400);
  expect(new Set(good.map(({ method }) => method))).toEqual(new Set(["POST", "GET", "DELETE"]));
  for (const { method, htm } of good) expect(htm).toBe(method);
  const ids = proved.flatMap(({ jti }) => jti ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  // For want of a token, of a nonce, and of scopes; nothing was refused twice for the same reason.
  expect(proved.filter(({ status }) => status >= 400).map(({ status }) => status)).toEqual([401, 401, 403]);
});

test("the key is stored with the tokens, so that another process can use and renew them", async () => {
  const clock = fakeClock(Date.now());
  const storage = memoryCredentials();
  const { auth, browser } = userOf({ storage, clock });
  await auth.signIn(server.url);
  await clock.advance(3_600_000);
  const first = watching();
  await (await connect(server.url, { auth, fetch: first.fetch })).close();
  const { auth: other } = userOf({ storage, clock, signIn: signInWith(browser) });
  const second = watching();
  const client = await connect(server.url, { auth: other, fetch: second.fetch });
  expect(JSON.parse((await client.callTool("whoami")) as string)).toMatchObject({ subject: "alice" });
  await client.close();
  expect(browser.submitted).toEqual(["login", "consent"]);
  expect(as.tokenRequests.at(-1)?.get("grant_type")).toBe("refresh_token");
  const tokens = new Set([...first.proved, ...second.proved].map(({ token }) => token));
  expect(tokens.size).toBe(1);
  expect(decodeJwt([...tokens][0] ?? "")).toMatchObject({ cnf: { jkt: expect.any(String) } });
});
