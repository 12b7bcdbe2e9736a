import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, type Server, type ServerResponse, createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { SignIn } from "mcparley/auth";
import { toNodeHandler } from "mcparley/node";
import { createServer, resource, tool } from "mcparley/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHost } from "../../../packages/host/src/host/create-host.ts";
import type { Host, HostOptions } from "../../../packages/host/src/host/host.ts";
import { callStep, scriptedModel, textStep } from "../../../packages/host/src/testing/scripted-model.ts";

let http: Server;
let url: string;
let folder: string;
/** The users of the tokens that the server accepts. */
const users = new Map<string, string>();
/** The tokens of the requests to the server. */
let received: (string | undefined)[] = [];
const open: Host[] = [];

const notes = createServer({
  name: "notes",
  version: "1.0.0",
  tools: { read: tool({ call: () => "x".repeat(100_000) }), add: tool({ call: () => "added" }) },
  resources: { memo: resource("memo://a", { read: () => "memo a" }) },
});

beforeEach(async () => {
  const handler = toNodeHandler(notes);
  http = createHttpServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", url);
    if (pathname !== "/mcp") return void answerAuthorization(pathname, request, response);
    const token = request.headers.authorization?.replace("Bearer ", "");
    received.push(token);
    if (token !== undefined && users.has(token)) return handler(request, response);
    request.resume();
    const metadata = `${url}/.well-known/oauth-protected-resource/mcp`;
    response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  folder = await mkdtemp(path.join(tmpdir(), "mcparley users-"));
  users.clear();
  received = [];
});

afterEach(async () => {
  for (const host of open.splice(0)) await host.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  await rm(folder, { recursive: true });
});

/** Answers as the authorization server. The code of an authorization is the name of the user. */
async function answerAuthorization(
  pathname: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let body = "";
  for await (const part of request) body += String(part);
  const json = (value: object, status = 200): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (pathname.startsWith("/.well-known/oauth-protected-resource")) {
    return json({ resource: `${url}/mcp`, authorization_servers: [url] });
  }
  if (pathname.startsWith("/.well-known/")) {
    return json({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
    });
  }
  if (pathname === "/register") {
    const client = { client_id: "host", token_endpoint_auth_method: "none" };
    return json({ ...client, redirect_uris: ["http://127.0.0.1:1/callback"] }, 201);
  }
  const user = new URLSearchParams(body).get("code") ?? "";
  const token = `token-of-${user}`;
  users.set(token, user);
  json({ access_token: token, token_type: "Bearer", expires_in: 3600 });
}

function signInOf(user: string): SignIn {
  return {
    prepare: () =>
      Promise.resolve({
        redirectUri: "http://127.0.0.1:1/callback",
        visit(page) {
          const answer = new URL("http://127.0.0.1:1/callback");
          const state = page.searchParams.get("state") ?? "";
          for (const [name, value] of Object.entries({ code: user, state, iss: url })) {
            answer.searchParams.set(name, value);
          }
          return Promise.resolve(answer);
        },
        close: () => Promise.resolve(),
      }),
  };
}

/** Creates the host of a user, whose renderer agrees to everything and counts its questions. */
async function hostOf(user: string, options: HostOptions = {}) {
  const asked = { trust: 0, review: 0, approve: 0 };
  const onEvent = vi.fn();
  const host = await createHost({
    servers: { notes: `${url}/mcp` },
    signIn: signInOf(user),
    folder: path.join(folder, user),
    renderer: {
      trust: () => ({ action: asked.trust++ < 0 ? "deny" : "trust" }),
      review: () => ({ accepted: asked.review++ < 0 ? [] : "all" }),
      approve: () => ({ action: asked.approve++ < 0 ? "deny" : "allow", remember: "always" }),
    },
    onEvent,
    ...options,
  });
  open.push(host);
  return { host, asked, onEvent, server: host.servers.get("notes")! };
}

test("a sign-in of one user gives the other one no token", async () => {
  const ann = await hostOf("ann");
  const ben = await hostOf("ben");
  await ann.server.signIn();
  received = [];
  await expect(ben.server.connect()).rejects.toMatchObject({ code: "sign_in_required" });
  expect(ben.server.state).toBe("needs-sign-in");
  expect(new Set(received)).toEqual(new Set([undefined]));
  await ben.server.signIn();
  // Resolves when the lists are reviewed.
  await Promise.all([ann.host.ready(), ben.host.ready()]);
  received = [];
  await ann.host.callTool("notes__add", {});
  expect(new Set(received)).toEqual(new Set(["token-of-ann"]));
  received = [];
  await ben.host.callTool("notes__add", {});
  expect(new Set(received)).toEqual(new Set(["token-of-ben"]));
});

test("trust, pins, remembered approvals and rules of one user do not hold for the other one", async () => {
  const rules = [{ decision: "deny", tool: "read" }] as const;
  const ann = await hostOf("ann", { policy: { rules } });
  const ben = await hostOf("ben");
  await ann.server.signIn();
  await ann.host.ready();
  expect(await ann.host.callTool("notes__add", {})).toMatchObject({ status: "result" });
  expect(await ann.host.callTool("notes__add", {})).toMatchObject({ status: "result" });
  expect(await ann.host.callTool("notes__read", {})).toMatchObject({ status: "denied" });
  expect(ann.asked).toEqual({ trust: 1, review: 1, approve: 1 });
  expect(ben.asked).toEqual({ trust: 0, review: 0, approve: 0 });
  await ben.server.signIn();
  await ben.host.ready();
  expect(await ben.host.callTool("notes__add", {})).toMatchObject({ status: "result" });
  expect(await ben.host.callTool("notes__read", {})).toMatchObject({ status: "result" });
  expect(ben.asked).toEqual({ trust: 1, review: 1, approve: 2 });
});

test("stored lists, consent and remembered approvals are those of the same user after a restart", async () => {
  const ann = await hostOf("ann");
  await ann.server.signIn();
  await ann.host.ready();
  await ann.host.callTool("notes__add", {});
  await ann.host.close();
  const again = await hostOf("ann");
  const ben = await hostOf("ben");
  await again.host.ready({ wait: Infinity });
  await ben.host.ready({ wait: Infinity });
  expect(again.host.catalogue.tools).toHaveLength(2);
  expect(again.server.state).toBe("idle");
  expect(again.asked).toEqual({ trust: 0, review: 0, approve: 0 });
  expect(ben.host.catalogue.tools).toEqual([]);
  expect(ben.server.lists).toBeUndefined();
  await again.server.signIn();
  await again.host.callTool("notes__add", {});
  expect(again.asked).toEqual({ trust: 0, review: 0, approve: 0 });
});

test("a conversation, its result handles and its events stay in the host of the user", async () => {
  const modelOf = (handle: () => string) =>
    scriptedModel([
      () =>
        callStep([handle() === "" ? { name: "notes__read" } : { name: "read_result", input: { handle: handle() } }]),
      textStep("Done."),
    ]);
  let handle = "";
  const ann = await hostOf("ann", { model: modelOf(() => "") });
  const benModel = modelOf(() => handle);
  const ben = await hostOf("ben", { model: benModel });
  await ann.server.signIn();
  await ann.host.ready();
  await ben.server.signIn();
  await ben.host.ready();
  const conversation = ann.host.conversation();
  await conversation.attach({ server: "notes", uri: "memo://a" });
  conversation.user("Read the notes of ann.");
  ben.onEvent.mockClear();
  const { messages } = await ann.host.run({ conversation }).finished;
  handle = /r_[\w-]{16}/.exec(JSON.stringify(messages))?.[0] ?? "";
  expect(handle).not.toBe("");
  expect(ben.onEvent).not.toHaveBeenCalled();
  expect(ben.host.conversation().messages).toEqual([]);
  const end = await ben.host.run({ messages: [{ role: "user", content: "Read." }] }).finished;
  expect(end.messages.at(-2)).toMatchObject({ role: "tool", content: [{ isError: true }] });
  expect(JSON.stringify(benModel.requests)).not.toMatch(/xxxx|ann|memo a/);
});
