import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { LocalError } from "mcparley";
import { memoryCredentials, type SignIn } from "mcparley/auth";
import { createServer, tool } from "mcparley/server";
import { toNodeHandler } from "mcparley/node";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { recordedServer } from "./testing/recorded-server.ts";

let http: Server;
let url: string;
/** The tokens that the server accepts. */
const accepted = new Set<string>();
let authorizations = 0;
/** The proof of a key in the last token request. */
let proof: unknown;

/** A server with a tool that requires a token, and its authorization server at the same origin. */
beforeEach(async () => {
  const notes = createServer({ name: "notes", version: "1.0.0", tools: { add: tool({ call: () => "added" }) } });
  const handler = toNodeHandler(notes);
  http = createHttpServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", url);
    if (pathname !== "/mcp") return void answerAuthorization(pathname, request, response);
    const token = request.headers.authorization?.replace(/^(Bearer|DPoP) /, "");
    if (token !== undefined && accepted.has(token)) return handler(request, response);
    request.resume();
    const metadata = `${url}/.well-known/oauth-protected-resource/mcp`;
    response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  accepted.clear();
  authorizations = 0;
});

afterEach(async () => {
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

async function answerAuthorization(
  pathname: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for await (const _ of request);
  const json = (value: object, status = 200): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  if (pathname.startsWith("/.well-known/oauth-protected-resource")) {
    return json({ resource: `${url}/mcp`, authorization_servers: [url], scopes_supported: ["notes"] });
  }
  if (pathname.startsWith("/.well-known/")) {
    return json({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      response_types_supported: ["code"],
      scopes_supported: ["notes", "offline_access"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
    });
  }
  if (pathname === "/register") {
    return json(
      { client_id: "host", redirect_uris: ["http://127.0.0.1:1/callback"], token_endpoint_auth_method: "none" },
      201,
    );
  }
  const token = `token-${++authorizations}`;
  accepted.add(token);
  proof = request.headers.dpop;
  json({ access_token: token, token_type: proof === undefined ? "Bearer" : "DPoP", expires_in: 3600 });
}

/** A sign-in that agrees at once. `visits` counts the pages that were opened, and `scope` is that of the last page. */
function agreeing() {
  const counter: { visits: number; scope?: string | null } = { visits: 0 };
  const signIn: SignIn = {
    prepare: () =>
      Promise.resolve({
        redirectUri: "http://127.0.0.1:1/callback",
        visit: (page) => {
          counter.visits++;
          counter.scope = page.searchParams.get("scope");
          const answer = new URL("http://127.0.0.1:1/callback");
          answer.searchParams.set("code", "code");
          answer.searchParams.set("state", page.searchParams.get("state") ?? "");
          answer.searchParams.set("iss", url);
          return Promise.resolve(answer);
        },
        close: () => Promise.resolve(),
      }),
  };
  return { signIn, counter };
}

test("a server that requires a sign-in needs one, without a page that opens in the background", async () => {
  const { signIn, counter } = agreeing();
  const { server, states, clock } = recordedServer({ entry: `${url}/mcp`, auth: { signIn } });
  await expect(server.connect()).rejects.toMatchObject({ code: "sign_in_required" });
  expect(states).toEqual(["connecting", "needs-sign-in"]);
  expect(server.error).toMatchObject({ code: "sign_in_required" });
  expect(counter.visits).toBe(0);
  await expect(server.use(() => Promise.resolve())).rejects.toThrow("Call signIn() of the server.");
  expect(clock.pending).toBe(0);
  await server.close();
});

test("signIn() signs the user in and connects", async () => {
  const { signIn, counter } = agreeing();
  const { server, states } = recordedServer({ entry: `${url}/mcp`, auth: { signIn } });
  await server.connect().catch(() => {});
  await server.signIn();
  expect(counter.visits).toBe(1);
  expect(states).toEqual(["connecting", "needs-sign-in", "connecting", "ready"]);
  expect(await server.use((client) => client.callTool("add"))).toBe("added");
  await server.close();
});

test.each([
  [undefined, "notes offline_access", false],
  [{ offlineAccess: false, dpop: true }, "notes", true],
])("a sign-in with the authorization options %j requests the scopes %s, with a proof: %s", async (...row) => {
  const [authorization, scope, hasProof] = row;
  const { signIn, counter } = agreeing();
  const { server } = recordedServer({ entry: `${url}/mcp`, auth: { signIn, authorization } });
  await server.signIn();
  expect(counter.scope).toBe(scope);
  expect(proof !== undefined).toBe(hasProof);
  expect(await server.use((client) => client.callTool("add"))).toBe("added");
  await server.close();
});

test("a revoked token leads from ready to needs-sign-in, and the lists stay", async () => {
  const { signIn, counter } = agreeing();
  const { server, states } = recordedServer({ entry: `${url}/mcp`, auth: { signIn } });
  await server.signIn();
  accepted.clear();
  await expect(server.use((client) => client.callTool("add"))).rejects.toMatchObject({ code: "sign_in_required" });
  await server.waitForAttempt();
  expect(states).toEqual(["connecting", "ready", "needs-sign-in"]);
  expect(server.lists).toMatchObject({ isCached: true, tools: [{ name: "add" }] });
  expect(counter.visits).toBe(1);
  await server.disable();
  expect(server.state).toBe("disabled");
  await server.close();
});

test("a sign-in that fails leads to needs-sign-in with its reason", async () => {
  const signIn: SignIn = { prepare: () => Promise.reject(new LocalError("declined", "The user closed the page.")) };
  const { server } = recordedServer({ entry: `${url}/mcp`, auth: { signIn } });
  await expect(server.signIn()).rejects.toThrow("The user closed the page.");
  expect(server.state).toBe("needs-sign-in");
  await server.close();
});

test("reconnect() after a sign-in elsewhere uses the stored token", async () => {
  const { signIn } = agreeing();
  const credentials = memoryCredentials();
  const first = recordedServer({ entry: `${url}/mcp`, auth: { signIn, credentials } });
  const second = recordedServer({ entry: `${url}/mcp`, auth: { credentials } });
  await second.server.connect().catch(() => {});
  expect(second.server.state).toBe("needs-sign-in");
  await first.server.signIn();
  await second.server.reconnect();
  expect(second.server.state).toBe("ready");
  await first.server.close();
  await second.server.close();
});

test("two servers without a shared storage share no token", async () => {
  const { signIn } = agreeing();
  const first = recordedServer({ entry: `${url}/mcp`, auth: { signIn } });
  const second = recordedServer({ entry: `${url}/mcp`, auth: { signIn } });
  await first.server.signIn();
  await expect(second.server.connect()).rejects.toMatchObject({ code: "sign_in_required" });
  await first.server.close();
  await second.server.close();
});

test("a server with an authorization header is not signed in", async () => {
  const headers = { Authorization: "Bearer wrong" };
  const { server, states } = recordedServer({ entry: { url: `${url}/mcp`, headers }, auth: agreeing() });
  await expect(server.connect()).rejects.toMatchObject({ code: "sign_in_required" });
  expect(server.error).toMatchObject({ code: "unauthorized" });
  await expect(server.signIn()).rejects.toThrow("authorization");
  expect(states).toEqual(["connecting", "needs-sign-in"]);
  expect(String(server.error)).not.toContain("wrong");
  await server.close();
});

test("signIn() rejects without an effect if the host or the server has no sign-in", async () => {
  const remote = recordedServer({ entry: `${url}/mcp` });
  await expect(remote.server.signIn()).rejects.toThrow("Pass `signIn` to createHost.");
  const local = recordedServer({ entry: { command: "notes-server" }, auth: agreeing() });
  await expect(local.server.signIn()).rejects.toThrow("not used over HTTP");
  expect([remote.server.state, local.server.state]).toEqual(["idle", "idle"]);
  await remote.server.close();
  await local.server.close();
});

test("a server with a valid authorization header is used without a sign-in", async () => {
  accepted.add("known");
  const entry = { url: `${url}/mcp`, headers: { authorization: "Bearer known" } };
  const { server } = recordedServer({ entry });
  expect(await server.use((client) => client.callTool("add"))).toBe("added");
  await server.close();
});

test("a sign-in for the scopes of one call also requests those of earlier sign-ins", async () => {
  const { signIn, counter } = agreeing();
  const { server } = recordedServer({ entry: `${url}/mcp`, auth: { signIn, authorization: { offlineAccess: false } } });
  await server.signIn({ scope: "a" });
  expect(counter.scope?.split(" ")).toEqual(expect.arrayContaining(["a"]));
  await server.signIn({ scope: "b" });
  expect(counter.scope?.split(" ")).toEqual(expect.arrayContaining(["a", "b"]));
  await server.signIn();
  expect(counter.scope?.split(" ")).not.toContain("b");
  await server.close();
});

test("the scopes of a sign-in that failed are requested by the next one", async () => {
  const { signIn, counter } = agreeing();
  let isOpen = false;
  const closing: SignIn = {
    prepare: (...args) => (isOpen ? signIn.prepare(...args) : Promise.reject(new LocalError("declined", "Closed."))),
  };
  const { server } = recordedServer({ entry: `${url}/mcp`, auth: { signIn: closing } });
  await expect(server.signIn({ scope: "a" })).rejects.toThrow("Closed.");
  isOpen = true;
  await server.signIn();
  expect(counter.scope?.split(" ")).toContain("a");
  await server.close();
});

test("a server that only accepts a token or a key says so, and does not name a sign-in", async () => {
  const plain = createHttpServer((request, response) => {
    response.writeHead(request.url === "/mcp" ? 401 : 404).end();
  });
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  onTestFinished(() => void plain.close());
  const { port } = plain.address() as AddressInfo;
  const { server } = recordedServer({ entry: `http://127.0.0.1:${port}/mcp`, auth: {} });
  await expect(server.connect()).rejects.toMatchObject({ cause: { code: "sign_in_required" } });
  expect(server.error).toMatchObject({ data: { hasSignIn: false } });
  expect(server.error?.message).toContain("names no authorization server to sign in at. Send it in a header.");
  const use = await server.use(() => Promise.resolve()).catch((error: unknown) => error);
  expect(use).toMatchObject({ code: "sign_in_required", data: { hasSignIn: false, safeToRepeat: true } });
  expect((use as Error).message).not.toMatch(/sign-in|signIn/);
  await server.close();
});
