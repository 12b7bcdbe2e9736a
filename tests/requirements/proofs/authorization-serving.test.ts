import { inspect } from "node:util";
import { generateKeyPair } from "jose";
import { expect } from "vitest";
import { type Context, type RawAnswer, protectedResource, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { type Protected, firstMessage, issuer, metadataUrl, resource, serveProtected } from "../world/protected.ts";
import type { World } from "../world/world.ts";

const whoami = tool({ call: (_, { principal }) => principal?.subject ?? "nobody" });
const sign = tool({ scopes: ["notes:write", "notes:sign"], call: () => "signed" });
const tools = { whoami, sign };

const challengeOf = (answer: RawAnswer): string => answer.headers.get("www-authenticate") ?? "";
const said = async (answer: RawAnswer): Promise<unknown> =>
  ((await firstMessage(answer)).result as { content: { text: string }[] }).content[0]?.text;

/** The answer to a token that no session could be opened with. */
async function shown({ call }: Protected, token: string): Promise<RawAnswer> {
  return call("whoami", token, { session: "none" });
}

proves("authorization.serving.required", async (world) => {
  const { http, call } = await serveProtected(world, { tools });
  expect((await call("whoami", undefined)).status).toBe(401);
  for (const method of ["GET", "POST", "DELETE"]) expect((await http.send({ path: "/mcp", method })).status).toBe(401);
});

proves("authorization.serving.validated", async (world) => {
  const server = await serveProtected(world, { tools });
  const { tokens } = server;
  expect(await said(await server.call("whoami", await tokens.sign()))).toBe("alice");
  const { privateKey: key } = await generateKeyPair("ES256");
  const hmac = new TextEncoder().encode(JSON.stringify(tokens.publicKey()));
  for (const forged of [
    await tokens.sign({}, { key }),
    await tokens.sign({}, { header: { alg: "HS256" }, key: hmac }),
    await tokens.sign({ iss: "https://evil.example" }),
    await tokens.sign({ exp: 1 }),
    await tokens.sign({ nbf: Date.now() / 1000 + 3600 }),
  ]) {
    expect((await shown(server, forged)).status).toBe(401);
  }
});

proves("authorization.serving.invalid", async (world) => {
  const server = await serveProtected(world, { tools });
  for (const token of ["made-up", await server.tokens.sign({ exp: 1 })]) {
    const answer = await shown(server, token);
    expect(answer.status).toBe(401);
    expect(challengeOf(answer)).toContain('error="invalid_token"');
  }
});

proves("authorization.serving.before", async (world) => {
  const called: string[] = [];
  const act = tool({ call: () => String(called.push("act")) });
  const server = await serveProtected(world, { tools: { act } });
  const refused = await server.call("act", await server.tokens.sign({ aud: "https://other.example" }), {
    session: "none",
  });
  expect(refused.status).toBe(401);
  expect(called).toEqual([]);
  expect(await said(await server.call("act", await server.tokens.sign()))).toBe("1");
});

proves("authorization.serving.status", async (world) => {
  const server = await serveProtected(world, { tools });
  const token = await server.tokens.sign();
  expect((await shown(server, "made-up")).status).toBe(401);
  expect((await server.call("sign", token)).status).toBe(403);
  expect((await shown(server, "two tokens")).status).toBe(400);
});

proves("authorization.serving.every-request", async (world) => {
  const server = await serveProtected(world, { tools });
  const session = await server.open(await server.tokens.sign());
  const more = session === undefined ? {} : { session };
  expect((await server.call("whoami", await server.tokens.sign(), more)).status).toBe(200);
  expect((await server.call("whoami", undefined, more)).status).toBe(401);
  expect((await server.call("whoami", await server.tokens.sign({ exp: 1 }), more)).status).toBe(401);
});

proves("authorization.serving.query", async (world) => {
  const server = await serveProtected(world, { tools });
  const answer = await server.call("whoami", undefined, { query: `?access_token=${await server.tokens.sign()}` });
  expect(answer.status).toBe(400);
});

async function metadataAt({ http }: Protected, path: string): Promise<Record<string, unknown>> {
  const answer = await http.send({ method: "GET", path });
  expect(answer.status).toBe(200);
  expect(answer.type).toBe("application/json");
  return JSON.parse(await answer.text()) as Record<string, unknown>;
}

proves("authorization.serving.metadata", async (world) => {
  const server = await serveProtected(world, { tools });
  const metadata = await metadataAt(server, new URL(metadataUrl).pathname);
  expect(metadata).toMatchObject({ resource, authorization_servers: [issuer] });
  const none = (): unknown => protectedResource({ resource, issuers: [], verifier: () => undefined });
  expect(none).toThrow("issuers is required");
});

proves("authorization.serving.metadata.challenge", async (world) => {
  const server = await serveProtected(world, { tools });
  for (const answer of [await server.call("whoami", undefined), await shown(server, "made-up")]) {
    expect(answer.status).toBe(401);
    expect(challengeOf(answer)).toContain(`resource_metadata="${metadataUrl}"`);
  }
});

proves("authorization.serving.metadata.well-known", async (world) => {
  const server = await serveProtected(world, { tools });
  const [atPath, atRoot] = [
    await metadataAt(server, "/.well-known/oauth-protected-resource/mcp"),
    await metadataAt(server, "/.well-known/oauth-protected-resource"),
  ];
  expect(atPath).toEqual(atRoot);
});

async function refusesOthers(world: World): Promise<void> {
  const server = await serveProtected(world, { tools });
  for (const aud of ["https://other.example/mcp", `${resource}/`, "https://localhost", undefined, [], ["a", "b"]]) {
    expect((await shown(server, await server.tokens.sign({ aud }))).status).toBe(401);
  }
  expect((await server.call("whoami", await server.tokens.sign({ aud: ["a", resource] }))).status).toBe(200);
}

proves("authorization.serving.audience", refusesOthers);
proves("security.token.audience", refusesOthers);

proves("authorization.serving.no-other", async (world) => {
  // A verifier that accepts more issuers than the server's metadata lists.
  const issuers: Record<string, string> = { own: issuer, slash: `${issuer}/`, other: "https://other.example" };
  const verifier = (token: string) => ({
    issuer: issuers[token] ?? "",
    subject: "alice",
    audience: [resource],
    scopes: [],
  });
  const server = await serveProtected(world, { tools }, { verifier });
  for (const token of ["slash", "other"]) expect((await shown(server, token)).status).toBe(401);
  expect((await server.call("whoami", "own")).status).toBe(200);
});

/** All that a handler could come by, and so pass on. */
const look = tool({ call: (_, ctx: Context) => inspect(ctx, { depth: 8, showHidden: true, getters: true }) });

proves("authorization.serving.not-passed-on", async (world) => {
  const server = await serveProtected(world, { tools: { look } });
  const token = await server.tokens.sign();
  const seen = await said(await server.call("look", token));
  expect(seen).toContain("alice");
  expect(seen).not.toContain(token);
});

proves("authorization.serving.not-shown", async (world) => {
  const broken = tool({
    call: () => {
      throw new Error("It broke.");
    },
  });
  const server = await serveProtected(world, { tools: { broken } });
  const [good, bad] = [await server.tokens.sign(), await server.tokens.sign({ aud: "https://other.example" })];
  const answers = [await server.call("broken", good), await shown(server, bad)];
  for (const [index, token] of [good, bad].entries()) {
    const answer = answers[index]!;
    expect(JSON.stringify([await firstMessage(answer), [...answer.headers]])).not.toContain(token);
    expect(inspect(world.errors, { depth: 8, showHidden: true })).not.toContain(token);
  }
});

proves("authorization.serving.scope.challenged", async (world) => {
  const { call } = await serveProtected(world, { tools }, { scopes: ["notes:read", "notes:list"] });
  expect(challengeOf(await call("whoami", undefined))).toContain('scope="notes:read notes:list"');
});

proves("authorization.serving.scope.insufficient", async (world) => {
  const server = await serveProtected(world, { tools });
  const answer = await server.call("sign", await server.tokens.sign());
  expect(answer.status).toBe(403);
  for (const part of [/^Bearer /, /error="insufficient_scope"/, /scope="notes:write notes:sign"/]) {
    expect(challengeOf(answer)).toMatch(part);
  }
  expect(challengeOf(answer)).toContain(`resource_metadata="${metadataUrl}"`);
});

const scopeIn = (answer: RawAnswer): string | undefined => / scope="([^"]*)"/.exec(challengeOf(answer))?.[1];

proves("authorization.serving.scope.together", async (world) => {
  const server = await serveProtected(world, { tools });
  expect(scopeIn(await server.call("sign", await server.tokens.sign()))).toBe("notes:write notes:sign");
});

proves("authorization.serving.scope.consistent", async (world) => {
  const server = await serveProtected(world, { tools });
  for (const scope of ["", "notes:read", "notes:write", "notes:sign other"]) {
    expect(scopeIn(await server.call("sign", await server.tokens.sign({ scope })))).toBe("notes:write notes:sign");
  }
});

proves("authorization.serving.scope.hierarchy", async (world) => {
  const scopeHierarchy = (scope: string): string[] => (scope === "notes:admin" ? ["notes:write", "notes:sign"] : []);
  const server = await serveProtected(world, { tools }, { scopeHierarchy });
  expect(await said(await server.call("sign", await server.tokens.sign({ scope: "notes:admin" })))).toBe("signed");
  expect((await server.call("sign", await server.tokens.sign({ scope: "notes:write" }))).status).toBe(403);
});

proves("authorization.serving.scope.offline", async (world) => {
  const scopes = ["notes:read", "offline_access"];
  await expect(serveProtected(world, { tools }, { scopes })).rejects.toThrow("must not contain offline_access");
});

proves("authorization.serving.https", async (world) => {
  await expect(serveProtected(world, { tools }, { issuers: ["http://as.example"] })).rejects.toThrow("https URL");
  await expect(serveProtected(world, { tools }, { resource: "http://mcp.example/mcp" })).rejects.toThrow("https URL");
  await serveProtected(world, { tools }, { issuers: ["http://127.0.0.1:1"] });
});
