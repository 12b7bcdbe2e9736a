import { expect } from "vitest";
import { type Context, asTask, gate, tasks, tool } from "../library.ts";
import { proves } from "../proves.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { gotPrompt, requested, textOf } from "../world/subjects.ts";

const isProgress = ({ method }: RawMessage): boolean => method === "notifications/progress";
const reports = (peer: RawPeer): object[] => peer.received.filter(isProgress).map(({ params }) => params);

/** A tool that reports the given progress. */
function reporting(report: (ctx: Context) => void) {
  return {
    tools: {
      t: tool({
        call: (_, ctx) => {
          report(ctx);
          return "done";
        },
      }),
    },
  };
}

const called = { name: "t" };
const withToken = (progressToken: unknown): { meta: Record<string, unknown> } => ({ meta: { progressToken } });
const tokenOf = ({ params }: RawMessage): unknown => (params._meta as { progressToken?: unknown }).progressToken;

proves("progress.token.type", {
  async server(world) {
    const peer = await world.serve(reporting((ctx) => ctx.progress(1)));
    for (const token of [true, {}, ["a"], 1.5, 2 ** 53]) {
      expect((await peer.request("tools/call", called, withToken(token))).error.code).toBe(-32602);
    }
    expect(reports(peer)).toEqual([]);
    // Progress has the token unchanged: "7" is not 7.
    const tokens = ["t", "", "7", 7, 0, -1, 2 ** 53 - 1];
    for (const token of tokens) expect(textOf(await peer.request("tools/call", called, withToken(token)))).toBe("done");
    expect(reports(peer)).toEqual(tokens.map((progressToken) => ({ progressToken, progress: 1 })));
  },
  async client(world) {
    const { client, server } = await world.connect();
    const seen: number[] = [];
    const onProgress = ({ progress }: { progress: number }): void => void seen.push(progress);
    const { request, outcome } = await requested(client, server, { onProgress });
    const token = tokenOf(request);
    expect(typeof token === "string" || Number.isInteger(token)).toBe(true);
    // A token of another type is not the token of the request.
    const other = typeof token === "string" ? Number(token) : String(token);
    for (const [progress, progressToken] of [other, [token], null, token].entries()) {
      server.notify("notifications/progress", { progressToken, progress }, request);
    }
    server.answer(request, gotPrompt);
    await outcome;
    expect(seen).toEqual([3]);
  },
});

proves("progress.token.unique", async (world) => {
  const { client, server } = await world.connect();
  const tokens = new Set();
  for (let count = 0; count < 5; count++) {
    tokens.add(tokenOf((await requested(client, server, { onProgress: () => {} })).request));
  }
  expect(tokens.size).toBe(5);
});

proves("progress.token.echoed", async (world) => {
  const peer = await world.serve(reporting((ctx) => ctx.progress(1)));
  for (const token of ["abc", "1", 1, 0, -5, ""]) {
    await peer.request("tools/call", called, withToken(token));
    expect((await peer.nextNotification("notifications/progress")).params.progressToken).toBe(token);
  }
});

proves("progress.token.required", async (world) => {
  const peer = await world.serve(reporting((ctx) => ctx.progress(1)));
  await peer.request("tools/call", called);
  await peer.settled();
  expect(reports(peer)).toEqual([]);
});

proves("progress.token.active", async (world) => {
  const peer = await world.serve(reporting((ctx) => ctx.progress(1)));
  await peer.request("tools/call", called, withToken("first"));
  await peer.request("tools/call", called, withToken("second"));
  const methods = peer.received.filter((message) => isProgress(message) || "result" in message);
  const order = methods.map((message) => (isProgress(message) ? message.params.progressToken : "result"));
  expect(order.slice(-4)).toEqual(["first", "result", "second", "result"]);
});

proves("progress.token.tracked", async (world) => {
  const { client, server } = await world.connect();
  const seen: string[] = [];
  const first = await requested(client, server, { onProgress: ({ progress }) => seen.push(`first ${progress}`) });
  const second = await requested(client, server, { onProgress: ({ progress }) => seen.push(`second ${progress}`) });
  const report = (request: RawMessage, progress: number): void =>
    server.notify("notifications/progress", { progressToken: tokenOf(request), progress }, request);
  report(second.request, 1);
  report(first.request, 2);
  server.answer(first.request, gotPrompt);
  server.answer(second.request, gotPrompt);
  await Promise.all([first.outcome, second.outcome]);
  expect(seen.toSorted()).toEqual(["first 2", "second 1"]);
});

proves("progress.token.unknown", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  const { request, outcome } = await requested(client, server);
  server.notify("notifications/progress", { progressToken: "never given out", progress: 1 }, request);
  server.answer(request, gotPrompt);
  await outcome;
  expect(errors).toMatchObject([{ code: "invalid_message" }]);
});

proves("progress.sent", async (world) => {
  const peer = await world.serve(
    reporting(({ progress }) => {
      progress(50, 100);
      progress(100, 100);
    }),
  );
  await peer.request("tools/call", called, withToken("p"));
  expect(reports(peer)).toEqual([
    { progressToken: "p", progress: 50, total: 100 },
    { progressToken: "p", progress: 100, total: 100 },
  ]);
});

proves("progress.received", async (world) => {
  const { client, server } = await world.connect();
  const seen: unknown[] = [];
  const { request, outcome } = await requested(client, server, { onProgress: (report) => seen.push(report) });
  for (const progress of [1, 2, 3]) {
    server.notify("notifications/progress", { progressToken: tokenOf(request), progress, total: 3 }, request);
  }
  server.answer(request, gotPrompt);
  await outcome;
  expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })));
});

proves("progress.increases", async (world) => {
  const peer = await world.serve(
    reporting(({ progress }) => {
      for (const done of [1, 1, 3, 2, Number.NaN, "4" as never, 4, Infinity, 5]) progress(done);
    }),
  );
  await peer.request("tools/call", called, withToken("p"));
  expect(reports(peer).map((report) => (report as { progress: unknown }).progress)).toEqual([1, 3, 4, 5]);
});

proves("progress.fractions", {
  async server(world) {
    const peer = await world.serve(reporting(({ progress }) => progress(0.25, 1.5)));
    await peer.request("tools/call", called, withToken("p"));
    expect(reports(peer)).toMatchObject([{ progress: 0.25, total: 1.5 }]);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const seen: unknown[] = [];
    const { request, outcome } = await requested(client, server, { onProgress: (report) => seen.push(report) });
    server.notify("notifications/progress", { progressToken: tokenOf(request), progress: 0.25, total: 1.5 }, request);
    server.answer(request, gotPrompt);
    await outcome;
    expect(seen).toEqual([{ progress: 0.25, total: 1.5 }]);
  },
});

proves("progress.message", {
  async server(world) {
    const peer = await world.serve(reporting(({ progress }) => progress(1, 2, "half of it")));
    await peer.request("tools/call", called, withToken("p"));
    expect(reports(peer)).toMatchObject([{ message: "half of it" }]);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const seen: unknown[] = [];
    const { request, outcome } = await requested(client, server, { onProgress: (report) => seen.push(report) });
    const report = { progressToken: tokenOf(request), progress: 1, message: "half of it" };
    server.notify("notifications/progress", report, request);
    server.answer(request, gotPrompt);
    await outcome;
    expect(seen).toEqual([{ progress: 1, message: "half of it" }]);
  },
});

proves("progress.message-not-before", async (world) => {
  const peer = await world.serve(reporting(({ progress }) => progress(1, 2, "half of it")));
  await peer.request("tools/call", called, withToken("p"));
  expect(reports(peer)).toEqual([{ progressToken: "p", progress: 1, total: 2 }]);
});

proves("progress.optional.omitted", {
  async server(world) {
    const peer = await world.serve(reporting(() => {}));
    expect(textOf(await peer.request("tools/call", called, withToken("p")))).toBe("done");
    expect(reports(peer)).toEqual([]);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server, { onProgress: () => {} });
    server.answer(request, gotPrompt);
    await outcome;
  },
});

proves("progress.optional.total", {
  async server(world) {
    const totals = [undefined, Number.NaN, Infinity, "3" as never, null as never];
    const peer = await world.serve(
      reporting(({ progress }) => totals.forEach((total, done) => progress(done, total, 5 as never))),
    );
    await peer.request("tools/call", called, withToken("p"));
    expect(reports(peer)).toEqual(totals.map((_, progress) => ({ progressToken: "p", progress })));
  },
  async client(world) {
    const { client, server } = await world.connect();
    const seen: unknown[] = [];
    const { request, outcome } = await requested(client, server, { onProgress: (report) => seen.push(report) });
    server.notify("notifications/progress", { progressToken: tokenOf(request), progress: 1 }, request);
    server.answer(request, gotPrompt);
    await outcome;
    expect(seen).toEqual([{ progress: 1 }]);
  },
});

proves("progress.optional.frequency", async (world) => {
  const peer = await world.serve(
    reporting(({ progress }) => {
      for (let done = 1; done <= 200; done++) progress(done);
    }),
  );
  await peer.request("tools/call", called, withToken("p"));
  expect(reports(peer).length).toBe(200);
});

proves("progress.ends", async (world) => {
  let kept: Context | undefined;
  const peer = await world.serve(reporting((ctx) => (kept = ctx)));
  await peer.request("tools/call", called, withToken("p"));
  kept!.progress(1);
  await peer.settled();
  expect(reports(peer)).toEqual([]);
});

proves("progress.late", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  const seen: unknown[] = [];
  const first = await requested(client, server, { onProgress: (report) => seen.push(report) });
  server.answer(first.request, gotPrompt);
  await first.outcome;
  const second = await requested(client, server);
  server.notify("notifications/progress", { progressToken: tokenOf(first.request), progress: 1 }, second.request);
  server.answer(second.request, gotPrompt);
  await second.outcome;
  expect(seen).toEqual([]);
  expect(errors).toEqual([]);
});

proves("progress.task.same-token", async (world) => {
  const slow = gate();
  const t = tool({ extensions: [asTask()], call: slow.call });
  const extensions = [tasks()];
  const peer = await world.serve({ tools: { t }, extensions });
  const { result } = await peer.request("tools/call", { ...called, task: {} }, withToken("p"));
  const { taskId } = result.task as { taskId: string };
  const ctx = await slow.entered;
  ctx.progress(1, 2);
  await world.clock.advance(10_000);
  expect((await peer.request("tasks/get", { taskId })).result.statusMessage).toBe("1/2");
  slow.open("done");
  await peer.request("tasks/result", { taskId });
  ctx.progress(2);
  await peer.settled();
  const _meta = { "io.modelcontextprotocol/related-task": { taskId } };
  expect(reports(peer)).toEqual([{ progressToken: "p", progress: 1, total: 2, _meta }]);
});

proves("progress.rate-limit", async (world) => {
  const flood = reporting((ctx) => {
    for (let done = 1; done <= 5000; done++) ctx.progress(done);
  });
  const peer = await world.serve({ ...flood, limits: { notificationRate: 10 } });
  expect(textOf(await peer.request("tools/call", called, withToken("t")))).toBe("done");
  const sent = reports(peer).map((params) => (params as { progress: number }).progress);
  expect(sent).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5000]);
});
