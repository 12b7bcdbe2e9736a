import { type Client, type ConnectOptions, connect } from "mcparley/client";
import { followTasks } from "mcparley/tasks";
import { describe, expect, onTestFinished, test } from "vitest";
import { rawControls } from "./raw-controls.ts";
import { openTerminal } from "./terminal.ts";
import { type ServerEvent, attacks, hostileText, httpTestServer, stdioTestServer } from "./test-server.ts";

interface Connected {
  readonly client: Client;
  readonly events: () => ServerEvent[];
}

type Target = Parameters<typeof connect>[0];

async function connectTo(target: Target, options: ConnectOptions): Promise<Client> {
  const client = await connect(target, { extensions: [followTasks()], ...options });
  onTestFinished(() => client.close());
  return client;
}

async function overStdio(revision: "2025-11-25" | "2026-07-28", options: ConnectOptions = {}): Promise<Connected> {
  const { command, events } = stdioTestServer({ revision });
  const [file, ...args] = command;
  return { client: await connectTo({ command: file, args }, options), events };
}

async function overHttp(revision: "2025-11-25" | "2026-07-28", options: ConnectOptions = {}): Promise<Connected> {
  const { url, events } = await httpTestServer({ revision });
  return { client: await connectTo(url, options), events };
}

describe.each([
  ["stdio, 2026-07-28", overStdio, "2026-07-28"],
  ["stdio, 2025-11-25", overStdio, "2025-11-25"],
  ["HTTP, 2026-07-28", overHttp, "2026-07-28"],
  ["HTTP, 2025-11-25", overHttp, "2025-11-25"],
] as const)("the test server over %s", (_, open, revision) => {
  test("answers the calls of its tools", async () => {
    const content = { type: "text", text: "blue" } as const;
    const { client, events } = await open(revision, {
      elicit: (asked) =>
        asked.mode === "url"
          ? { action: "accept" }
          : { action: "accept", content: { name: "Ada", guests: 3, meal: "veg" } },
      sample: () => ({ role: "assistant", model: "m", content }),
      roots: () => [{ uri: "file:///work", name: "work" }],
    });
    expect(client.server.revision).toBe(revision);
    expect(await client.callTool("echo", { text: "hello" })).toBe("hello");
    expect(await client.callTool("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(await client.callTool("task", { steps: 2, interval: 1 })).toBe("finished after 2 steps");
    expect(await client.callTool("ask_form")).toBe('booked {"guests":3,"name":"Ada","meal":"veg"}');
    expect(await client.callTool("ask_url")).toContain("has agreed");
    expect(await client.callTool("ask_model", { question: "Which colour?" })).toContain("blue");
    expect(await client.callTool("list_roots")).toBe("work: file:///work");
    expect(await client.callTool("hostile")).toBe(`result ${hostileText}`);
    expect(events()).toEqual(
      [
        { event: "started", pid: expect.any(Number) },
        { event: "echo", text: "hello" },
      ].concat([
        { event: "answered", answer: { name: "Ada", guests: 3, meal: "veg" } },
        { event: "visited" },
        { event: "sampled", content },
      ] as never),
    );
  });

  test("works until a call is cancelled, and counts it", async () => {
    const { client, events } = await open(revision);
    const stop = new AbortController();
    const messages: unknown[] = [];
    const call = client.callTool(
      "slow",
      { interval: 5 },
      {
        signal: stop.signal,
        onProgress: ({ message }) => {
          messages.push(message);
          if (messages.length === 2) stop.abort();
        },
      },
    );
    await expect(call).rejects.toThrow();
    expect(messages).toEqual(["step 1", "step 2"]);
    await expect.poll(() => events().map(({ event }) => event)).toContain("cancelled");
    expect((await client.readResource("calls://cancelled")).contents).toMatchObject([{ text: "1 cancelled" }]);
  });

  test("completes arguments, with those that are given already", async () => {
    const { client } = await open(revision);
    const review = { type: "ref/prompt", name: "review" } as const;
    const languages = await client.complete(review, { name: "language", value: "c" });
    expect(languages.values).toEqual(["C", "C++"]);
    const note = { type: "ref/resource", uri: "note://{year}/{month}" } as const;
    const months = await client.complete(note, { name: "month", value: "" }, { context: { year: "2024" } });
    expect(months.values).toEqual(["11", "12"]);
  });

  test("notifies of changed tools and of the counter", async () => {
    const { client } = await open(revision);
    const changes: unknown[] = [];
    await client.listen({ tools: true, uris: ["counter://value"] }, ({ kind }) => void changes.push(kind));
    await client.callTool("change_tools");
    await client.callTool("count");
    await expect.poll(() => changes).toEqual(["tools", "updated"]);
    expect(await client.callTool("added_1")).toBe("called added_1");
    expect((await client.readResource("note://with space")).contents).toMatchObject([{ text: /URI has a space/ }]);
  });
});

test("the server over HTTP comes back on its port after it was killed", async () => {
  const { url, events, kill, restart } = await httpTestServer();
  await kill();
  await expect(fetch(url)).rejects.toThrow("fetch failed");
  await restart();
  expect((await fetch(new URL("/readyz", url))).status).toBe(200);
  expect(events().map(({ event }) => event)).toEqual(["started", "started"]);
});

test("die ends the process during its call", async () => {
  const { client, events } = await overStdio("2025-11-25");
  await expect(client.callTool("die")).rejects.toThrow("exited with code 7");
  expect(events().at(-1)).toEqual({ event: "die" });
});

describe("hostile texts", () => {
  test.each(Object.entries(attacks).filter(([name]) => name !== "overwrite"))(
    "would be found in the output: %s",
    (_, attack) => {
      expect(rawControls(`text ${attack} text`)).not.toEqual([]);
    },
  );

  test.each([
    ["list", []],
    ["call", ["hostile"]],
    ["read", ["note://hostile"]],
    ["prompt", ["hostile_prompt"]],
  ])("do not reach the terminal from mcparley %s", async (name, words) => {
    const { command } = stdioTestServer({ hasHostileNames: true });
    const terminal = openTerminal({ args: [name, ...words, "--log-level", "debug", "--", ...command] });
    expect(await terminal.exit).toEqual({ code: 0, signal: undefined });
    expect(terminal.history()).toContain("hostile-end");
    expect(rawControls(terminal.raw())).toEqual([]);
  });
});
