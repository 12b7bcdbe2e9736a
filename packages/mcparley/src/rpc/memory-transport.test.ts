import { describe, expect, test } from "vitest";
import { flushPromises } from "../testing/fake-clock.ts";
import { openClient } from "../client/open-client.ts";
import { serverTransports } from "../client/connect/transports.ts";
import type { ConnectOptions } from "../client/options.ts";
import { createServer } from "../server/create-server.ts";
import { resource, tool } from "../server/definition.ts";
import { toolResult } from "../server/core/tool-types.ts";
import type { Context } from "../server/core/context.ts";
import { memoryPair } from "./memory-transport.ts";
import { type JsonObject, notification } from "./messages.ts";

class Point {
  readonly x = 1;
  readonly at = new Date(0);
  toString(): string {
    return "point";
  }
}

const odd = (): JsonObject => ({
  missing: undefined,
  at: new Date(0),
  nan: NaN,
  point: new Point(),
  map: new Map([["a", 1]]),
  list: [undefined, NaN],
});
const plain = {
  at: "1970-01-01T00:00:00.000Z",
  nan: null,
  point: { x: 1, at: "1970-01-01T00:00:00.000Z" },
  map: {},
  list: [null, null],
};

const input = { type: "object" };

async function connected(
  version: string,
  call: (input: JsonObject, ctx: Context) => unknown,
  options: ConnectOptions = {},
) {
  const errors: unknown[] = [];
  const server = createServer({
    name: "s",
    version: "1",
    onError: (error) => errors.push(error),
    tools: { t: tool({ input, call: (args, ctx) => call(args, ctx) as string }) },
    resources: {
      r: resource("a://b", {
        read: () => ({ contents: [{ uri: "a://b", text: "x", _meta: { "com.example/at": new Date(0) } }] }) as never,
      }),
    },
  });
  const client = await openClient(serverTransports(server), { revision: version, ...options });
  return { client, errors };
}

describe.each(["2025-06-18", "2025-11-25", "2026-07-28"])(
  "a server in memory on %s is like one on the wire",
  (version) => {
    test("arguments arrive as JSON, and a handler cannot change those of the caller", async () => {
      let received: unknown;
      const { client } = await connected(version, (args) => {
        received = structuredClone(args);
        Object.assign(args, { changed: true });
        (args.list as unknown[]).push("changed");
        return "done";
      });
      const args = odd();
      await client.callTool("t", args);
      expect(received).toStrictEqual(plain);
      expect(args).toStrictEqual(odd());
    });

    test("results arrive as JSON, and neither side can change those of the other", async () => {
      const shared = odd();
      const { client } = await connected(version, () => toolResult({ content: [], structuredContent: shared }));
      const { structuredContent } = await client.callToolResult("t");
      expect(structuredContent).toStrictEqual(plain);
      Object.assign(structuredContent as object, { changed: true });
      expect(shared).toStrictEqual(odd());
      expect((await client.callToolResult("t")).structuredContent).toStrictEqual(plain);
    });

    test("a list that was prepared once is a new object for each client", async () => {
      const { client } = await connected(version, () => "");
      const [first] = await client.listTools({ fresh: true }).all();
      Object.assign(first as object, { name: "changed" });
      expect(await client.listTools({ fresh: true }).all()).toMatchObject([{ name: "t" }]);
    });

    test("a message that is changed after it was sent arrives unchanged", async () => {
      const logs: unknown[] = [];
      const custom: unknown[] = [];
      const data: Record<string, unknown> = { step: 1, at: new Date(0) };
      const { client } = await connected(
        version,
        (_, ctx) => {
          ctx.notify("com.example/step", data);
          data.step = 2;
          return "done";
        },
        { onLog: (log) => logs.push(log), onNotification: (message) => void custom.push(message.params) },
      );
      await client.callTool("t", {});
      expect(custom).toEqual([{ step: 1, at: "1970-01-01T00:00:00.000Z" }]);
    });

    test("the metadata of resources arrives as JSON", async () => {
      const { client } = await connected(version, () => "");
      const { contents } = await client.readResource("a://b");
      expect(contents[0]?._meta).toEqual({ "com.example/at": "1970-01-01T00:00:00.000Z" });
    });

    test("requests of the server and their answers are copied", async () => {
      const messages = [
        { role: "user", content: { type: "text", text: "?", _meta: { "com.example/at": new Date(0) } } },
      ] as const;
      const answer = { role: "assistant", model: "m", content: { type: "text", text: "a" } } as const;
      let received: unknown;
      let asked: unknown;
      const { client } = await connected(
        version,
        async (_, ctx) => {
          received = await ctx.sample({ messages: messages as never, maxTokens: 5 });
          Object.assign(received as object, { model: "changed" });
          return "done";
        },
        {
          sample: (params) => {
            asked = structuredClone(params.messages);
            Object.assign(params.messages[0] as object, { role: "changed" });
            return answer;
          },
        },
      );
      await client.callTool("t", {});
      expect(asked).toEqual([
        { role: "user", content: { type: "text", text: "?", _meta: { "com.example/at": "1970-01-01T00:00:00.000Z" } } },
      ]);
      expect(messages[0].role).toBe("user");
      expect(answer.model).toBe("m");
      expect(received).toHaveProperty("model", "changed");
    });

    test.each<[string, () => JsonObject, string]>([
      ["a bigint", () => ({ big: [1n] }), 'structuredContent.big[0]" is a bigint'],
      [
        "a cycle",
        () => {
          const cycle: JsonObject = {};
          cycle.back = cycle;
          return cycle;
        },
        'structuredContent.back" contains itself',
      ],
      [
        "too many levels",
        () => ({ deep: JSON.parse("[".repeat(5_000) + "]".repeat(5_000)) as unknown }),
        "is nested more than 1000 levels deep",
      ],
    ])("a result with %s is an internal error, and its report names the member", async (_, make, why) => {
      const { client, errors } = await connected(version, () => toolResult({ content: [], structuredContent: make() }));
      await expect(client.callTool("t", {})).rejects.toMatchObject({ code: -32603 });
      expect(errors).toHaveLength(1);
      expect(String(errors[0])).toContain(why);
    });
  },
);

test("messages that were sent before the other side started arrive once and in order, and none after the end", async () => {
  const [first, second] = memoryPair();
  const received: unknown[] = [];
  let ends = 0;
  void first.send(notification("a"));
  void first.send([notification("b")] as never);
  const receiver = {
    message: (value: unknown) => received.push(value),
    malformed: () => {},
    closed: () => void ends++,
  };
  void second.start(receiver);
  await flushPromises();
  void second.start(receiver);
  await flushPromises();
  expect(received).toEqual([notification("a"), [notification("b")]]);
  await first.close();
  void first.send(notification("late"));
  await first.close();
  await flushPromises();
  expect(received).toHaveLength(2);
  expect(ends).toBe(1);
});

test("a side that starts after the end receives the messages and the end", async () => {
  const [first, second] = memoryPair();
  void first.send(notification("a"));
  await first.close();
  const received: unknown[] = [];
  void second.start({
    message: (value) => received.push(value),
    malformed: () => {},
    closed: () => received.push("closed"),
  });
  await flushPromises();
  expect(received).toEqual([notification("a"), "closed"]);
});
