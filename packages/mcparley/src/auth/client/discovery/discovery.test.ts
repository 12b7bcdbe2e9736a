import { describe, expect, test } from "vitest";
import { documentServer } from "mcparley-tests/support/token-server.ts";
import { discoverIssuer, discoverResource, legacyIssuer } from "./metadata.ts";
import { discoverFor, readChallenge } from "./discovery.ts";

const server = new URL("https://mcp.example/public/mcp");
const atPath = "https://mcp.example/.well-known/oauth-protected-resource/public/mcp";
const atRoot = "https://mcp.example/.well-known/oauth-protected-resource";

function resource(documents: Record<string, unknown>, challenged?: string) {
  const { fetch, asked } = documentServer(documents);
  return { asked, found: discoverResource(fetch, server, { challengeUrl: challenged }) };
}

describe("the metadata of a server", () => {
  const metadata = { resource: server.href, authorization_servers: ["https://as.example"], scopes_supported: ["a"] };

  test("is fetched from the URL in the challenge", async () => {
    const { asked, found } = resource({ "https://cdn.example/m": metadata, [atPath]: {} }, "https://cdn.example/m");
    expect(await found).toMatchObject({ authorizationServers: ["https://as.example"], scopesSupported: ["a"] });
    expect(asked).toEqual(["https://cdn.example/m"]);
  });

  test("is fetched from the path, and then from the root", async () => {
    const { asked, found } = resource({ [atRoot]: metadata });
    expect((await found)?.resource).toBe(server.href);
    expect(asked).toEqual([atPath, atRoot]);
  });

  test("is fetched from the well-known URLs if the URL in the challenge fails", async () => {
    const { found } = resource({ [atPath]: metadata }, "https://cdn.example/m");
    expect((await found)?.resource).toBe(server.href);
  });

  test("keeps identifiers as published", async () => {
    const published = { resource: "https://mcp.example", authorization_servers: ["https://as.example/"] };
    const { found } = resource({ [atRoot]: published });
    expect(await found).toMatchObject({
      resource: "https://mcp.example",
      isShorter: true,
      authorizationServers: ["https://as.example/"],
    });
  });

  test.each([
    "https://evil.example/public/mcp",
    "https://mcp.example/public/m",
    "https://mcp.example/public/mcp#a",
    "https://mcp.example/public/mcp?",
    "https://mcp.example/other/../public/mcp",
    "https://mcp.example/public/mc%70",
    "https://user@mcp.example/public/mcp",
    "http://mcp.example/public/mcp",
    "https://mcp.example:8443/public/mcp",
    "https:/mcp.example/public/mcp",
    "https://mcp.example/publi",
    "https://mcp.example/public/mcp/other",
    "mcp",
  ])("is rejected if it is that of %s", async (other) => {
    const { found } = resource({ [atPath]: { ...metadata, resource: other }, [atRoot]: metadata });
    await expect(found).rejects.toMatchObject({ code: "authorization_failed" });
  });

  test.each([408, 429, 500, 503])("does not count as missing if the server fails (%i)", async (status) => {
    const { found } = resource({ [atPath]: new Response("down", { status }) });
    await expect(found).rejects.toMatchObject({ code: "unreachable", data: { status } });
  });

  test.each([
    [null, "has no resource"],
    [undefined, "has no resource"],
    [[server.href], `has the resource ["${server.href}"]`],
    [5, "has the resource 5"],
  ])("is rejected with its value if the identifier is %j", async (identifier, reason) => {
    const message = expect.stringContaining(`The metadata at ${atPath} ${reason}.`) as string;
    const { found } = resource({ [atPath]: { ...metadata, resource: identifier } });
    await expect(found).rejects.toMatchObject({ code: "authorization_failed", message });
    const other = resource({ [atPath]: { ...metadata, resource: identifier }, [atRoot]: metadata });
    expect(await other.found).toMatchObject({ resource: server.href });
  });

  test("is undefined if the server publishes no metadata", async () => {
    expect(await resource({ [atPath]: new Response("<html>") }).found).toBeUndefined();
  });
});

describe("the metadata of an authorization server", () => {
  test.each([
    ["https://as.example", ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]],
    ["https://as.example/", ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]],
    [
      "https://as.example/tenant1",
      [
        "/.well-known/oauth-authorization-server/tenant1",
        "/.well-known/openid-configuration/tenant1",
        "/tenant1/.well-known/openid-configuration",
      ],
    ],
  ])("of %s is fetched in the order of the specification", async (issuer, paths) => {
    const { fetch, asked } = documentServer({});
    await expect(discoverIssuer(fetch, issuer)).rejects.toMatchObject({ code: "authorization_failed" });
    expect(asked).toEqual(paths.map((path) => `https://as.example${path}`));
    for (const path of paths) {
      const document = { issuer, token_endpoint: "https://as.example/token" };
      const one = documentServer({ [`https://as.example${path}`]: document });
      expect(await discoverIssuer(one.fetch, issuer)).toEqual(document);
    }
  });

  test.each([
    ["https://as.example", "https://as.example/"],
    ["https://as.example/", "https://as.example"],
    ["https://as.example", "https://AS.example"],
    ["https://as.example", "https://as.example:443"],
    ["https://as.example/t", "https://as.example"],
    ["https://as.example", "https://honest.example"],
  ])("of %s is not that of %s", async (issuer, named) => {
    const documents = { "https://as.example/.well-known/oauth-authorization-server": { issuer: named } };
    const inserted = { "https://as.example/.well-known/oauth-authorization-server/t": { issuer: named } };
    const found = discoverIssuer(documentServer({ ...documents, ...inserted }).fetch, issuer);
    await expect(found).rejects.toThrow(`metadata of another issuer: "${named}"`);
  });

  test("is found if an earlier URL has the metadata of another tenant", async () => {
    const issuer = "https://as.example/t";
    const found = discoverIssuer(
      documentServer({
        "https://as.example/.well-known/oauth-authorization-server/t": { issuer: "https://as.example" },
        "https://as.example/t/.well-known/openid-configuration": { issuer },
      }).fetch,
      issuer,
    );
    expect(await found).toEqual({ issuer });
  });
});

describe("a server that names no authorization server", () => {
  test.each(["https://mcp.example", "https://mcp.example/"])("uses %s at its root", async (issuer) => {
    const documents = { "https://mcp.example/.well-known/oauth-authorization-server": { issuer } };
    const { metadata, isAssumed } = await legacyIssuer(documentServer(documents).fetch, server);
    expect(metadata).toEqual({ issuer });
    expect(isAssumed).toBe(false);
  });

  test("uses the default paths if there is no metadata", async () => {
    expect(await legacyIssuer(documentServer({}).fetch, server)).toMatchObject({
      isAssumed: true,
      metadata: {
        authorization_endpoint: "https://mcp.example/authorize",
        token_endpoint: "https://mcp.example/token",
        registration_endpoint: "https://mcp.example/register",
      },
    });
  });

  test("is rejected if its metadata names another issuer", async () => {
    const documents = {
      "https://mcp.example/.well-known/oauth-authorization-server": { issuer: "https://as.example" },
    };
    await expect(legacyIssuer(documentServer(documents).fetch, server)).rejects.toThrow("another issuer");
  });
});

describe("the authorization server of a token that was issued at the origin of the MCP server", () => {
  const find = (issuer: string, documents: Record<string, unknown>) => {
    const { fetch } = documentServer(documents);
    const token = { issuer, resource: server.href, tokenType: "bearer" } as const;
    return discoverFor(token, { fetch, server, options: {}, signal: new AbortController().signal });
  };
  const [plain, withSlash] = ["https://mcp.example", "https://mcp.example/"];
  const naming = (issuer: string) => ({ "https://mcp.example/.well-known/oauth-authorization-server": { issuer } });

  test.each([plain, withSlash])("is found if its metadata names %s, as the token does", async (issuer) => {
    expect(await find(issuer, naming(issuer))).toMatchObject({ issuer, metadata: { issuer } });
  });

  test.each([
    ["the other spelling", plain, naming(withSlash)],
    ["the other spelling", withSlash, naming(plain)],
    ["no issuer, and the token one with a slash", withSlash, {}],
  ])("is not used if its metadata names %s", async (_, issuer, documents) => {
    await expect(find(issuer, documents)).rejects.toMatchObject({
      code: "authorization_failed",
      message: `The authorization server "${issuer}" no longer exists at its origin.`,
    });
  });
});

describe("a challenge", () => {
  const read = (header?: string) =>
    readChallenge(new Headers(header === undefined ? {} : { "www-authenticate": header }));

  test.each([
    ['Bearer resource_metadata="https://a/m", scope="a  b a"', { scopes: ["a", "b"], resourceMetadata: "https://a/m" }],
    ['Basic realm="x", bearer error=insufficient_scope,scope="a"', { error: "insufficient_scope", scopes: ["a"] }],
    ['DPoP algs="ES256", error="use_dpop_nonce", Bearer scope="b"', { error: "use_dpop_nonce", scopes: ["b"] }],
    ['Bearer error_description="a \\"quoted\\" scope=\\"z\\""', { scopes: undefined }],
    ["Bearer", { error: undefined, scopes: undefined }],
    ["Bearer error=", { error: undefined }],
    ["Negotiate abc==", { error: undefined }],
    [undefined, { error: undefined, scopes: undefined, resourceMetadata: undefined }],
  ])("%s", async (header, expected) => expect(await read(header)).toMatchObject(expected));

  test("of 16,384 characters is read, and a longer one is ignored", async () => {
    const headerOf = (length: number): string => `Bearer scope="${"a".repeat(length - 15)}"`;
    expect((await read(headerOf(16_384))).scopes).toHaveLength(1);
    expect((await read(headerOf(16_385))).scopes).toBeUndefined();
  });
});
