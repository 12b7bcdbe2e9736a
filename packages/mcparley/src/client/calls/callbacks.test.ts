import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions } from "../options.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await flushPromises();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const text: JsonObject = { content: [{ type: "text", text: "x" }] };

/** Callbacks that fail in the two possible ways. Their type hides that one is asynchronous, as in JavaScript. */
const failures: [string, (message: string) => void][] = [
  [
    "throws",
    (message) => {
      throw new Error(message);
    },
  ],
  ["rejects", (message) => Promise.reject(new Error(message))],
];

test.each(failures)("a callback of a call that %s is reported, and the call succeeds", async (_, fail) => {
  const errors: string[] = [];
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), {
    onCall: () => fail("onCall"),
    onLog: () => fail("onLog"),
    onError: ({ message }) => void errors.push(message),
    observers: [{ started: () => ({ ended: () => fail("ended") }) }, { started: () => fail("started") as undefined }],
  });
  const calling = client.callTool("a", {}, { onProgress: () => fail("onProgress") });
  const request = await peer.request("tools/call");
  peer.notify("notifications/progress", { progressToken: request.id, progress: 1 });
  peer.notify("notifications/message", { level: "info", data: "x" });
  peer.answer(request, text);
  expect(await calling).toBe("x");
  await flushPromises();
  expect(new Set(errors)).toEqual(new Set(["started", "onProgress", "onLog", "ended", "onCall"]));
});

test.each(failures)("onChange that %s is reported, and the subscription stays open", async (_, fail) => {
  const errors: string[] = [];
  const peer = legacyPeer();
  const client = await openClient(peerTransports(peer), {
    revision: "2025-11-25",
    onError: ({ message }) => void errors.push(message),
  });
  await client.listen({ tools: true }, () => fail("onChange"));
  for (let twice = 0; twice < 2; twice++) peer.notify("notifications/tools/list_changed");
  await flushPromises();
  expect(errors).toEqual(["onChange", "onChange"]);
  await client.close();
});

test.each(failures)("confirm that %s fails the call with its error", async (_, fail) => {
  const client = await openClient(peerTransports(modernPeer()), { confirm: () => fail("confirm") as never });
  await expect(client.callTool("a")).rejects.toThrow("confirm");
});

test.each(failures)("onError that %s has no effect", async (_, fail) => {
  const peer = modernPeer();
  const options: ConnectOptions = { onError: () => fail("onError"), onCall: () => fail("onCall") };
  const client = await openClient(peerTransports(peer), options);
  const calling = client.callTool("a");
  peer.answer(await peer.request("tools/call"), text);
  expect(await calling).toBe("x");
});
