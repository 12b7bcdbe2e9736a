import { type SignIn, oauth } from "mcparley/auth";
import { connect } from "mcparley/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { browserOf } from "./browser.ts";
import { serveOfficial } from "./official-server-v2.ts";
import { type OfficialServer, startOfficialServer } from "./official-server.ts";
import { signInWith } from "./sign-in-with.ts";

let server: OfficialServer;
beforeAll(async () => {
  server = await startOfficialServer();
});
afterAll(() => server.close());

/** The authorization endpoint redirects at once, without a sign-in page. */
const signIn: SignIn = {
  prepare: () =>
    Promise.resolve({
      redirectUri: "http://127.0.0.1:9/callback",
      visit: async (url) => {
        const { headers } = await fetch(url, { redirect: "manual" });
        return new URL(headers.get("location") ?? "about:blank");
      },
      close: () => Promise.resolve(),
    }),
};

describe("@modelcontextprotocol/sdk (v1), mcpAuthRouter and requireBearerAuth", () => {
  test("our client signs in, renews its token, and signs out", async () => {
    const auth = oauth({ signIn });
    const client = await connect(server.url, { auth });
    const account = await auth.whoami(server.url);
    // The issuer is written with a slash, and is the same string wherever it is used.
    expect(account).toMatchObject({
      issuer: `${new URL(server.url).origin}/`,
      resource: server.url,
      scopes: ["mcp:tools"],
      isRenewable: true,
    });
    expect(await client.callTool("whoami")).toBe(`${account?.clientId} for ${server.url}`);
    server.expireAll();
    expect(await client.callTool("whoami")).toBe(`${account?.clientId} for ${server.url}`);
    const posts = server.requests.filter((line) => line.startsWith("POST") && line !== "POST /mcp");
    expect(posts).toEqual(["POST /register", "POST /token", "POST /token"]);
    expect(server.requests.filter((line) => line === "GET /authorize")).toHaveLength(1);
    expect(await auth.signOut(server.url)).toBe("revoked");
    await client.close();
  });
});

describe("@modelcontextprotocol/server (v2), requireBearerAuth and oauthMetadataResponse", () => {
  let as: AuthorizationServer;
  beforeAll(async () => {
    as = await startAuthorizationServer();
  });
  afterAll(() => as.close());

  test.each(["2026-07-28", "2025-11-25"])("our client of %s signs in and steps up", async (revision) => {
    const { url, fetch } = await serveOfficial(as);
    const browser = browserOf({ user: "alice" });
    const auth = oauth({ signIn: signInWith(browser), fetch });
    const client = await connect(url, { auth, fetch, revision });
    expect(await client.callTool("whoami")).toBe("alice");
    expect((await auth.whoami(url))?.scopes).toEqual(["notes:read"]);
    expect(await client.callTool("write")).toBe("written");
    expect((await auth.whoami(url))?.scopes?.toSorted()).toEqual(["notes:read", "notes:write"]);
    expect(browser.submitted).toEqual(["login", "consent", "consent"]);
    await client.close();
  });
});
