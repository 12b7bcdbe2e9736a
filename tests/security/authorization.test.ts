import type { JsonObject } from "mcparley";
import {
  type OAuth,
  type OAuthOptions,
  clientCredentials,
  introspectionVerifier,
  jwtVerifier,
  memoryCredentials,
  oauth,
} from "mcparley/auth";
import { connect } from "mcparley/client";
import { toFetch } from "mcparley/http";
import { createServer, tool } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { scriptedIssuer, serverUrl } from "../support/scripted-issuer.ts";
import { serveProtected } from "../auth/protected-server.ts";
import { makeTokenIssuer } from "../auth/token-issuer.ts";

describe("an MCP server that names another authorization server", () => {
  const evil = "https://evil.example";
  const clientSecret = "secret-of-the-client";

  /** An MCP server and its authorization server, with a record of what every origin received. */
  function world() {
    const issuer = scriptedIssuer();
    /** Documents that take precedence over those of the issuer, by URL. */
    const documents = new Map<string, JsonObject>();
    const { fetch: mcp } = toFetch(
      createServer({ name: "t", version: "1.0.0", tools: { hello: tool({ call: () => "hello" }) } }),
    );
    /** The requests that the evil authorization server received. */
    const stolen: string[] = [];
    /** Codes, tokens and client secrets that the first authorization server knows. */
    const secrets = new Set([clientSecret, btoa(`given:${clientSecret}`)]);
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const { url } = request;
      const sent = `${url} ${JSON.stringify([...request.headers])} ${await request.clone().text()}`;
      if (url.startsWith(evil)) stolen.push(sent);
      if (documents.has(url)) return Response.json(documents.get(url));
      if (url !== serverUrl) {
        const response = await issuer.fetch(request);
        if (url.endsWith("/token") && !url.startsWith(evil)) noteTokens((await response.clone().json()) as JsonObject);
        return response;
      }
      const decided = await issuer.fetch(request.clone());
      return decided.status === 202 ? mcp(request) : decided;
    };
    const noteTokens = ({ access_token, refresh_token }: JsonObject): void => {
      for (const token of [access_token, refresh_token]) if (typeof token === "string") secrets.add(token);
    };
    const storage = memoryCredentials();
    const signedIn = (options: OAuthOptions = {}): OAuth =>
      oauth({ storage, signIn: issuer.person(), fetch, ...options });
    const call = async (auth: OAuth): Promise<unknown> => {
      const client = await connect({ url: serverUrl, auth, fetch });
      const result: unknown = await client.callTool("hello");
      await client.close();
      return result;
    };
    return { issuer, documents, stolen, secrets, fetch, signedIn, call };
  }

  test("CVE-2026-104850: another authorization server receives no token, secret or registration of the first", async () => {
    const { issuer, stolen, secrets, signedIn, call } = world();
    const auth = signedIn();
    expect(await call(auth)).toBe("hello");
    const first = issuer.authorizations[0]?.get("client_id") ?? "";
    expect(secrets.size).toBeGreaterThan(3);
    issuer.migrate(evil);
    // The same process and another one that shares the storage.
    for (const client of [auth, signedIn()]) await call(client).catch(() => {});
    expect(stolen.length).toBeGreaterThan(0);
    for (const secret of secrets) expect(stolen.join()).not.toContain(secret);
    expect(stolen.join()).not.toMatch(new RegExp(`\\b${first}\\b`));
    expect(issuer.authorizations.slice(1).map((sent) => sent.get("client_id"))).not.toContain(first);
    expect(stolen.join()).not.toContain("grant_type=refresh_token");
  });

  test.each([{}, { issuer: "https://as.example" }])(
    "CVE-2026-104850: another authorization server receives no secret of a client registered by hand with %j",
    async (more) => {
      const { issuer, stolen, secrets, signedIn, call } = world();
      issuer.clients.add("given");
      const options = { client: { id: "given", secret: clientSecret, ...more } };
      expect(await call(signedIn(options))).toBe("hello");
      issuer.migrate(evil);
      await expect(call(signedIn(options))).rejects.toMatchObject({ code: "authorization_failed" });
      for (const secret of secrets) expect(stolen.join()).not.toContain(secret);
      expect(issuer.visits.filter(({ origin }) => origin === evil)).toEqual([]);
    },
  );

  test("CVE-2026-104850: another authorization server receives nothing if the MCP server names both", async () => {
    const { issuer, stolen, signedIn, call } = world();
    expect(await call(signedIn())).toBe("hello");
    issuer.resourceMetadata = { ...issuer.resourceMetadata, authorization_servers: [evil, "https://as.example"] };
    issuer.live.clear();
    expect(await call(signedIn())).toBe("hello");
    expect(stolen).toEqual([]);
  });

  test("CVE-2026-104850: another authorization server receives nothing from a client without a user", async () => {
    const { issuer, stolen, fetch, call } = world();
    issuer.migrate(evil);
    const client = { id: "given", secret: clientSecret };
    const auth = clientCredentials({ issuer: "https://as.example", client, fetch });
    await expect(call(auth)).rejects.toMatchObject({ code: "authorization_failed" });
    expect(stolen).toEqual([]);
    expect(() => clientCredentials({ client, fetch } as never)).toThrow(
      expect.objectContaining({ code: "invalid_definition" }),
    );
  });

  test("CVE-2026-104850: another authorization server that uses the name of the first receives no credentials", async () => {
    const { issuer, documents, stolen, secrets, signedIn, call } = world();
    expect(await call(signedIn())).toBe("hello");
    issuer.migrate(evil);
    issuer.resourceMetadata = { ...issuer.resourceMetadata, authorization_servers: [evil] };
    documents.set(`${evil}/.well-known/oauth-authorization-server`, {
      ...issuer.metadata,
      issuer: "https://as.example",
    });
    await expect(call(signedIn())).rejects.toMatchObject({ name: "LocalError" });
    for (const secret of secrets) expect(stolen.join()).not.toContain(secret);
  });
});

describe("tokens for another server", () => {
  test("GHSA-rvq5-wwqv-78pq: refuses a valid token of the same issuer for another audience", async () => {
    const now = (): number => Math.floor(Date.now() / 1000);
    const issuer = await makeTokenIssuer({ issuer: "https://as.example", audience: "", now });
    let url = "";
    const server = await serveProtected({
      protect(resource) {
        url = resource;
        const verifier = jwtVerifier({ issuer: issuer.issuer, audience: resource, fetch: issuer.fetch });
        return { resource, issuers: [issuer.issuer], verifier };
      },
    });
    const statusWith = async (claims: JsonObject): Promise<number> => {
      const token = await issuer.sign(claims);
      return (await server.call("whoami", { authorization: `Bearer ${token}` })).status;
    };
    const { origin } = new URL(url);
    const others: unknown[] = [
      "https://other.example/mcp",
      ["https://other.example/mcp", "https://third.example"],
      origin,
      `${origin}/`,
      `${url}/`,
      `${url}2`,
      url.toUpperCase(),
      `https://other.example/?${url}`,
      [],
      "",
      undefined,
    ];
    for (const aud of others) expect([aud, await statusWith({ aud } as JsonObject)]).toEqual([aud, 401]);
    expect(await statusWith({ aud: "https://other.example/mcp", resource: url })).toBe(401);
    expect(await statusWith({ aud: url })).toBe(200);
    expect(await statusWith({ aud: ["https://other.example/mcp", url] })).toBe(200);
    await server.close();
  });

  test("GHSA-rvq5-wwqv-78pq: refuses a token for another audience although a custom verifier accepts it", async () => {
    const audiences = (resource: string): (string[] | undefined)[] => [
      ["https://other.example/mcp"],
      [new URL(resource).origin],
      [`${resource}/`],
      [],
      undefined,
    ];
    for (const index of audiences("http://localhost").keys()) {
      const server = await serveProtected({
        protect: (resource) => ({
          resource,
          issuers: ["https://as.example"],
          verifier: () =>
            ({
              issuer: "https://as.example",
              subject: "alice",
              scopes: [],
              audience: audiences(resource)[index],
            }) as never,
        }),
      });
      const { status } = await server.call("whoami", { authorization: "Bearer any" });
      expect(status).not.toBe(200);
      await server.close();
    }
  });

  test("GHSA-rvq5-wwqv-78pq: creates no verifier without an audience", () => {
    const client = { id: "server", secret: "secret" };
    for (const audience of [undefined, "", []]) {
      const options = { issuer: "https://as.example", audience } as never;
      const failure = expect.objectContaining({ code: "invalid_definition" }) as Error;
      expect(() => jwtVerifier(options)).toThrow(failure);
      expect(() => introspectionVerifier({ ...(options as object), client } as never)).toThrow(failure);
    }
  });
});
