import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type ApprovalRequest, type HostOptions, type Run, type RunEvent, createHost } from "@mcparley/host";
import type { JsonObject } from "mcparley";
import { createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  chunk,
  type EndpointReply,
  openAiEndpoint,
  type OpenAiEndpoint,
  usageChunk,
} from "../../support/openai-endpoint.ts";

const orders = createServer({
  name: "orders",
  version: "1.0.0",
  tools: {
    find: tool({
      description: "Finds an order.",
      input: z.object({ number: z.number() }),
      call: ({ number }) => `Order ${number}: open`,
    }),
    report: tool({ description: "Writes a long report.", call: () => `${"x".repeat(5_000)} last line` }),
  },
});

const mail = createServer({
  name: "mail",
  version: "1.0.0",
  tools: {
    send: tool({
      description: "Sends a message.",
      input: z.object({ to: z.string(), text: z.string() }),
      call: async ({ to, text }, ctx) => {
        const schema = z.object({ subject: z.string() });
        const { subject } = await ctx.elicit({ message: "Which subject?", schema });
        return `Sent to ${to}: ${subject}: ${text}`;
      },
    }),
    wait: tool({
      description: "Waits.",
      call: (_, ctx) => new Promise<string>((resolve) => ctx.signal.addEventListener("abort", () => resolve("ended"))),
    }),
  },
});

/** The members of a request that the tests read. */
interface ChatRequest {
  readonly tools: readonly { readonly function: { readonly name: string } }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** A host with both servers and a model of the provider package, which sends its requests to the endpoint. */
interface Stage {
  readonly endpoint: OpenAiEndpoint;
  readonly bodies: () => ChatRequest[];
  run(
    this: void,
    text: string,
    options?: Omit<Parameters<Awaited<ReturnType<typeof createHost>>["run"]>[0], "messages">,
  ): Run;
}

async function withStage(
  replies: readonly EndpointReply[],
  check: (stage: Stage) => Promise<void>,
  options: HostOptions = {},
): Promise<void> {
  const endpoint = await openAiEndpoint(replies);
  const provider = createOpenAICompatible({ name: "local", baseURL: endpoint.url, includeUsage: true });
  const host = await createHost({
    folder: false,
    servers: { orders, mail },
    model: provider("test-model"),
    policy: { review: "changes", rules: [{ decision: "allow" }] },
    ...options,
  });
  try {
    await check({
      endpoint,
      bodies: () => endpoint.requests.map(({ body }) => body as ChatRequest),
      run: (content, more) => host.run({ messages: [{ role: "user", content }], ...more }),
    });
  } finally {
    await host.close();
    await endpoint.close();
  }
}

/** Returns an answer that calls tools. */
function calls(...called: readonly (readonly [name: string, args: JsonObject])[]): EndpointReply {
  const chunks = called.map(([name, args], index) =>
    chunk({
      tool_calls: [
        { index, id: `${name}-${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } },
      ],
    }),
  );
  return { chunks: [...chunks, chunk({}, "tool_calls"), usageChunk(10, 5)] };
}

function says(text: string): EndpointReply {
  return { chunks: [chunk({ content: text }), chunk({}, "stop"), usageChunk(10, 5)] };
}

/** Returns the texts of the tool messages of a request. */
function resultsIn(request: ChatRequest | undefined): string[] {
  return (request?.messages ?? []).filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
}

async function eventsOf(run: Run): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

test("calls tools of two servers in several steps, with edited arguments and a form", async () => {
  const approved: ApprovalRequest[] = [];
  const options: HostOptions = {
    policy: { review: "changes", rules: [{ decision: "allow", server: "orders" }] },
    renderer: {
      approve(request) {
        approved.push(request);
        return { action: "allow", arguments: { ...request.arguments, to: "ann@example.com" } };
      },
      form: () => ({ action: "accept", content: { subject: "Order" } }),
    },
  };
  const replies = [
    calls(["orders__find", { number: 7 }], ["orders__find", { number: 8 }]),
    calls(["mail__send", { to: "bob@example.com", text: "Open." }]),
    says("Sent."),
  ];
  await withStage(
    replies,
    async ({ run, bodies }) => {
      const started = run("Send the state of the orders.");
      const events = await eventsOf(started);
      const end = await started.finished;
      const tokens = { inputTokens: 30, outputTokens: 15 };
      const usage = { ...tokens, origins: [{ model: "local.chat/test-model", ...tokens }] };
      expect([end.reason, end.usage]).toEqual(["answered", usage]);
      expect(approved.map(({ server, arguments: args }) => [server, args])).toEqual([
        ["mail", { to: "bob@example.com", text: "Open." }],
      ]);
      const activities = events.flatMap((event) => (event.type === "activity" ? [event.activity] : []));
      expect(activities).toMatchObject([
        { type: "sent" },
        { type: "sent" },
        { type: "approval", state: "waiting" },
        { type: "approval", state: "approved" },
        { type: "sent" },
        { type: "input-request", kind: "form", state: "waiting" },
        { type: "input-request", kind: "form", state: "answered" },
      ]);
      const [, second, third] = bodies();
      expect(resultsIn(second)).toEqual([expect.stringContaining("Order 7"), expect.stringContaining("Order 8")]);
      expect(resultsIn(third).at(-1)).toContain("Sent to ann@example.com: Order: Open.");
    },
    options,
  );
});

test("sends the same tools and the same earlier messages in each step", async () => {
  const replies = [calls(["orders__find", { number: 1 }]), calls(["orders__find", { number: 2 }]), says("Two orders.")];
  await withStage(replies, async ({ run, bodies }) => {
    await run("Find two orders.").finished;
    const [first, second, third] = bodies();
    expect(first?.tools.map((offered) => offered.function.name)).toEqual(
      expect.arrayContaining(["mail__send", "mail__wait", "orders__find", "orders__report"]),
    );
    const texts = [first, second, third].map((body) => JSON.stringify(body?.tools));
    expect(new Set(texts).size).toBe(1);
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
    expect(third?.messages.slice(0, second?.messages.length)).toEqual(second?.messages);
  });
});

test("replaces a long result by a handle, with which the model reads on", async () => {
  let handle = "";
  const first = calls(["orders__report", {}]);
  const replies: EndpointReply[] = [first];
  await withStage(replies, async ({ run, endpoint, bodies }) => {
    const events: RunEvent[] = [];
    const started = run("Read the last line of the report.", { maxResultBytes: 1_000 });
    for await (const event of started) {
      events.push(event);
      if (event.type !== "result" || handle !== "") continue;
      handle = /r_[\w-]{16}/.exec(JSON.stringify(event.result))?.[0] ?? "";
      // The endpoint reads its replies when a request arrives, which is after this event.
      replies.push(calls(["read_result", { handle, offset: 4_990 }]), says("last line"));
    }
    expect(handle).not.toBe("");
    expect((await started.finished).reason).toBe("answered");
    expect(endpoint.requests).toHaveLength(3);
    const [shortened, rest] = resultsIn(bodies()[2]);
    expect(shortened?.length).toBeLessThan(2_000);
    expect(rest).toContain("last line");
    expect(rest).toContain("orders");
  });
});

test("offers a search in place of definitions over the limit", async () => {
  const replies = [
    calls(["search_tools", { query: "find an order" }]),
    calls(["call_tool", { name: "orders__find", arguments: { number: 7 } }]),
    says("It is open."),
  ];
  await withStage(replies, async ({ run, bodies }) => {
    expect((await run("Is order 7 open?", { maxToolTokens: 10 }).finished).reason).toBe("answered");
    const [first, second, third] = bodies();
    const names = first?.tools.map((offered) => offered.function.name);
    expect(names).toEqual(expect.arrayContaining(["search_tools", "call_tool"]));
    expect(names).not.toContain("orders__find");
    expect(third?.tools).toEqual(first?.tools);
    expect(resultsIn(second)[0]).toContain("orders__find");
    expect(resultsIn(third)[1]).toContain("Order 7: open");
  });
});

test("cancels the request to the provider in the middle of its answer", async () => {
  await withStage([{ chunks: [chunk({ content: "It is" }), "hang"] }], async ({ run, endpoint }) => {
    const started = run("Is order 7 open?");
    for await (const event of started) if (event.type === "text") started.cancel();
    const end = await started.finished;
    await endpoint.disconnected;
    expect(end.reason).toBe("cancelled");
    expect(JSON.stringify(end.messages)).toContain("It is");
  });
});

test("cancels a call in the middle, and ends with a complete conversation", async () => {
  await withStage([calls(["mail__wait", {}])], async ({ run, endpoint }) => {
    const started = run("Wait.");
    for await (const event of started) if (event.type === "call") started.cancel();
    const end = await started.finished;
    expect(end.reason).toBe("cancelled");
    expect(end.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(endpoint.requests).toHaveLength(1);
  });
});
