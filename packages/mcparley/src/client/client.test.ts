import { describe, expect, test } from "vitest";
import type { JsonObject } from "../rpc/messages.ts";
import { prompt, resource, tool } from "../server/definition.ts";
import { createServer } from "../server/create-server.ts";
import { supportedVersions } from "../mcp/revisions/index.ts";
import { flushPromises } from "../testing/fake-clock.ts";
import { modernPeer, peerTransports } from "../testing/peer-transports.ts";
import { serverTransports } from "./connect/transports.ts";
import { openClient } from "./open-client.ts";

const server = createServer({
  name: "demo",
  version: "1.0.0",
  instructions: "Use it well.",
  tools: { add: tool({ input: { type: "object" }, call: ({ a, b }) => String(Number(a) + Number(b)) }) },
  prompts: { hi: prompt({ arguments: { name: { complete: ["Ann", "Bob"] } }, get: ({ name }) => `hi ${name}` }) },
  resources: {
    note: resource("note://a", { read: () => "text" }),
    notes: resource("note://x/{id}", { read: ({ id }) => id, complete: { id: ["1", "2"] } }),
  },
});

describe.each([...supportedVersions, "2024-10-07"])("a client of a server of revision %s", (revision) => {
  test("can use every feature of the server", async () => {
    const errors: Error[] = [];
    const client = await openClient(serverTransports(server), { revision, onError: (error) => errors.push(error) });
    expect(client.target).toBe("memory:demo");
    expect(client.state).toBe("open");
    expect(client.server).toMatchObject({ info: { name: "demo" }, instructions: "Use it well.", revision });
    expect(await client.callTool("add", { a: 1, b: 2 })).toBe("3");
    expect((await client.callToolResult("add", { a: 1, b: 2 })).content).toEqual([{ type: "text", text: "3" }]);
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["add"]);
    expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(["hi"]);
    expect((await client.listResources().all()).map(({ uri }) => uri)).toEqual(["note://a"]);
    expect((await client.listResourceTemplates().all()).map(({ name }) => name)).toEqual(["notes"]);
    const { messages } = await client.getPrompt("hi", { name: "Ann" });
    expect(messages).toMatchObject([{ role: "user", content: { type: "text", text: "hi Ann" } }]);
    expect((await client.readResource("note://x/7")).contents).toMatchObject([{ uri: "note://x/7", text: "7" }]);
    const ref = { type: "ref/prompt", name: "hi" } as const;
    expect((await client.complete(ref, { name: "name", value: "B" })).values).toEqual(["Bob"]);
    await client.ping();
    await client.setLogLevel("error");
    await client.rootsChanged();
    expect(client.inFlight).toBe(0);
    await client.close();
    await client.closed;
    expect(client.state).toBe("closed");
    expect(errors).toEqual([]);
  });
});

test("await using closes the client", async () => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer));
  await client[Symbol.asyncDispose]();
  expect(peer.isClosed).toBe(true);
});

test("calls are sent in the order in which they were made", async () => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer));
  const calls = [
    client.callTool("1"),
    client.readResource("2:"),
    client.getPrompt("3"),
    client.ping(),
    client.callTool("4"),
  ];
  for (const call of calls) call.catch(() => {});
  await flushPromises();
  const named = peer.arrived.slice(1).map(({ message }) => {
    const { method, params } = message as { method: string; params: JsonObject };
    return params.name ?? params.uri ?? method;
  });
  expect(named).toEqual(["1", "2:", "3", "server/discover", "4"]);
  await client.close();
});

test("a closed server closes its connections, and the next call connects again", async () => {
  const other = createServer({ name: "s", version: "1", tools: { a: tool({ call: () => "x" }) } });
  const client = await openClient(serverTransports(other));
  await other.close();
  await flushPromises();
  expect(client.state).toBe("reconnecting");
  expect(await client.callTool("a")).toBe("x");
  expect(client.state).toBe("open");
  await client.close();
});
