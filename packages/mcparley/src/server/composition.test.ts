import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { LocalError } from "../rpc/errors.ts";
import { ToolError } from "../mcp/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { text } from "./features/content.ts";
import { prompt, resource, tool, withContext } from "./definition.ts";
import type { ServerExtension } from "./core/extension.ts";
import { auditTo } from "./observe/audit.ts";
import { rateLimit } from "./observe/rate-limit.ts";
import { createServer } from "./create-server.ts";

const modern = "2026-07-28";
const meta = modernMeta(modern);

const callTool = async (peer: RawPeer, name = "t", args: JsonObject = {}): Promise<JsonObject> =>
  (await peer.request("tools/call", { name, arguments: args })).result;

describe("access", () => {
  const principal = { issuer: "https://i", subject: "s" };
  const secured = () =>
    createServer({
      name: "x",
      version: "1",
      tools: { open: tool({ call: () => "o" }), shut: tool({ scopes: ["admin", "write"], call: () => "s" }) },
      prompts: { shut: prompt({ scopes: ["admin"], get: () => "s" }) },
      resources: { shut: resource("r://shut", { scopes: ["admin"], read: () => "s" }) },
    });

  test("a tool with scopes is hidden from callers without them, and the error of a call names all scopes", async () => {
    const server = secured();
    const peer = await rawPeer(
      { attach: (transport) => server.attach(transport, { principal: { ...principal, scopes: ["admin"] } }) },
      { meta },
    );
    expect(((await peer.request("tools/list")).result.tools as { name: string }[]).map(({ name }) => name)).toEqual([
      "open",
    ]);
    expect(((await peer.request("prompts/list")).result.prompts as object[]).length).toBe(1);
    expect((await peer.request("tools/call", { name: "shut" })).error).toMatchObject({
      code: 403,
      data: { scopes: ["admin", "write"] },
    });
    expect((await peer.request("resources/read", { uri: "r://shut" })).result.contents).toMatchObject([{ text: "s" }]);
  });

  test("callers see the entries of their scopes, and a page that depends on scopes is private", async () => {
    const server = secured();
    const anyone = await rawPeer(server, { meta });
    expect(((await anyone.request("tools/list")).result.tools as object[]).length).toBe(1);
    const admin = await rawPeer(
      { attach: (transport) => server.attach(transport, { principal: { ...principal, scopes: ["write", "admin"] } }) },
      { meta },
    );
    expect(((await admin.request("tools/list")).result.tools as object[]).length).toBe(2);
    for (const method of ["tools/list", "prompts/list", "resources/list"]) {
      expect((await anyone.request(method)).result.cacheScope).toBe("private");
    }
    expect((await anyone.request("resources/templates/list")).result.cacheScope).toBe("public");
    for (const [method, params] of [
      ["prompts/get", { name: "shut" }],
      ["resources/read", { uri: "r://shut" }],
    ] as const) {
      expect((await anyone.request(method, params)).error.code).toBe(403);
    }
  });

  test("the rate limit rejects a caller's calls with the seconds to wait, and accepts them after that time", async () => {
    let now = 0;
    const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} };
    const server = createServer({ name: "x", version: "1", tools: { t: tool({ call: () => "x" }) } }).use(
      rateLimit({ perSecond: 1, burst: 2, clock }),
    );
    const peer = await rawPeer(
      { attach: (transport) => server.attach(transport, { principal: { ...principal, scopes: [] } }) },
      { meta },
    );
    await callTool(peer);
    await callTool(peer);
    const { error } = await peer.request("tools/call", { name: "t" });
    expect(error).toMatchObject({ data: { retryAfter: 1 }, message: expect.stringContaining("1 s") as string });
    expect((await peer.request("tools/list")).result).toBeDefined();
    const other = await rawPeer(server, { meta });
    expect(await callTool(other)).toMatchObject({ content: [{ text: "x" }] });
    now += 1000;
    expect(await callTool(peer)).toMatchObject({ content: [{ text: "x" }] });
  });

  test("an audit records the client, the tool, the outcome, and the types of the arguments without their values", async () => {
    const audit = vi.fn<(record: object) => void>();
    const server = createServer({
      name: "x",
      version: "1",
      observers: [auditTo(audit)],
      onError: () => {},
      tools: {
        ok: tool({ input: z.object({ secret: z.string() }), call: () => "x" }),
        fails: tool({
          call: () => {
            throw new ToolError("no");
          },
        }),
        breaks: tool({
          call: () => {
            throw new Error("no");
          },
        }),
        shut: tool({ scopes: ["admin"], call: () => "x" }),
      },
    });
    const peer = await rawPeer(server, { meta });
    await callTool(peer, "ok", { secret: "hunter2" });
    for (const name of ["fails", "breaks", "shut"]) await peer.request("tools/call", { name });
    const records = audit.mock.calls.map(([record]) => record);
    expect(records).toMatchObject([
      { method: "tools/call", name: "ok", outcome: "ok", client: "raw-peer/1.0.0", arguments: { secret: "string" } },
      { name: "fails", outcome: "tool_error" },
      { name: "breaks", outcome: "error" },
      { name: "shut", outcome: "refused", code: 403 },
    ]);
    expect(JSON.stringify(records)).not.toContain("hunter2");
  });

  test("an audit identifies the principal of calls and refusals by issuer and subject alone", async () => {
    const audit = vi.fn<(record: object) => void>();
    const server = createServer({
      name: "x",
      version: "1",
      observers: [auditTo(audit)],
      tools: { ok: tool({ call: () => "x" }) },
    });
    const claims = { email: "alice@example.com" };
    const principal = { issuer: "https://i", subject: "s", scopes: ["notes:read"], clientId: "app", claims };
    const peer = await rawPeer({ attach: (transport) => server.attach(transport, { principal }) }, { meta });
    await callTool(peer, "ok");
    const refusal = { at: 1, what: "POST /mcp", principal, status: 403, code: undefined, reason: "no" };
    auditTo(audit).refused?.(refusal);
    const principals = audit.mock.calls.map(([record]) => (record as { principal: unknown }).principal);
    expect(principals).toEqual([
      { issuer: "https://i", subject: "s" },
      { issuer: "https://i", subject: "s" },
    ]);
    expect(JSON.stringify(audit.mock.calls)).not.toContain("alice@example.com");
  });
});

describe("composition", () => {
  test("middleware wraps every method, the first outermost, and may return its own result", async () => {
    const seen: string[] = [];
    const server = createServer({ name: "x", version: "1", tools: { t: tool({ call: () => "x" }) } })
      .use(async (call, next) => {
        seen.push(`out ${call.method}`);
        const result = await next();
        seen.push("back");
        return result;
      })
      .use((_, next) => {
        seen.push("in");
        return next();
      })
      .use({
        "tools/call": (call, next) => (call.params.name === "cached" ? { content: [text("from middleware")] } : next()),
      });
    const peer = await rawPeer(server, { meta });
    expect(await callTool(peer, "cached")).toMatchObject({ content: [{ text: "from middleware" }] });
    expect((await peer.request("tools/list")).result.tools).toHaveLength(1);
    expect(seen).toEqual(["out tools/call", "in", "back", "out tools/list", "in", "back"]);
  });

  test("the context option is typed and called once per call", async () => {
    const { tool: contextual } = withContext<{ db: { find(): string } }>();
    const find = contextual({ call: (_, ctx) => ctx.db.find() });
    let made = 0;
    const server = createServer({
      name: "x",
      version: "1",
      tools: { find },
      context: () => ({ db: { find: () => `found ${++made}` } }),
    });
    const peer = await rawPeer(server, { meta });
    expect(await callTool(peer, "find")).toMatchObject({ content: [{ text: "found 1" }] });
    expect(await callTool(peer, "find")).toMatchObject({ content: [{ text: "found 2" }] });
  });

  test("a mounted server keeps its middleware and context, and its later changes are mounted", async () => {
    const inner = createServer({
      name: "inner",
      version: "1",
      tools: { hi: tool({ call: (_, ctx) => `hi ${(ctx as unknown as { who: string }).who}` }) },
      resources: { r: resource("r://1", { read: () => "r" }) },
      context: () => ({ who: "inner" }),
    }).use(async (_, next) => next());
    const outer = createServer({ name: "outer", version: "1", tools: { own: tool({ call: () => "own" }) } }).mount(
      "in",
      inner,
    );
    const peer = await rawPeer(outer, { meta });
    expect(await callTool(peer, "in.hi")).toMatchObject({ content: [{ text: "hi inner" }] });
    expect((await peer.request("resources/read", { uri: "r://1" })).result.contents).toMatchObject([{ text: "r" }]);
    inner.tools.set("later", tool({ call: () => "later" }));
    expect(await callTool(peer, "in.later")).toMatchObject({ content: [{ text: "later" }] });
    inner.tools.delete("hi");
    expect((await peer.request("tools/call", { name: "in.hi" })).error.code).toBe(-32602);
  });

  test("an extension adds methods, a capability and a subscription", async () => {
    const server = createServer({
      name: "x",
      version: "1",
      extensions: [
        {
          id: "com.example/feature",
          settings: { level: 2 },
          methods: { "feature/run": { answer: async (call) => ({ ran: call.params.what }) } },
        },
      ],
    });
    const peer = await rawPeer(server, { meta });
    expect((await peer.request("server/discover")).result.capabilities).toMatchObject({
      extensions: { "com.example/feature": { level: 2 } },
    });
    expect((await peer.request("feature/run", { what: 1 })).result).toMatchObject({ ran: 1, resultType: "complete" });
    const legacy = await rawPeer(server);
    await openSession(legacy, "2025-11-25");
    expect((await legacy.request("feature/run")).error.code).toBe(-32601);
  });

  test("an extension receives the definitions and adds to them, and its features are declared while they are empty", async () => {
    const seen: string[] = [];
    const extension: ServerExtension = {
      id: "com.example/feature",
      features: ["resources", "prompts"],
      offer({ tools, prompts }) {
        for (const [name] of tools) seen.push(name);
        prompts.set("added", prompt({ get: () => "hi" }));
      },
    };
    const tools = { t: tool({ call: () => "x" }) };
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools, extensions: [extension] }), { meta });
    expect(seen).toEqual(["t"]);
    const { capabilities } = (await peer.request("server/discover")).result as { capabilities: JsonObject };
    expect(Object.keys(capabilities)).toEqual(expect.arrayContaining(["tools", "prompts", "resources"]));
    expect((await peer.request("resources/list")).result.resources).toEqual([]);
    expect((await peer.request("prompts/list")).result.prompts).toMatchObject([{ name: "added" }]);
    const refusing: ServerExtension = { ...extension, offer: () => expect.fail("refused") };
    expect(() => createServer({ name: "x", version: "1", extensions: [refusing] })).toThrow("refused");
  });

  test("an extension may not replace a method of the protocol", () => {
    const extensions = [{ id: "com.example/x", methods: { "tools/call": { answer: async () => ({}) } } }];
    expect(() => createServer({ name: "x", version: "1", extensions })).toThrow(LocalError);
  });
});
