import { expect, test } from "vitest";
import type { ToolOutcome } from "../conversation/messages.ts";
import { ActiveRun } from "./run.ts";
import {
  call,
  eventsOf,
  finish,
  question,
  scriptedStream,
  testCatalogue,
  testParts,
  testTool,
  text,
  textOutcome,
} from "./testing/run-fixtures.ts";

const secret = "hunter2";

/** Outcomes in which a server repeats a secret of the host's configuration. */
const outcomes: ToolOutcome[] = [
  {
    status: "result",
    result: { content: [{ type: "text", text: `key ${secret}` }], structuredContent: { key: secret } },
  },
  {
    status: "result",
    result: { content: [{ type: "resource_link", uri: `a://${secret}`, name: secret }], isError: true },
  },
  { status: "result", result: { content: [{ type: "resource", resource: { uri: "a://b", text: secret } }] } },
  { status: "result", result: { content: [{ type: "image", data: "", mimeType: secret }] } },
  {
    status: "result",
    result: { content: [{ type: "text", text: `${"x".repeat(1020)}${secret}${"y".repeat(9000)}` }] },
  },
  { status: "failed", message: `401 for ${secret}`, error: new Error(secret), mayHaveRun: false },
  { status: "denied", message: `The rule for ${secret}.` },
];

test("a secret that servers and the model provider repeat reaches neither an event nor the end", async () => {
  const tool = {
    ...testTool("read"),
    description: `Uses ${secret}.`,
    inputSchema: { type: "object", default: secret },
  };
  const steps = outcomes.map((_, index) => [call("read", { index }), finish("tool-calls")]);
  const model = scriptedStream([
    ...steps,
    async function* fail() {
      yield text("The key");
      throw new Error(`401 for ${secret}`);
    },
  ]);
  const parts = testParts(model.stream, {
    catalogue: () => testCatalogue([tool]),
    instructions: () => [{ server: "notes", text: `The key is ${secret}.` }],
    callTool: ({ arguments: args, onActivity }) => {
      onActivity?.({ type: "progress", progress: { progress: 1, message: secret } });
      return Promise.resolve(outcomes[Number(args.index)] ?? textOutcome(""));
    },
  });
  const run = new ActiveRun(parts, { messages: question, maxResultBytes: 1024 });
  const events = await eventsOf(run);
  const end = await run.finished;
  expect(parts.calls).toHaveLength(outcomes.length);
  expect(end).toMatchObject({ reason: "error", error: new Error("401 for [secret]") });
  expect(JSON.stringify([events, end])).not.toContain(secret);
  expect(JSON.stringify(events)).toContain("[secret]");
});
