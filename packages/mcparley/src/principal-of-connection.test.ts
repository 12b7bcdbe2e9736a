import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Client, type ConnectOptions, connect } from "./client.ts";
import { toFetch } from "./http.ts";
import { supportedVersions } from "./index.ts";
import {
  type Principal,
  type Server,
  createServer,
  localUser,
  memoryStore,
  prompt,
  rateLimit,
  requireScopes,
  resource,
  tool,
} from "./server.ts";
import { skill, skills } from "./skills.ts";
import { serveStdio, streamTransport } from "./stdio.ts";
import { asTask, followTasks, tasks } from "./tasks.ts";
import { z } from "zod";

const ada: Principal = { issuer: "https://auth.example.com", subject: "ada", scopes: ["notes:read"] };
const named = { name: "notes", version: "1.0.0" };

const definitions = {
  tools: {
    open: tool({ call: (_, { principal }) => principal?.subject ?? "nobody" }),
    read: tool({ scopes: ["notes:read"], call: (_, { principal }) => `${principal?.issuer} ${principal?.subject}` }),
    write: tool({ scopes: ["notes:read", "notes:write"], call: () => "written" }),
    inner: tool({
      input: z.object({ scope: z.string() }),
      call: ({ scope }, { principal }) => {
        requireScopes([scope], principal);
        return String(principal?.scopes.includes(scope));
      },
    }),
  },
  prompts: { greet: prompt({ scopes: ["notes:read"], get: () => "Hello" }) },
  resources: {
    note: resource("note://1", { scopes: ["notes:read"], read: () => "Buy milk." }),
    other: resource("note://by/{id}", { scopes: ["notes:write"], list: () => ["note://by/2"], read: ({ id }) => id }),
  },
};

let warnings: string[];

/** Returns the warnings. Their texts are loaded with the first one. */
async function allWarnings(): Promise<string[]> {
  await vi.dynamicImportSettled();
  return warnings;
}
const notes = (): Server<any, any, any> =>
  createServer({ ...named, ...definitions, onWarning: (warning) => warnings.push(warning) });

beforeEach(() => {
  warnings = [];
});
afterEach(() => void vi.restoreAllMocks());

type Open = (
  server: Server<any, any, any>,
  principal: Principal | undefined,
  options?: ConnectOptions,
) => Promise<Client>;

const transports: Record<string, Open> = {
  memory: (server, principal, options) => connect(server, { ...options, ...(principal && { principal }) }),
  stdio: (server, principal, options) => {
    const [up, down] = [new PassThrough(), new PassThrough()];
    void serveStdio(server, { input: up, output: down, ...(principal && { principal }) });
    return connect(streamTransport(down, up), options);
  },
  attach: async (server, principal, options) => {
    const [up, down] = [new PassThrough(), new PassThrough()];
    await server.attach(streamTransport(up, down), { principal });
    return connect(streamTransport(down, up), options);
  },
};

async function offerOf(client: Client): Promise<string[]> {
  const lists = [client.listTools(), client.listPrompts(), client.listResources(), client.listResourceTemplates()];
  const entries = await Promise.all(lists.map((list) => list.all()));
  return entries.flat().map(({ name }) => name);
}

describe.each(Object.entries(transports))("over %s", (_, open) => {
  test.each(supportedVersions)("the principal is the caller of each request on %s", async (revision) => {
    await using client = await open(notes(), ada, { revision });
    expect(await offerOf(client)).toEqual(["open", "read", "inner", "greet", "note"]);
    expect(await client.callTool("read")).toBe("https://auth.example.com ada");
    expect((await client.getPrompt("greet")).messages).toHaveLength(1);
    expect((await client.readResource("note://1")).contents).toHaveLength(1);
    await expect(client.callTool("write")).rejects.toMatchObject({
      code: 403,
      data: { scopes: definitions.tools.write.scopes },
    });
    await expect(client.readResource("note://by/2")).rejects.toMatchObject({ code: 403 });
    expect(await allWarnings()).toEqual([]);
  });

  test.each(supportedVersions)("the local user has all scopes on %s", async (revision) => {
    await using client = await open(notes(), localUser, { revision });
    expect(await offerOf(client)).toEqual(["open", "read", "write", "inner", "greet", "note", "note://by/2", "other"]);
    expect(await client.callTool("read")).toBe("local local");
    expect(await client.callTool("write")).toBe("written");
    expect(await client.callTool("inner", { scope: "anything" })).toBe("true");
    expect(await allWarnings()).toEqual([]);
  });

  test("without a principal nothing with scopes is offered, and one warning names it with the cure", async () => {
    const server = notes();
    await using client = await open(server, undefined);
    await using again = await open(server, undefined);
    for (const one of [client, again]) expect(await offerOf(one)).toEqual(["open", "inner"]);
    expect(await client.callTool("open")).toBe("nobody");
    expect(await allWarnings()).toHaveLength(1);
    for (const name of ['tool "read"', 'tool "write"', 'prompt "greet"', 'resource "note"', 'resource "other"'])
      expect(warnings[0]).toContain(name);
    expect(warnings[0]).toContain("principal");
    expect(warnings[0]).toContain("localUser");
  });

  test.each(supportedVersions)(
    "the refusal of a call without a principal names the scopes and the option on %s",
    async (revision) => {
      await using client = await open(notes(), undefined, { revision });
      const message = expect.stringMatching(/notes:read notes:write.*principal/) as string;
      await expect(client.callTool("write")).rejects.toMatchObject({ code: 403, message });
      await expect(client.callTool("inner", { scope: "x" })).rejects.toMatchObject({
        message: expect.stringContaining("principal") as string,
      });
    },
  );

  test.each([
    ["a text of scopes", { ...ada, scopes: "all" }],
    ["no scopes", { issuer: "a", subject: "b" }],
    ["no subject", { issuer: "a", scopes: [] }],
    ["an empty issuer", { ...ada, issuer: "" }],
    ["a scope that is no text", { ...ada, scopes: [1] }],
    ["a text", "ada"],
  ])("a principal with %s is refused", async (_name, principal) => {
    const attached = notes().attach(streamTransport(new PassThrough(), new PassThrough()), {
      principal: principal as never,
    });
    await expect(attached).rejects.toMatchObject({
      code: "invalid_definition",
      message: expect.stringContaining("localUser") as string,
    });
  });
});

test("a copy of the local user with another name has all scopes", async () => {
  await using client = await connect(notes(), { principal: { ...localUser, subject: "ada" } });
  expect(await client.callTool("write")).toBe("written");
  expect(await client.callTool("open")).toBe("ada");
});

test("a definition that is added to a served server causes the warning", async () => {
  const server = createServer({ ...named, tools: {}, onWarning: (warning) => warnings.push(warning) });
  await using client = await connect(server);
  expect(await allWarnings()).toEqual([]);
  server.tools.set("read", definitions.tools.read);
  expect(await client.listTools().all()).toEqual([]);
  expect(await allWarnings()).toEqual([expect.stringContaining('tool "read"')]);
  server.tools.set("write", definitions.tools.write);
  expect(await client.listTools().all()).toEqual([]);
  expect(await allWarnings()).toHaveLength(1);
});

test("the warning names ten definitions and the number of the others", async () => {
  const tools = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`t${index}`, definitions.tools.read]));
  await using client = await connect(createServer({ ...named, tools, onWarning: (warning) => warnings.push(warning) }));
  await client.listTools().all();
  expect(await allWarnings()).toEqual([expect.stringMatching(/tool "t9" and 2 more/)]);
});

test("the warning goes to the console, which is stderr", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  await using client = await connect(createServer({ ...named, ...definitions }));
  await offerOf(client);
  await vi.dynamicImportSettled();
  expect(warn).toHaveBeenCalledTimes(1);
});

test("skills with scopes are offered to the principal, and named in the warning", async () => {
  const files = { "SKILL.md": "---\nname: refunds\ndescription: How to refund.\n---\nAsk first." };
  const server = () =>
    createServer({
      ...named,
      extensions: [skills({ refunds: skill(files, { scopes: ["shop:admin"] }) })],
      onWarning: (warning) => warnings.push(warning),
    });
  await using local = await connect(server(), { principal: localUser });
  expect(await local.listResources().all()).toHaveLength(1);
  expect(await allWarnings()).toEqual([]);
  await using anyone = await connect(server());
  expect(await anyone.listResources().all()).toEqual([]);
  expect(await allWarnings()).toEqual([expect.stringContaining('skill "refunds"')]);
});

describe("over HTTP", () => {
  const request = (body: object, headers: Record<string, string> = {}): Request =>
    new Request("http://127.0.0.1/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(body),
    });

  async function list(serve: (request: Request) => Promise<Response>): Promise<string[]> {
    await using client = await connect("http://127.0.0.1/mcp", { fetch: (url, init) => serve(new Request(url, init)) });
    return (await client.listTools().all()).map(({ name }) => name);
  }

  test("an endpoint without auth warns when it serves an anonymous request, and not before", async () => {
    const { fetch: serve } = toFetch(notes());
    expect(await allWarnings()).toEqual([]);
    expect(await list(serve)).toEqual(["open", "inner"]);
    expect(await allWarnings()).toEqual([expect.stringContaining('"auth"')]);
    expect(await list(serve)).toEqual(["open", "inner"]);
    expect(await allWarnings()).toHaveLength(1);
  });

  test("an endpoint with auth gives no warning, also for callers without credentials", async () => {
    const { fetch: serve } = toFetch(notes(), { auth: () => undefined });
    expect(await list(serve)).toEqual(["open", "inner"]);
    expect(await allWarnings()).toEqual([]);
  });

  test("a principal of the framework gives no warning", async () => {
    const { fetch: serve } = toFetch(notes());
    expect(await list((given) => serve(given, { principal: ada }))).toEqual(["open", "read", "inner"]);
    expect(await allWarnings()).toEqual([]);
    expect((await serve(request({}))).status).toBe(400);
  });
});

test("a principal for a URL is refused, because a server elsewhere verifies its callers", async () => {
  // @ts-expect-error -- only a server of this process takes a principal
  const connecting = connect("https://example.com/mcp", { principal: ada });
  await expect(connecting).rejects.toMatchObject({
    code: "invalid_target",
    message: expect.stringContaining("principal") as string,
  });
});

test("rate limits count for the principal of the connection", async () => {
  const server = notes().use(rateLimit({ perSecond: 0.001, burst: 1 }));
  await using first = await connect(server, { principal: ada });
  await using second = await connect(server, { principal: { ...ada, subject: "bob" } });
  expect(await first.callTool("read")).toContain("ada");
  await expect(first.callTool("read")).rejects.toThrow();
  expect(await second.callTool("read")).toContain("bob");
});

describe("tasks", () => {
  const slow = tool({
    scopes: ["videos:write"],
    extensions: [asTask({ runAgain: true })],
    call: (_, { principal }) => {
      requireScopes(["other"], principal);
      return `done for ${principal?.subject}`;
    },
  });
  const videos = (store = memoryStore()): Server<any, any, any> =>
    createServer({ ...named, store, tools: { slow }, extensions: [tasks()] });

  test("belong to the principal that created them", async () => {
    const server = videos();
    await using mine = await connect(server, { principal: localUser, extensions: [followTasks()] });
    expect(await mine.callTool("slow")).toBe("done for local");
    await using other = await connect(server, {
      principal: { ...localUser, subject: "bob" },
      extensions: [followTasks()],
    });
    expect(await other.callTool("slow")).toBe("done for bob");
  });
});
