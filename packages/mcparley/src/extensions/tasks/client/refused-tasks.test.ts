import { expect, test, vi } from "vitest";
import { openClient } from "../../../client/open-client.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import { fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { initializeResult, peerTransports } from "../../../testing/peer-transports.ts";
import { scriptedPeer } from "../../../testing/scripted-peer.ts";
import { followTasks } from "./follow-tasks.ts";

const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
const tools = [{ name: "t", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } }];

test.each([
  ["-32601, as for a tool that cannot be a task, receive the call once more without it", -32601, true],
  ["another code receive no second call", -32603, false],
])("servers that refuse a task with %s", async (_name, code, isRepeated) => {
  const clock = fakeClock(1_000_000);
  const onError = vi.fn();
  const peer = scriptedPeer({
    initialize: () => initializeResult("2025-11-25", capabilities),
    "tools/list": () => ({ tools }),
  });
  const client = await openClient(peerTransports(peer), {
    clock,
    onError,
    revision: "2025-11-25",
    extensions: [followTasks()],
  });
  await peer.notification("notifications/initialized");
  const onProgress = vi.fn();
  const running = client.callTool("t", {}, { onProgress });
  running.catch(() => {});
  peer.refuse(await peer.request("tools/call"), { code, message: "No tasks." });
  if (isRepeated) {
    const repeated = await peer.request("tools/call");
    expect(repeated.params).not.toHaveProperty("task");
    const { progressToken } = repeated.params!._meta as JsonObject;
    peer.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 0.5 } });
    peer.answer(repeated, { content: [{ type: "text", text: "done" }] });
    expect(await running).toBe("done");
    expect(onProgress.mock.calls).toEqual([[{ progress: 0.5 }]]);
    const again = client.callTool("t");
    again.catch(() => {});
    for (const hasTask of [true, false]) {
      const refused = await peer.request("tools/call");
      expect("task" in refused.params!).toBe(hasTask);
      peer.refuse(refused, { code, message: "Gone." });
    }
    await expect(again).rejects.toMatchObject({ code, message: "Gone." });
  } else {
    await expect(running).rejects.toMatchObject({ code, message: "No tasks." });
  }
  await flushPromises();
  expect(client.inFlight).toBe(0);
  expect(onError).not.toHaveBeenCalled();
  await client.close();
});
