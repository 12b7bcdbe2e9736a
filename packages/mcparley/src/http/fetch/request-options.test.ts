import { describe, expect, test } from "vitest";
import { type Fetch, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { asTask, tasks } from "../../extensions/tasks/server/tasks.ts";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { tasksId } from "../../extensions/tasks/task.ts";
import type { Platform, RequestOptions } from "../exchange.ts";
import type { HttpOptions } from "../server/options.ts";
import { type FetchHandler, toFetch } from "./to-fetch.ts";

const whoami = tool({ call: (_, { principal }) => principal?.subject ?? "nobody" });
const guarded = tool({ scopes: ["write"], call: () => "written" });
const alice = { issuer: "app", subject: "alice", scopes: ["write"] };
const bob = { issuer: "app", subject: "bob", scopes: [] };

function serve(options: HttpOptions = {}): { handler: FetchHandler; errors: unknown[] } {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const server = createServer({ name: "test", version: "1.0.0", tools: { whoami, guarded }, onError });
  return { handler: toFetch(server, options), errors };
}

const clientOf = (handler: FetchHandler, options?: unknown, platform?: Platform): ReturnType<typeof rawHttp> => {
  const fetch: (request: Request, options?: any, platform?: any) => ReturnType<Fetch> = handler.fetch;
  return rawHttp("http://localhost/mcp", (request) => fetch(request, options, platform));
};
const callerOf = async (handler: FetchHandler, options?: unknown, platform?: Platform): Promise<unknown> => {
  const answer = await clientOf(handler, options, platform).modern("tools/call", { name: "whoami" });
  return ((await answer.json()).result as { content: { text: string }[] }).content[0]?.text;
};

describe("a principal of the framework", () => {
  test("is the caller, with its scopes", async () => {
    const { handler } = serve();
    expect(await callerOf(handler, { principal: alice })).toBe("alice");
    const statusOf = async (principal: RequestOptions["principal"]): Promise<number> =>
      (await clientOf(handler, { principal }).modern("tools/call", { name: "guarded" })).status;
    expect(await statusOf(alice)).toBe(200);
    expect(await statusOf(bob)).toBe(403);
    expect(await statusOf(undefined)).toBe(403);
  });

  test("is also read from the environment of a Worker", async () => {
    const { handler } = serve();
    expect(await callerOf(handler, { DATABASE: {}, body: "text" }, { waitUntil: () => {} })).toBe("nobody");
    expect(await callerOf(handler, { principal: alice }, { waitUntil: () => {} })).toBe("alice");
  });

  test("has precedence over auth, which is used for requests without it", async () => {
    let asked = 0;
    const auth = (): typeof bob => {
      asked++;
      return bob;
    };
    const { handler } = serve({ auth });
    expect(await callerOf(handler, { principal: alice })).toBe("alice");
    expect(asked).toBe(0);
    for (const principal of [undefined, null]) expect(await callerOf(handler, { principal })).toBe("bob");
    expect(await callerOf(handler)).toBe("bob");
  });

  test("owns its sessions: another principal receives 404", async () => {
    const { handler } = serve();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
    const opened = await clientOf(handler, { principal: alice }).post({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params,
    });
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    expect((await clientOf(handler, { principal: alice }).post(ping, headers)).status).toBe(200);
    for (const options of [{ principal: bob }, {}, undefined]) {
      expect((await clientOf(handler, options).post(ping, headers)).status).toBe(404);
    }
  });

  test.each(["alice", "", 0, false, {}, { subject: "alice" }, { issuer: "app", subject: "", scopes: [] }])(
    "of an invalid form, %j, is an error and does not make the caller anonymous",
    async (principal) => {
      const { handler, errors } = serve();
      const answer = await clientOf(handler, { principal }).modern("tools/call", { name: "whoami" });
      expect(answer.status).toBe(500);
      expect(String(errors[0])).toContain("A principal must be { issuer, subject, scopes }");
    },
  );
});

describe("a body that a framework has read", () => {
  const consumed = (options?: (body: unknown) => RequestOptions): ReturnType<typeof rawHttp> => {
    const { handler } = serve();
    return rawHttp("http://localhost/mcp", async (request) => {
      const body: unknown = await request.json();
      return options ? handler.fetch(request, options(body)) : handler.fetch(request);
    });
  };

  test("is used if the framework passes it on", async () => {
    const answer = await consumed((body) => ({ body })).modern("tools/call", { name: "whoami" });
    expect(await answer.json()).toHaveProperty("result");
  });

  test("causes an error that names the cure if the framework does not pass it on", async () => {
    const answer = await consumed().modern("tools/call", { name: "whoami" });
    expect(answer.status).toBe(500);
    expect((await answer.json()).error?.message).toContain("fetch(request, { body })");
  });
});

describe("waitUntil", () => {
  test("is called with a promise that settles when the request is answered", async () => {
    const { handler } = serve();
    const work: Promise<unknown>[] = [];
    const platform = { work, waitUntil: (one: Promise<unknown>) => void work.push(one) };
    await callerOf(handler, {}, platform);
    expect(work).toHaveLength(1);
    await work[0];
  });

  test("keeps a task running after the response of its call", async () => {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const job = tool({ extensions: [asTask()], call: () => finished.then(() => "done") });
    const server = createServer({ name: "test", version: "1.0.0", tools: { job }, extensions: [tasks()] });
    const { fetch, close } = toFetch(server);
    const work: Promise<unknown>[] = [];
    const platform = {
      waitUntil(one: Promise<unknown>) {
        expect(this).toBe(platform);
        work.push(one);
      },
    };
    const client = rawHttp("http://localhost/mcp", (request) => fetch(request, {}, platform));
    const capabilities = { extensions: { [tasksId]: {} } };
    const created = await client.modern("tools/call", { name: "job" }, { capabilities });
    const { taskId } = (await created.json()).result as { taskId: string };
    expect(work).toHaveLength(2);
    finish();
    await Promise.all(work);
    const read = await client.modern("tasks/get", { taskId }, { capabilities, headers: { "mcp-name": taskId } });
    expect((await read.json()).result).toMatchObject({ status: "completed" });
    await close();
  });
});
