import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { Client } from "../client.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions } from "../options.ts";

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

async function modern(options: ConnectOptions = {}) {
  const errors: Error[] = [];
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), { onError: (error) => errors.push(error), ...options });
  return { peer, client, errors };
}

describe("a message that is nested too deeply", () => {
  test.each<[string, (deep: unknown) => JsonObject, (client: Client) => Promise<unknown>]>([
    ["structured content", (deep) => ({ content: [], structuredContent: deep }), (client) => client.callTool("t")],
    ["a block", (deep) => ({ content: [{ type: "x", deep }] }), (client) => client.callToolResult("t")],
    ["metadata", (deep) => ({ content: [], _meta: { deep } }), (client) => client.callToolResult("t")],
    [
      "a resource",
      (deep) => ({ contents: [{ uri: "a://b", text: "", deep }] }),
      (client) => client.readResource("a://b"),
    ],
    ["a prompt", (deep) => ({ messages: [{ role: "user", content: deep }] }), (client) => client.getPrompt("p")],
    [
      "a form",
      (deep) => ({
        resultType: "input_required",
        inputRequests: { q: { method: "elicitation/create", params: { message: "?", requestedSchema: deep } } },
      }),
      (client) => client.callTool("t"),
    ],
    ["a result of a custom method", (deep) => ({ deep }), (client) => client.request("com.example/do")],
  ])("is an error of its call that names the limit: %s", async (_, make, call) => {
    for (const levels of [1_000, 5_000, 200_000]) {
      const { peer, client, errors } = await modern({ elicit: () => expect.fail("asked") });
      const calling = call(client);
      const request = (await peer.next()) as { id: number };
      peer.answer(request, make(nested(levels)));
      await expect(calling).rejects.toMatchObject({
        code: "too_large",
        message: expect.stringContaining("nested more than 1000 levels deep") as string,
      });
      expect(errors).toEqual([]);
      await client.close();
    }
  });

  test("is read up to 1,000 levels", async () => {
    for (const [levels, isRead] of [
      [999, true],
      [1_000, false],
    ] as const) {
      const { peer, client } = await modern();
      const call = client.callToolResult("t").then(
        () => true,
        () => false,
      );
      peer.answer((await peer.next()) as { id: number }, { content: [], structuredContent: nested(levels) });
      expect(await call).toBe(isRead);
    }
  });

  test("is an error without data if the data is too deep", async () => {
    const { peer, client } = await modern();
    const call = client.callTool("t");
    peer.refuse((await peer.next()) as { id: number }, { code: 7, message: "no", data: nested(5_000) });
    await expect(call).rejects.toMatchObject({ code: 7, message: "no", data: undefined });
  });

  test("is a notification that is reported and dropped", async () => {
    const { peer, errors } = await modern({
      onLog: () => expect.fail("logged"),
      onNotification: () => expect.fail("notified"),
    });
    peer.notify("notifications/message", { level: "info", data: nested(5_000) });
    peer.notify("com.example/a", { deep: nested(5_000) });
    expect(errors.map(({ message }) => message)).toEqual([
      "notifications/message of the server was not read. The value is nested more than 1000 levels deep.",
      "com.example/a of the server was not read. The value is nested more than 1000 levels deep.",
    ]);
  });

  test("is a request of a server that is refused before the user is asked", async () => {
    const peer = legacyPeer();
    const errors: Error[] = [];
    const client = await openClient(peerTransports(peer), {
      revision: "2025-11-25",
      elicit: () => expect.fail("asked"),
      onError: (error) => errors.push(error),
    });
    await peer.notification("notifications/initialized");
    peer.ask("q", "elicitation/create", {
      message: "?",
      requestedSchema: { type: "object", properties: { a: nested(5_000) } },
    });
    expect(await peer.next()).toMatchObject({
      id: "q",
      error: { code: -32602, message: expect.stringContaining("nested more than 1000 levels") as string },
    });
    expect(errors).toHaveLength(1);
    await client.close();
  });

  test("takes no other tool away from a list", async () => {
    const { peer, client } = await modern();
    const listing = client.listTools().all();
    const schemas = [{ type: "object" }, { type: "object", properties: { a: nested(5_000) } }];
    const tools = schemas.map((inputSchema, index) => ({ name: `t${index}`, inputSchema }));
    peer.answer((await peer.next()) as { id: number }, { tools });
    expect((await listing).map(({ name }) => name)).toEqual(["t0", "t1"]);
  });

  test("ends a list after its page, and the error names the limit", async () => {
    const { peer, client, errors } = await modern();
    const listing = client.listResources().all();
    const resources = [{ uri: "a://b", name: "r", annotations: { deep: nested(20_000) } }];
    peer.answer((await peer.next()) as { id: number }, { resources, nextCursor: "2" });
    expect((await listing).map(({ uri }) => uri)).toEqual(["a://b"]);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("maxListBytes")]);
  });
});
