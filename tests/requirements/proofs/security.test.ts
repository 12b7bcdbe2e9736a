import { mkdtemp, readFile, rm, watch, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import { expect } from "vitest";
import {
  type ConnectOptions,
  type HttpOptions,
  HttpRefusal,
  type JsonObject,
  type RawHttp,
  inputRequired,
  openUrl,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { type Answered, ask, expectRefused } from "../world/questions.ts";
import { firstMessage, issuer, serveProtected } from "../world/protected.ts";
import { echo, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const accept = "application/json, text/event-stream";
const clientInfo = { name: "raw", version: "1.0.0" };

/** Sends the first request of a client of the revision. */
function begin(world: World, http: RawHttp, headers: Record<string, string> = {}) {
  if (world.isModern) return http.modern("tools/list", {}, { headers: { accept, ...headers } });
  const params = { protocolVersion: world.version, capabilities: {}, clientInfo };
  return http.post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, { accept, ...headers });
}

proves("security.rebinding.host", async (world) => {
  const http = world.serveHttp({ tools: { echo } });
  expect((await begin(world, http)).status).toBe(200);
  expect((await begin(world, http, { host: "127.0.0.1:3000" })).status).toBe(200);
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example:80",
    "192.168.1.5",
    "0.0.0.0",
  ]) {
    expect((await begin(world, http, { host })).status).toBe(403);
    expect((await begin(world, http, { host, origin: `http://${host}` })).status).toBe(403);
  }
});

proves("security.origin.first", async (world) => {
  const seen: string[] = [];
  const authenticate = (): undefined => void seen.push("authenticated");
  const http = world.serveHttp({ tools: { echo } }, { auth: authenticate });
  const origin = "https://evil.example";
  expect((await begin(world, http, { origin })).status).toBe(403);
  for (const method of ["GET", "DELETE", "PUT", "OPTIONS"]) {
    expect((await http.send({ method, headers: { origin, accept } })).status).toBe(403);
  }
  expect((await http.post("no JSON at all", { origin, accept })).status).toBe(403);
  expect(seen).toEqual([]);
  expect((await begin(world, http)).status).toBe(200);
  expect(seen).toContain("authenticated");
});

proves("security.origin.lookalikes", async (world) => {
  const http = world.serveHttp({ tools: { echo } }, { allowedOrigins: ["https://app.example"] });
  for (const origin of ["https://app.example", "HTTPS://APP.EXAMPLE", "http://localhost:5173", "http://127.0.0.1"]) {
    expect(origin).toEqual(origin);
    expect((await begin(world, http, { origin })).status).toBe(200);
  }
  for (const origin of [
    "null",
    "*",
    "https:",
    "app.example",
    "http://app.example",
    "https://app.example:8443",
    "https://app.example.evil.example",
    "https://evil.example/https://app.example",
    "https://sub.app.example",
    "https://localhost.evil.example",
    "file://",
    "https://app.example, https://evil.example",
  ]) {
    expect(origin).toEqual(origin);
    expect((await begin(world, http, { origin })).status).toBe(403);
  }
});

/** Opens a session over HTTP and returns the headers of its requests. */
async function openSession(world: World, http: RawHttp, headers: Record<string, string> = {}) {
  const answer = await begin(world, http, headers);
  const session = {
    "mcp-session-id": answer.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": world.version,
  };
  expect(session["mcp-session-id"]).not.toBe("");
  await answer.text();
  return session;
}

const ping = { jsonrpc: "2.0", id: 2, method: "ping" };

proves("security.origin.session", async (world) => {
  const http = world.serveHttp({ tools: { echo } });
  const session = await openSession(world, http);
  const origin = "https://evil.example";
  for (const method of ["GET", "DELETE"]) {
    const headers = { ...session, origin, accept: "text/event-stream" };
    expect((await http.send({ method, headers })).status).toBe(403);
  }
  expect((await http.post(ping, { ...session, origin, accept })).status).toBe(403);
  expect((await http.post(ping, { ...session, accept })).status).toBe(200);
});

const refusal = new HttpRefusal(401, "A token is needed.");

/** Takes the `Authorization` header for the name of the user, and refuses requests without one. */
const byName: HttpOptions = {
  auth: (request) => {
    const subject = request.header("authorization");
    return subject === undefined ? refusal : { issuer: "https://issuer.example", subject, scopes: [] };
  },
};

const ada = { authorization: "ada" };
const bob = { authorization: "bob" };

const whoami = tool({ call: (_, { principal }) => principal?.subject ?? "nobody" });

/** A tool that continues with an earlier state, and returns its user. */
const stateful = tool({
  call: (_, { requestState, principal }) =>
    requestState === undefined ? inputRequired({ requestState: "s" }) : `${requestState} ${principal?.subject}`,
});

proves("security.handle.every-request", async (world) => {
  const peer = await world.serve({ tools: { whoami } }, { open: false, http: byName });
  if (!world.isModern) {
    const params = { protocolVersion: world.version, capabilities: {}, clientInfo };
    expect((await peer.request("initialize", params, { bare: true, headers: ada })).result).toBeDefined();
  }
  const call = { name: "whoami" };
  expect(textOf(await peer.request("tools/call", call, { headers: ada }))).toBe("ada");
  const id = peer.start("tools/call", call);
  while (!peer.carried(id)) await peer.settled();
  expect(peer.carried(id)?.status).toBe(401);
  expect(textOf(await peer.request("tools/call", call, { headers: ada }))).toBe("ada");
});

proves("security.handle.no-credential", async (world) => {
  const http = world.serveHttp({ tools: { stateful } }, byName);
  if (world.isModern) {
    const call = (more: JsonObject, headers: Record<string, string>) =>
      http.modern("tools/call", { name: "stateful", ...more }, { headers: { accept, ...headers } });
    const { requestState } = (await (await call({}, ada)).json()).result;
    expect((await call({ requestState }, {})).status).toBe(401);
    expect((await (await call({ requestState }, bob)).json()).error).toBeDefined();
    expect(textOf((await (await call({ requestState }, ada)).json()) as never)).toBe("s ada");
    return;
  }
  const session = await openSession(world, http, ada);
  expect((await http.post(ping, { ...session, accept })).status).toBe(401);
  expect((await http.post(ping, { ...session, ...bob, accept })).status).toBe(404);
  expect((await http.post(ping, { ...session, ...ada, accept })).status).toBe(200);
});

proves("security.handle.unguessable", async (world) => {
  const secret = tool({ call: () => inputRequired({ requestState: "the secret" }) });
  const peer = await world.serve({ tools: { secret } });
  const states = new Set<string>();
  for (let count = 0; count < 20; count++) {
    const { result } = await peer.request("tools/call", { name: "secret" });
    states.add(result.requestState as string);
  }
  expect(states.size).toBe(20);
  for (const state of states) {
    expect(state.length).toBeGreaterThan(32);
    for (const text of [state, Buffer.from(state, "base64url").toString("latin1")])
      expect(text).not.toContain("secret");
  }
});

proves("security.handle.bound", async (world) => {
  const http = world.serveHttp({ tools: { whoami } }, byName);
  const session = await openSession(world, http, ada);
  expect((await http.post(ping, { ...session, ...bob, accept })).status).toBe(404);
  for (const method of ["GET", "DELETE"]) {
    const headers = { ...session, ...bob, accept: "text/event-stream" };
    expect((await http.send({ method, headers })).status).toBe(404);
  }
  expect((await http.post(ping, { ...session, ...ada, accept })).status).toBe(200);
});

proves("security.redirects", async (world) => {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of ["http://169.254.169.254/latest", "http://127.0.0.1:6379/", "//evil.example/mcp"]) {
      const intercept = (request: { status: (status: number, headers: Record<string, string>) => void }): boolean => {
        request.status(status, { location });
        return true;
      };
      const { connecting, server } = world.dial({ revision: world.version }, { http: { intercept } });
      await expect(connecting).rejects.toMatchObject({ code: "http" });
      const hosts = new Set(server.sent.map(({ url }) => new URL(url).hostname));
      expect([...hosts]).toEqual([expect.stringMatching(/^scripted-\d+\.test$/)]);
    }
  }
});

proves("security.url.checked", async (world) => {
  const shown: unknown[] = [];
  const elicit: ConnectOptions["elicit"] = (question) => {
    shown.push("url" in question ? question.url : undefined);
    return { action: "accept" };
  };
  const asked = async (url: string): Promise<Answered> =>
    ask(world, await world.connect({ elicit }), "elicitation/create", {
      mode: "url",
      message: "Go",
      url,
      elicitationId: "e",
    });
  for (const url of [
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "vbscript:x",
    "http://evil.example/",
    "https://bank.example@evil.example/",
    "ms-settings:",
    "/relative",
    "",
  ]) {
    expectRefused(await asked(url), -32602);
  }
  expect(shown).toEqual([]);
  const good = "https://bank.example/";
  expect((await asked(good)).result).toEqual({ action: "accept" });
  expect(shown).toEqual([good]);
});

proves("security.local.restricted", async (world) => {
  const ran: unknown[] = [];
  const counted = tool({ call: () => String(ran.push("ran")) });
  const http = world.serveHttp({ tools: { counted } }, byName);
  expect((await begin(world, http)).status).toBe(401);
  for (const method of ["GET", "DELETE"]) expect((await http.send({ method, headers: { accept } })).status).toBe(401);
  const params = { name: "counted" };
  expect((await http.modern("tools/call", params, { headers: { accept } })).status).toBe(401);
  expect((await http.post({ jsonrpc: "2.0", id: 3, method: "tools/call", params }, { accept })).status).toBe(401);
  expect(ran).toEqual([]);
  expect((await begin(world, http, ada)).status).toBe(200);
});

proves("security.confused-deputy", async (world) => {
  const look = tool({ call: (_, ctx) => inspect(ctx, { depth: 8, showHidden: true, getters: true }) });
  const { http, call, tokens } = await serveProtected(world, { tools: { look } });
  // No user can be sent through this server to another authorization server, with or without a token.
  const token = await tokens.sign();
  const wellKnown = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
  for (const path of ["/authorize", "/token", "/register", "/callback", ...wellKnown]) {
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      const { status } = await http.send({
        path: `${path}?client_id=other&redirect_uri=https://evil.example`,
        headers,
      });
      expect(path).toEqual(path);
      expect(status).toBe(404);
    }
  }
  const metadata = await http.send({ path: "/.well-known/oauth-protected-resource/mcp", method: "GET" });
  expect(await metadata.json()).toMatchObject({ authorization_servers: [issuer] });
  // A handler that calls another service has no token of the client that it could pass on.
  const answer = JSON.stringify(await firstMessage(await call("look", token)));
  expect(answer).toContain("alice");
  expect(answer).not.toContain(token);
});

let received: Promise<string> | undefined;

/** Opens a URL with a program that writes its argument to a file, and returns that argument. */
async function argumentOfBrowser(url: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "mcparley-open-"));
  const browser = path.join(folder, "browser");
  const script = `#!${process.execPath}
    const { renameSync, writeFileSync } = require("node:fs");
    writeFileSync(__filename + ".part", process.argv[2]);
    renameSync(__filename + ".part", __filename + ".url");`;
  await writeFile(browser, script, { mode: 0o700 });
  const changes = watch(folder);
  try {
    await openUrl(url, { env: { BROWSER: browser } });
    for await (const { filename } of changes) if (filename === "browser.url") break;
    return await readFile(`${browser}.url`, "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}

proves("security.url.no-shell", async () => {
  const url = "https://a.example/?a=$(id)&b=`id`;id|id&c=%0Aid#^&calc";
  const opened: (readonly [string, readonly string[]])[] = [];
  const launch = (command: string, args: readonly string[]): Promise<void> => {
    opened.push([command, args]);
    return Promise.resolve();
  };
  const systems = [
    { platform: "linux", env: { DISPLAY: ":0" } },
    { platform: "darwin", env: {} },
    { platform: "win32", env: {} },
  ] as const;
  for (const system of systems) await openUrl(url, { ...system, launch });
  const { href } = new URL(url);
  expect(opened).toEqual([
    ["xdg-open", [href]],
    ["open", [href]],
    ["rundll32", ["url.dll,FileProtocolHandler", href]],
  ]);
  for (const other of ["file:///bin/sh", "javascript:alert(1)", "http://a.example/", "https://a:b@a.example/"]) {
    await expect(openUrl(other, { platform: "linux", env: { DISPLAY: ":0" }, launch })).rejects.toThrow("https");
  }
  // The program receives the URL as one argument, so no shell reads it.
  expect(await (received ??= argumentOfBrowser(url))).toBe(href);
});
