import { connect } from "node:net";
import v8 from "node:v8";
import vm from "node:vm";
import { afterEach, expect, test } from "vitest";
import { tool } from "../server/definition.ts";
import { createServer } from "../server/create-server.ts";
import { modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { metaOf, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { listen } from "./listen.ts";

v8.setFlagsFromString("--expose-gc");
const collect = vm.runInNewContext("gc") as () => void;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Sends one POST on a new connection, and resolves when the response starts. */
function post(port: number, body: string, headers: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  closers.push(() => socket.destroy());
  socket.write(`POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}\r\n`);
  socket.write(body);
  return new Promise((resolve, reject) => {
    socket.on("data", (chunk: Buffer) => (chunk.includes("acknowledged") ? resolve() : undefined));
    socket.once("error", reject);
  });
}

test("an open listen stream keeps only the filter of a large request in memory", async () => {
  const params: WeakRef<object>[] = [];
  const capabilities: WeakRef<object>[] = [];
  const server = createServer({ name: "test", version: "1.0.0", tools: { hello: tool({ call: () => "" }) } });
  server.use((call, next) => {
    params.push(new WeakRef(call.params));
    capabilities.push(new WeakRef(call.peer.capabilities));
    return next();
  });
  const listening = await listen(server, { port: 0, closeTimeout: 0 });
  closers.push(listening.close);
  const padding = "x".repeat(1_000_000);
  const bodyOf = (id: number): string => {
    const info = { name: "raw", version: "1", title: padding };
    const meta = metaOf({ capabilities: { padding }, meta: { padding, "io.modelcontextprotocol/clientInfo": info } });
    const given = { notifications: { toolsListChanged: true }, _meta: meta };
    return JSON.stringify({ jsonrpc: "2.0", id, method: "subscriptions/listen", params: given });
  };
  const head = (length: number): string =>
    `mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\naccept: text/event-stream\r\ncontent-length: ${length}\r\n`;
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  for (let id = 0; id < 24; id++) {
    const body = bodyOf(id);
    await post(listening.port, body, head(body.length));
  }
  // The sockets of both peers are in this process. They release written data some turns of the event loop later.
  const remaining = (refs: WeakRef<object>[]): number => refs.filter((ref) => ref.deref() !== undefined).length;
  await expect.poll(() => (collect(), remaining(params))).toBe(0);
  await expect.poll(() => (collect(), remaining(capabilities))).toBe(0);
  const after = used();
  // 24 requests have 3 MB each. The limit leaves room for noise of the runtime.
  expect(after - before).toBeLessThan(24_000_000);
});

test("a broken connection releases the memory share of its request", async () => {
  const slow = gate();
  const server = createServer({ name: "test", version: "1.0.0", tools: { slow: tool(slow) }, limits: { inFlight: 1 } });
  const listening = await listen(server, { port: 0, closeTimeout: 0 });
  closers.push(listening.close);
  const leaving = new AbortController();
  const client = rawHttp(listening.url, fetch);
  const gone = client.modern("tools/call", { name: "slow" }, { signal: leaving.signal });
  const ctx = await slow.entered;
  const cancelled = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  expect((await client.modern("tools/list")).status).toBe(429);
  leaving.abort();
  await expect(gone).rejects.toThrow();
  await cancelled;
  expect((await client.modern("tools/list")).status).toBe(200);
  expect((await client.modern("tools/list")).status).toBe(200);
});

test("an open listen stream on another transport does not keep its request in memory", async () => {
  let params: WeakRef<object> | undefined;
  const server = createServer({ name: "test", version: "1.0.0", tools: { hello: tool({ call: () => "" }) } });
  server.use((call, next) => {
    params = new WeakRef(call.params);
    return next();
  });
  const peer = await rawPeer(server);
  const listenTo = (): void => {
    const given = { notifications: { toolsListChanged: true }, _meta: modernMeta("2026-07-28", { padding: {} }) };
    peer.send(JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: given })));
  };
  listenTo();
  await peer.nextNotification("notifications/subscriptions/acknowledged");
  await peer.settled();
  collect();
  expect(params).toBeDefined();
  expect(params?.deref()).toBeUndefined();
  await peer.close();
});
