import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Cancelled, Declined } from "../../mcp/errors.ts";
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

test.each([
  [new Declined(), "decline"],
  [new Cancelled(), "cancel"],
])("%s of a handler is sent to the server as the action %s", async (thrown, action) => {
  const sent: unknown[] = [];
  const params = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } };
  const peer = modernPeer({
    answers: {
      "tools/call": (request) => {
        sent.push(request.params?.inputResponses);
        return sent.length === 1
          ? { resultType: "input_required", inputRequests: { q: { method: "elicitation/create", params } } }
          : { content: [{ type: "text", text: "done" }] };
      },
    },
  });
  const elicit = (): never => {
    throw thrown;
  };
  const client = await openClient(peerTransports(peer), { elicit });
  expect(await client.callTool("a")).toBe("done");
  expect(sent).toEqual([undefined, { q: { action } }]);
  await client.close();
});
