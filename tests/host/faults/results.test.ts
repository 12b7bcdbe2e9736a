import { fileURLToPath } from "node:url";
import { fakeClock } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { callStep, scriptedModel, textStep } from "../../../packages/host/src/testing/scripted-model.ts";
import { type LargePart, hanging, largeResult } from "../hostile/servers/results.ts";
import { faultHost, revisions } from "./fault-host.ts";

const program = fileURLToPath(new URL("../hostile/servers/stdio-server.mjs", import.meta.url));
const stdio = (behaviour: string, ...more: string[]) => ({
  command: process.execPath,
  args: [program, behaviour, ...more],
});

describe.each(revisions)("results of 100 MB of a server in this process (%s)", (revision) => {
  test.each<LargePart>(["text", "structured"])(
    "%s: the model receives at most the limit, and a handle",
    async (part) => {
      const model = scriptedModel([callStep([{ name: "bad__large" }]), textStep("Done.")]);
      await using fault = await faultHost(largeResult(part), { revision, model });
      const run = fault.host.run({ messages: [{ role: "user", content: "Call it." }], maxResultBytes: 10_000 });
      const { reason, messages } = await run.finished;
      expect(reason).toBe("answered");
      expect(JSON.stringify(model.requests[1]?.prompt).length).toBeLessThan(20_000);
      expect(JSON.stringify(messages)).toContain("read_result");
      expect(await fault.ping()).toBe("pong");
    },
  );
});

test.each(["text", "base64", "structured"])(
  "a result of 100 MB over a pipe fails with its reason, and the next call starts the server again: %s",
  async (behaviour) => {
    const model = scriptedModel([callStep([{ name: "bad__call" }]), textStep("Done.")]);
    await using fault = await faultHost(stdio(behaviour), { revision: "2025-11-25", model });
    const before = process.memoryUsage().rss;
    expect(await fault.host.callTool("bad__call", {})).toMatchObject({
      status: "failed",
      mayHaveRun: true,
      error: { code: "too_large" },
    });
    const { reason } = await fault.host.run({ messages: [{ role: "user", content: "Call it." }] }).finished;
    expect(reason).toBe("answered");
    expect(JSON.stringify(model.requests[1]?.prompt).length).toBeLessThan(10_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
    expect(await fault.ping()).toBe("pong");
  },
);

describe.each(revisions)("a server that hangs in a call (%s)", (revision) => {
  test("the call ends when it is cancelled, and other servers answer meanwhile", async () => {
    await using fault = await faultHost(hanging(), { revision, clock: fakeClock() });
    const cancel = new AbortController();
    const hung = fault.host.callTool("bad__hang", {}, { signal: cancel.signal });
    expect(await fault.ping()).toBe("pong");
    cancel.abort(new Error("The user cancelled."));
    await expect(hung).rejects.toThrow("The user cancelled.");
    expect(await fault.ping()).toBe("pong");
  });

  test("the call fails after the time limit, and may have run", async () => {
    const clock = fakeClock();
    const servers = { bad: { target: hanging(), revision, timeout: { total: 5_000 } } };
    await using fault = await faultHost(hanging(), { clock, servers });
    const hung = fault.host.callTool("bad__hang", {});
    for (let second = 0; second < 10; second++) await clock.advance(1_000);
    expect(await hung).toMatchObject({ status: "failed", mayHaveRun: true, error: { code: "timeout" } });
  });

  test("a run that is cancelled ends, with a result for the call", async () => {
    const model = scriptedModel([callStep([{ name: "bad__hang" }])]);
    await using fault = await faultHost(hanging(), { revision, model, clock: fakeClock() });
    const run = fault.host.run({ messages: [{ role: "user", content: "Call it." }] });
    for await (const event of run) if (event.type === "call") run.cancel();
    const { reason, messages } = await run.finished;
    expect(reason).toBe("cancelled");
    expect(messages.at(-1)).toMatchObject({ role: "tool", content: [{ isError: true }] });
  });
});

test.each(["die", "cut"])("a server that dies in a call is started again with the next one: %s", async (behaviour) => {
  await using fault = await faultHost(stdio(behaviour), { revision: "2025-11-25" });
  for (let call = 0; call < 2; call++) {
    const [outcome, other] = await Promise.all([fault.host.callTool("bad__call", {}), fault.ping()]);
    expect(outcome).toMatchObject({ status: "failed", mayHaveRun: true, error: { code: "exited" } });
    expect(outcome).toMatchObject({ message: expect.stringContaining("7") as string });
    expect(other).toBe("pong");
    await fault.host.servers.get("bad")?.reconnect();
  }
  const states = fault.events.flatMap((event) =>
    event.type === "server" && event.server === "bad" ? event.state : [],
  );
  expect(states.filter((state) => state === "ready")).toHaveLength(3);
});

test("an answer that arrives byte by byte is complete, and other servers answer meanwhile", async () => {
  await using fault = await faultHost(stdio("slow", "2"), { revision: "2025-11-25" });
  const slow = fault.host.callTool("bad__call", {});
  expect(await fault.ping()).toBe("pong");
  expect(await slow).toMatchObject({ status: "result", result: { content: [{ text: "done" }] } });
});
