import { expect, test } from "vitest";
import { connect } from "../../connect.ts";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { fakeClock } from "../../testing/fake-clock.ts";

const tools = { hi: tool({ call: () => "hi" }) };

/** Connects a client that pings over HTTP. `methods` lists its requests. A test can leave requests unanswered. */
async function pinging(revision: string) {
  const clock = fakeClock();
  const { fetch } = toFetch(createServer({ name: "x", version: "1", clock, tools }));
  const served = { methods: [] as string[], answers: true };
  const client = await connect("http://localhost/mcp", {
    revision,
    clock,
    pingInterval: 1000,
    async fetch(input, init) {
      const request = new Request(input, init);
      const { method } = (request.method === "POST" ? await request.clone().json() : {}) as { method?: string };
      if (method) served.methods.push(method);
      return method === "ping" && !served.answers ? new Promise<Response>(() => {}) : fetch(request);
    },
  });
  return { clock, client, served };
}

test("the next call opens a new session after two pings without an answer", async () => {
  const { clock, client, served } = await pinging("2025-11-25");
  served.answers = false;
  await clock.advance(3000);
  expect(client.state).not.toBe("open");
  served.answers = true;
  expect(await client.callTool("hi")).toBe("hi");
  expect(served.methods.filter((method) => method === "initialize")).toHaveLength(2);
  await client.close();
});

test("a modern server over HTTP is not pinged", async () => {
  const { clock, client, served } = await pinging("2026-07-28");
  await clock.advance(60_000);
  expect(served.methods).toEqual(["server/discover"]);
  await client.close();
});

test("a modern server on a stream is pinged with server/discover", async () => {
  const clock = fakeClock();
  const methods: string[] = [];
  const server = createServer({ name: "x", version: "1", clock, tools }).use((call, next) => {
    methods.push(call.method);
    return next();
  });
  const client = await connect(server, { revision: "2026-07-28", clock, pingInterval: 1000 });
  await clock.advance(2000);
  expect(methods).toEqual(["server/discover", "server/discover", "server/discover"]);
  await client.close();
});

test("an invalid interval is refused", async () => {
  const server = createServer({ name: "x", version: "1" });
  await expect(connect(server, { pingInterval: -1 })).rejects.toThrow("pingInterval");
});
