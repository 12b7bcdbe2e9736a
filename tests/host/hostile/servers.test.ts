import { fileURLToPath } from "node:url";
import { type Client, type ConnectOptions, type InProcessServer, connect } from "mcparley/client";
import { fakeClock } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { type EndlessKind, endlessRequests } from "./servers/endless-requests.ts";
import { type Flood, flood } from "./servers/floods.ts";
import {
  changingDefinitions,
  changingTool,
  deceptiveText,
  deceptiveTexts,
  duplicates,
  endlessPages,
  manyTools,
  wrongLists,
  wrongTypes,
} from "./servers/lists.ts";
import { type LargePart, hanging, largeResult } from "./servers/results.ts";

// The behaviour of the plain client. A host adds its own limits.

const revisions = ["2026-07-28", "2025-11-25"];

/** Connects to a server, and closes the connection after the test. */
async function withClient(
  server: InProcessServer,
  options: ConnectOptions,
  run: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await connect(server, options);
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

describe.each(revisions)("the lists of a hostile server (%s)", (revision) => {
  test("omit entries without a name or a schema object, and keep wrong members of the others", async () => {
    await withClient(wrongTypes(), { revision }, async (client) => {
      const names = (await client.listTools().all()).map(({ name }) => name);
      expect(names).toEqual(["", "string-schema", "wrong-annotations", "correct"]);
      expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(["correct", "correct"]);
      expect((await client.listResources().all()).map(({ uri }) => uri)).toEqual(["no uri"]);
      expect(await client.listResourceTemplates().all()).toEqual([]);
    });
  });

  test("fail with the reason if they are no lists", async () => {
    await withClient(wrongLists(), { revision }, async (client) => {
      await expect(client.listTools().all()).rejects.toThrow('The result of tools/list must contain an array "tools".');
      await expect(client.listPrompts().all()).rejects.toThrow('must contain an array "prompts".');
      await expect(client.listResources().all()).rejects.toThrow('must contain an array "resources".');
      await expect(client.listResourceTemplates().all()).rejects.toThrow('an array "resourceTemplates".');
    });
  });

  test("contain duplicates, which the client does not resolve", async () => {
    await withClient(duplicates(), { revision }, async (client) => {
      expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["twice", "twice"]);
      expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(["twice", "twice"]);
      expect((await client.listResources().all()).map(({ name }) => name)).toEqual(["twice", "twice"]);
    });
  });

  test("contain deceptive texts as they were sent", async () => {
    const logs: unknown[] = [];
    const questions: string[] = [];
    const options: ConnectOptions = {
      revision,
      onLog: (message) => logs.push(message.logger),
      elicit: ({ message }) => {
        questions.push(message);
        return { action: "decline" };
      },
    };
    await withClient(deceptiveTexts(), options, async (client) => {
      expect(client.server.info?.name).toBe(deceptiveText);
      expect(client.server.instructions).toBe(deceptiveText);
      const [tool] = await client.listTools().all();
      expect(tool).toMatchObject({ name: deceptiveText, title: deceptiveText, description: deceptiveText });
      const result = await client.callToolResult("ask", {}, { logLevel: "debug" });
      expect(result.content).toEqual([{ type: "text", text: deceptiveText }]);
      expect(questions).toEqual([deceptiveText]);
      expect(logs).toEqual([deceptiveText]);
    });
  });

  test("may have 10,000 tools", async () => {
    await withClient(manyTools(), { revision }, async (client) => {
      expect(await client.listTools().all()).toHaveLength(10_000);
    });
  });

  test.each([
    [false, 1000, "It is longer than 1000 pages."],
    [true, 1, "The server returned the same cursor twice, so the list would not end."],
  ])("end early if their pages do not end (repeated cursor: %s)", async (repeats, count, reason) => {
    const errors: string[] = [];
    const onError = ({ message }: Error): unknown => errors.push(message);
    await withClient(endlessPages({ repeats }), { revision, onError }, async (client) => {
      expect(await client.listTools().all()).toHaveLength(count);
    });
    expect(errors).toEqual([`The list of tools/list is incomplete; the entries that were read are used. ${reason}`]);
  });

  test("contain the changed definition of a tool at the next listing", async () => {
    await withClient(changingTool(), { revision }, async (client) => {
      expect(await client.listTools().all()).toEqual([changingDefinitions[0]]);
      expect(await client.listTools({ fresh: true }).all()).toEqual([changingDefinitions[1]]);
    });
  });
});

describe.each(revisions)("a flood of 100,000 notifications (%s)", (revision) => {
  test.each<Flood>(["progress", "logs", "list_changed", "updated", "unknown"])(
    "of %s does not keep the call from its result",
    async (kind) => {
      let received = 0;
      const count = (): unknown => ++received;
      const options = { revision, onLog: count, onNotification: count };
      await withClient(flood(kind), options, async (client) => {
        await client.listen({ tools: true, uris: ["test://flooded"] }, count);
        expect(await client.callTool("flood", {}, { onProgress: count, logLevel: "debug" })).toBe("done");
        // The module for custom notifications is loaded with the first one, so they may arrive after the result.
        await expect.poll(() => received).toBeGreaterThanOrEqual(kind === "unknown" ? 1 : 100_000);
      });
    },
  );
});

describe("endless input requests", () => {
  const kinds: EndlessKind[] = ["form", "url", "sampling", "roots"];
  const answers: ConnectOptions = {
    elicit: () => ({ action: "decline" }),
    sample: () => ({ role: "assistant", model: "none", content: { type: "text", text: "Yes." } }),
    roots: [],
  };

  test.each(kinds)("of the kind %s end after 32 rounds on a modern connection", async (kind) => {
    const server = endlessRequests(kind);
    await withClient(server, { ...answers, revision: "2026-07-28" }, async (client) => {
      await expect(client.callTool("ask")).rejects.toThrow("more than 32 times");
      expect(server.sent).toBe(32);
    });
  });

  test.each(kinds)("of the kind %s end when the call is cancelled on a legacy connection", async (kind) => {
    const server = endlessRequests(kind);
    await withClient(server, { ...answers, revision: "2025-11-25" }, async (client) => {
      const abort = new AbortController();
      const call = client.callTool("ask", {}, { signal: abort.signal });
      await expect.poll(() => server.sent).toBeGreaterThan(100);
      abort.abort();
      await expect(call).rejects.toMatchObject({ code: "aborted" });
    });
  });
});

describe("results", () => {
  test.each<LargePart>(["text", "base64", "structured"])("of 100 MB (%s) arrive in the same process", async (part) => {
    await withClient(largeResult(part), {}, async (client) => {
      const result = await client.callToolResult("large");
      expect(JSON.stringify(result).length).toBeGreaterThan(100_000_000);
    });
  });

  test("that never arrive end the call after its time limit", async () => {
    const clock = fakeClock();
    await withClient(hanging(), { clock, revision: "2025-11-25" }, async (client) => {
      const call = client.callTool("hang", {}, { timeout: { idle: 5_000 } });
      const failed = expect(call).rejects.toMatchObject({ code: "timeout" });
      await clock.advance(5_000);
      await failed;
    });
  });
});

describe("a hostile process", () => {
  const program = fileURLToPath(new URL("servers/stdio-server.mjs", import.meta.url));
  const errors: string[] = [];
  const target = (...args: string[]): Promise<Client> =>
    connect(
      { command: process.execPath, args: [program, ...args] },
      { revision: "2025-11-25", onError: ({ message }) => errors.push(message) },
    );

  test.each(["die", "cut"])("that ends in a call fails the call with its exit code: %s", async (behaviour) => {
    await using client = await target(behaviour);
    await expect(client.callTool("call")).rejects.toMatchObject({ code: "exited", data: { exitCode: 7 } });
  });

  test("that never answers ends the call after its time limit", async () => {
    await using client = await target("hang");
    await expect(client.callTool("call", {}, { timeout: { idle: 50 } })).rejects.toMatchObject({ code: "timeout" });
  });

  test("that writes its answer byte by byte is awaited, up to the time limit", async () => {
    await using client = await target("slow", "0");
    expect(await client.callTool("call")).toBe("done");
    await using slow = await target("slow", "1000");
    await expect(slow.callTool("call", {}, { timeout: { total: 50 } })).rejects.toMatchObject({ code: "timeout" });
  });

  test.each(["text", "base64", "structured"])("that answers with 100 MB fails the call: %s", async (behaviour) => {
    await using client = await target(behaviour);
    await expect(client.callTool("call")).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/^A line of 100\d+ bytes is over the limit of 16777216 bytes and was dropped\./),
    });
  });

  test("that writes a line without an end ends the call after its time limit", async () => {
    await using client = await target("endless");
    await expect(client.callTool("call", {}, { timeout: { total: 500 } })).rejects.toMatchObject({ code: "timeout" });
  });

  test("that writes something else than messages is reported, and its answer arrives", async () => {
    errors.length = 0;
    await using client = await target("garbage");
    expect(await client.callTool("call")).toBe("done");
    expect(errors).toEqual([
      expect.stringMatching(/^A line is not JSON: "Starting \.\.\."/),
      expect.stringMatching(/^A line is not JSON: "\\u0000\\u001b\[2J"/),
      "A line of 3 bytes is not UTF-8 and was dropped.",
    ]);
  });
});
