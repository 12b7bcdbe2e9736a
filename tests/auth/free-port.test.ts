import { apiKeys, jwtVerifier, protectedResource } from "mcparley/auth";
import { connect } from "mcparley/client";
import { toFetch } from "mcparley/http";
import { type ListenOptions, type RunningHttpServer, listen, toNodeHandler } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { afterEach, expect, test } from "vitest";
import { type TokenIssuer, makeTokenIssuer } from "./token-issuer.ts";

const opened: RunningHttpServer[] = [];
afterEach(async () => {
  for (const http of opened.splice(0)) await http.close();
});

const whoami = tool({ call: (_, ctx) => `${ctx.principal?.issuer} ${ctx.principal?.subject}` });
const server = createServer({ name: "notes", version: "1.0.0", tools: { whoami } });
const now = (): number => Math.floor(Date.now() / 1000);

async function serve(options: Partial<ListenOptions> = {}): Promise<RunningHttpServer> {
  const http = await listen(server, { port: 0, ...options });
  opened.push(http);
  return http;
}

function issuerOf(resource: string): Promise<TokenIssuer> {
  return makeTokenIssuer({ issuer: "https://as.example", audience: resource, now });
}

/** Protects the URL of a server with an issuer that exists as soon as the URL is known. */
function protectedWith(issuers: Map<string, TokenIssuer>) {
  return protectedResource((resource) => {
    const fetch: typeof globalThis.fetch = async (input) => {
      if (!issuers.has(resource)) issuers.set(resource, await issuerOf(resource));
      return issuers.get(resource)!.fetch(input);
    };
    const issuer = "https://as.example";
    return { resource, issuers: [issuer], verifier: jwtVerifier({ issuer, audience: resource, fetch }) };
  });
}

async function call(url: string, headers: Record<string, string>): Promise<unknown> {
  const client = await connect({ url, headers });
  try {
    return await client.callTool("whoami");
  } finally {
    await client.close();
  }
}

test("a server on a free port is the resource of its own URL", async () => {
  const issuers = new Map<string, TokenIssuer>();
  const auth = protectedWith(issuers);
  const http = await serve({ auth });
  const metadata = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", http.url));
  expect(await metadata.json()).toMatchObject({ resource: http.url });
  expect(auth.metadata).toMatchObject({ resource: http.url });
  expect(auth.metadataUrl).toBe(metadata.url);
  const refused = await fetch(http.url, { method: "POST" });
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toContain(`resource_metadata="${metadata.url}"`);
  issuers.set(http.url, await issuerOf(http.url));
  const token = await issuers.get(http.url)!.sign();
  expect(await call(http.url, { authorization: `Bearer ${token}` })).toBe("https://as.example alice");
  const other = await issuers.get(http.url)!.sign({ aud: "http://127.0.0.1:1/mcp" });
  await expect(call(http.url, { authorization: `Bearer ${other}` })).rejects.toMatchObject({ code: "unauthorized" });
});

test("a list with API keys works on a free port, and with the path of the endpoint", async () => {
  const key = "a-key-of-the-server-01";
  const auth = [protectedWith(new Map()), apiKeys([{ key, subject: "ci" }])];
  const http = await serve({ auth, path: "/deep/notes", host: "localhost" });
  const path = "/.well-known/oauth-protected-resource/deep/notes";
  const metadata = await fetch(new URL(path, http.url));
  expect(await metadata.json()).toMatchObject({ resource: http.url });
  expect(http.url).toMatch(/^http:\/\/localhost:\d+\/deep\/notes$/);
  expect(await call(http.url, { authorization: `Bearer ${key}` })).toBe("api-keys ci");
});

test("invalid options reject `listen`, which then holds no port and can be repeated", async () => {
  let resource = "http://notes.example/mcp";
  const auth = protectedResource(() => ({ resource, issuers: ["https://as.example"], verifier: () => undefined }));
  await expect(serve({ auth })).rejects.toMatchObject({
    code: "invalid_definition",
    message: expect.stringContaining("resource must be an https URL"),
  });
  resource = "https://notes.example/mcp";
  await serve({ auth });
  expect(auth.metadata).toMatchObject({ resource });
});

test("one such protection is for one `listen`", async () => {
  const auth = protectedWith(new Map());
  expect(() => auth.metadata).toThrow("is not known before `listen` has opened its port");
  const { port } = await serve({ auth });
  await expect(serve({ auth })).rejects.toMatchObject({ code: "invalid_definition" });
  await expect(serve({ port })).rejects.toMatchObject({ code: "address_unavailable" });
});

test("other adapters, which have no URL, refuse a protection without a resource", () => {
  const auth = protectedWith(new Map());
  for (const make of [() => toFetch(server, { auth }), () => toNodeHandler(server, { auth: [auth] })]) {
    expect(make).toThrow(
      expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining("listen") }),
    );
  }
});
