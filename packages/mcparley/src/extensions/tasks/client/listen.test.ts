import { beforeEach, expect, test } from "vitest";
import { serverTransports } from "../../../client/connect/transports.ts";
import type { Client } from "../../../client/client.ts";
import { openClient } from "../../../client/open-client.ts";
import type { Progress } from "../../../mcp/progress.ts";
import type { Context } from "../../../server/core/context.ts";
import { tool } from "../../../server/definition.ts";
import { createServer } from "../../../server/create-server.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { asTask, tasks } from "../server/tasks.ts";
import { followTasks } from "./follow-tasks.ts";
import { tasksOf } from "./tasks-of.ts";

let clock: FakeClock;
const handlers: { ctx: Context; finish: (value: string) => void }[] = [];

beforeEach(() => {
  clock = fakeClock(1_000_000);
  handlers.length = 0;
});

async function connected(revision: string): Promise<Client> {
  const slow = tool({
    extensions: [asTask()],
    call: (_, ctx) => new Promise<string>((finish) => handlers.push({ ctx, finish })),
  });
  const server = createServer({ name: "x", version: "1", clock, extensions: [tasks()], tools: { slow } });
  return openClient(serverTransports(server), { clock, revision, extensions: [followTasks()] });
}

test.each(["2025-11-25", "2026-07-28"])("listen reports the states of the named tasks on %s", async (revision) => {
  const client = await connected(revision);
  const its = tasksOf(client);
  const [one, two] = [await its.start("slow"), await its.start("slow")];
  const seen: string[] = [];
  const subscription = await its.listen([one.task!.taskId], ({ taskId, status, statusMessage }) => {
    expect(taskId).toBe(one.task?.taskId);
    seen.push(`${status} ${statusMessage ?? ""}`);
  });
  await flushPromises();
  expect(seen).toContain("working ");
  handlers[0]?.ctx.progress(1, 2, "half");
  await clock.advance(5_000);
  for (const { finish } of handlers) finish("done");
  await clock.advance(5_000);
  expect(seen.at(-1)).toMatch(/^completed/);
  expect(seen).toContain("working half");
  const count = seen.length;
  await subscription.close();
  expect(await subscription.closed).toBeUndefined();
  await clock.advance(5_000);
  expect(seen.length).toBe(count);
  expect((await tasksOf(client).get(two.task!.taskId)).status).toBe("completed");
  await client.close();
});

test.each([
  ["callTool", "followed"],
  ["start", "not followed"],
])("progress of a task of 2025-11-25 reaches the caller until it ends, with %s", async (_, kind) => {
  const client = await connected("2025-11-25");
  const seen: Progress[] = [];
  const options = { onProgress: (progress: Progress) => void seen.push(progress) };
  const calling =
    kind === "followed"
      ? client.request("tools/call", { name: "slow", arguments: {}, task: {} }, options)
      : tasksOf(client).start("slow", {}, options);
  await clock.advance(0);
  const [{ ctx, finish }] = handlers as [(typeof handlers)[0]];
  ctx.progress(1, 2, "half");
  await clock.advance(5_000);
  ctx.progress({ progress: 2, total: 2, _meta: { "com.example/a": 1 } });
  await clock.advance(5_000);
  finish("done");
  await clock.advance(10_000);
  await calling;
  ctx.progress(3);
  await clock.advance(5_000);
  expect(seen).toMatchObject([
    { progress: 1, total: 2, message: "half" },
    { progress: 2, total: 2, _meta: { "com.example/a": 1, "io.modelcontextprotocol/related-task": {} } },
  ]);
  expect(seen.length).toBe(2);
  await client.close();
});
