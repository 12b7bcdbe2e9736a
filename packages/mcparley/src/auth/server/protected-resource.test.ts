import { describe, expect, test } from "vitest";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { LocalError } from "../../rpc/errors.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type RawHttp, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { type ProtectedResourceOptions, protectedResource } from "./protected-resource.ts";
import { InvalidToken, type TokenVerifier, type VerifiedToken } from "./verified-token.ts";

const resource = "https://mcp.example/public/mcp";
const issuer = "https://as.example";
const good: VerifiedToken = { issuer, subject: "alice", audience: [resource], scopes: ["notes:read"] };

const tools = {
  whoami: tool({ call: (_, { principal }) => JSON.stringify(principal) }),
  read: tool({ scopes: ["notes:read"], call: () => "read" }),
  write: tool({ scopes: ["notes:write", "notes:sign"], call: () => "written" }),
};

function serve(options: Partial<ProtectedResourceOptions> = {}): { client: RawHttp; errors: unknown[] } {
  const errors: unknown[] = [];
  const server = createServer({ name: "test", version: "1.0.0", tools, onError: (error) => void errors.push(error) });
  const auth = protectedResource({ resource, issuers: [issuer], verifier: () => good, ...options });
  const { fetch } = toFetch(server, { auth, path: "/public/mcp", allowedHosts: ["mcp.example"] });
  return { client: rawHttp(resource, fetch), errors };
}

const bearer = { headers: { authorization: "Bearer token" } };
const call = (client: RawHttp, name = "whoami") => client.modern("tools/call", { name }, bearer);

describe("the metadata", () => {
  const paths = ["/.well-known/oauth-protected-resource/public/mcp", "/.well-known/oauth-protected-resource"];

  test.each(paths)("is served at %s, for pages of any origin, and can be cached", async (path) => {
    const { client } = serve({ scopes: ["notes:read"], name: "Notes", documentation: "https://docs.example" });
    const answer = await client.send({ method: "GET", path, headers: { origin: "https://app.example" } });
    expect(answer.status).toBe(200);
    expect(answer.type).toBe("application/json");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(JSON.parse(await answer.text())).toEqual({
      resource,
      authorization_servers: [issuer],
      scopes_supported: ["notes:read"],
      bearer_methods_supported: ["header"],
      dpop_signing_alg_values_supported: ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"],
      resource_name: "Notes",
      resource_documentation: "https://docs.example",
    });
  });

  test("has no half of a surrogate pair", async () => {
    const { client } = serve({ name: "Notes \ud83d" });
    const answer = await client.send({ method: "GET", path: paths[0] ?? "" });
    expect(await answer.text()).toContain('"resource_name":"Notes \ufffd"');
  });

  test("is served for GET, HEAD and preflights, and no other method", async () => {
    const { client } = serve();
    const [path = ""] = paths;
    const send = (method: string) => client.send({ method, path });
    expect((await send("HEAD")).status).toBe(200);
    expect(await (await send("HEAD")).text()).toBe("");
    const preflight = await send("OPTIONS");
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("*");
    const posted = await send("POST");
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await client.send({ method: "GET", path: `${path}/other` })).status).toBe(404);
  });

  test("can have another URL, which is then in the challenges", async () => {
    const metadataUrl = "https://cdn.example/metadata.json";
    const { client } = serve({ metadataUrl });
    const answer = await client.modern("tools/list");
    expect(answer.headers.get("www-authenticate")).toContain(`resource_metadata="${metadataUrl}"`);
    expect((await client.send({ method: "GET", path: "/metadata.json" })).status).toBe(200);
  });

  test("contains the resource and its issuers exactly as configured", () => {
    const issuers = ["https://as.example/", "https://as.example/tenant"];
    const { metadata } = protectedResource({ resource: "https://mcp.example", issuers, verifier: () => good });
    expect(metadata).toMatchObject({ resource: "https://mcp.example", authorization_servers: issuers });
  });
});

describe("after any verifier", () => {
  test.each<[string, Partial<VerifiedToken>]>([
    ["another audience", { audience: ["https://other.example/mcp"] }],
    ["no audience", { audience: [] }],
    ["its own name with another slash", { audience: [`${resource}/`] }],
    ["another issuer", { issuer: "https://evil.example" }],
    ["an expired lifetime", { expiresAt: 0 }],
  ])("a token with %s is rejected", async (_, odd) => {
    const { client } = serve({ verifier: () => ({ ...good, ...odd }), clock: fakeClock(1_000_000) });
    const answer = await call(client);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  test("a token for another audience is accepted if the option lists it", async () => {
    const { client } = serve({ verifier: () => ({ ...good, audience: ["api://notes"] }), audience: ["api://notes"] });
    expect((await call(client)).status).toBe(200);
  });
});

describe("verifiers", () => {
  const refuse: TokenVerifier = () => {
    throw new InvalidToken('It is "odd"\n\\ \u{1f980}.');
  };

  test("are called in order until one returns a token", async () => {
    const answer = await call(serve({ verifier: [() => undefined, () => good, refuse] }).client);
    expect(answer.status).toBe(200);
    expect((await call(serve({ verifier: [() => undefined] }).client)).status).toBe(401);
  });

  test("can refuse with any message, which is escaped in the header", async () => {
    const answer = await call(serve({ verifier: refuse }).client);
    expect(answer.headers.get("www-authenticate")).toContain('error_description="It is \\"odd\\"?\\\\ ??."');
  });

  test.each(["unreachable", "timeout", "store_unavailable"] as const)(
    "that fail with %s are answered with 503",
    async (code) => {
      const error = new LocalError(code, "down");
      const { client, errors } = serve({ verifier: () => Promise.reject(error) });
      const answer = await call(client);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("5");
      expect(errors).toEqual([error]);
    },
  );

  test("that throw another error send no detail to the client", async () => {
    const error = new TypeError("secret");
    const { client, errors } = serve({ verifier: () => Promise.reject(error) });
    const answer = await call(client);
    expect(answer.status).toBe(500);
    expect((await answer.text()).includes("secret")).toBe(false);
    expect(errors).toEqual([error]);
  });
});

describe("scopes", () => {
  const hierarchy = (scope: string): string[] => {
    if (scope === "notes:admin") return ["notes:write"];
    return scope === "notes:write" ? ["notes:read", "notes:sign", "notes:admin"] : [];
  };

  test("that the caller lacks hide tools from lists", async () => {
    const answer = await serve().client.modern("tools/list", {}, bearer);
    const { tools: listed } = (await answer.json()).result as { tools: { name: string }[] };
    expect(listed.map(({ name }) => name)).toEqual(["whoami", "read"]);
  });

  test("imply others, over any number of steps and in cycles", async () => {
    const { client } = serve({ verifier: () => ({ ...good, scopes: ["notes:admin"] }), scopeHierarchy: hierarchy });
    for (const name of ["read", "write"]) expect((await call(client, name)).status).toBe(200);
  });

  test("that the caller lacks are named in one challenge, with the URL of the metadata", async () => {
    const answer = await call(serve({ scopes: ["notes:read"] }).client, "write");
    expect(answer.status).toBe(403);
    const metadata = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/public/mcp"';
    expect(answer.headers.get("www-authenticate")).toMatch(
      `Bearer error="insufficient_scope", ${metadata}, scope="notes:write notes:sign", DPoP ${metadata}`,
    );
  });
});

describe("options without any protection are rejected:", () => {
  test.each<[string, object]>([
    ["no resource", { resource: undefined }],
    ["a resource that is not a URL", { resource: "mcp.example" }],
    ["a resource without TLS", { resource: "http://mcp.example/mcp" }],
    ["a resource with a fragment", { resource: `${resource}#a` }],
    ["a resource with a query", { resource: `${resource}?a` }],
    ["no issuers", { issuers: undefined }],
    ["an empty list of issuers", { issuers: [] }],
    ["an issuer without TLS", { issuers: ["http://as.example"] }],
    ["an issuer with a password", { issuers: ["https://a:b@as.example"] }],
    ["no verifier", { verifier: undefined }],
    ["an empty list of verifiers", { verifier: [] }],
    ["scopes that request a refresh token", { scopes: ["offline_access"] }],
    ["a scope with a space", { scopes: ["a b"] }],
  ])("%s", (_, odd) => {
    const make = (): unknown => protectedResource({ resource, issuers: [issuer], verifier: () => good, ...odd });
    expect(make).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  });
});
