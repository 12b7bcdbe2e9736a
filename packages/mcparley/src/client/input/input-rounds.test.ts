import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { openClient } from "../open-client.ts";
import { modernPeer, peerTransports } from "../../testing/peer-transports.ts";

test("a round of input requests leaves no listener at the signal of the call", async () => {
  const { signal } = new AbortController();
  let round = 0;
  const peer = modernPeer({
    answers: {
      "tools/call": () =>
        round++ < 3
          ? { resultType: "input_required", inputRequests: { r: { method: "roots/list" } } }
          : { content: [{ type: "text", text: "done" }] },
    },
  });
  const client = await openClient(peerTransports(peer), { roots: [{ uri: "file:///a" }] });
  expect(await client.callTool("a", {}, { signal })).toBe("done");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await client.close();
});
