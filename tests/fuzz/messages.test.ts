import fc from "fast-check";
import { afterEach, beforeAll, expect } from "vitest";
import { forgetRevisions } from "../../packages/mcparley/src/client/connect/remembered-revisions.ts";
import { openClient } from "../../packages/mcparley/src/client/open-client.ts";
import { LocalError } from "../../packages/mcparley/src/rpc/errors.ts";
import { McpError } from "../../packages/mcparley/src/mcp/errors.ts";
import { memoryPair } from "../../packages/mcparley/src/rpc/memory-transport.ts";
import { type JsonRpcResponse, classify } from "../../packages/mcparley/src/rpc/messages.ts";
import { fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../packages/mcparley/src/testing/peer-transports.ts";
import { anyMessage } from "./arbitraries/messages.ts";
import { holds } from "./holds.ts";
import { onlyOwnErrors } from "./own-errors.ts";
import { target } from "./target.ts";
import { timeFlow } from "./time-flow.ts";

// The modules of a legacy client take longer to load than a case may take.
beforeAll(() => import("../../packages/mcparley/src/server/protocol/legacy.ts"));
afterEach(forgetRevisions);

const opening = {
  jsonrpc: "2.0",
  id: "open",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } },
};

/** The answers to one request, and the request. */
function answersBy(responses: readonly JsonRpcResponse[]): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const { id } of responses) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

holds(
  "a server answers each request once, whatever messages surround it, and reports no internal error",
  fc.tuple(fc.array(anyMessage, { maxLength: 12 }), fc.boolean()),
  async ([messages, opens]) => {
    const clock = fakeClock();
    const errors: unknown[] = [];
    const server = target({ clock, onError: (error) => errors.push(error) });
    const [ours, theirs] = memoryPair();
    const responses: JsonRpcResponse[] = [];
    const receive = (value: unknown): void => {
      for (const one of [value].flat()) {
        const classified = classify(one);
        expect(classified.kind).not.toBe("invalid");
        if (classified.kind === "response") responses.push(classified.message);
      }
    };
    await ours.start({ message: receive, malformed: () => {}, closed: () => {} });
    const connection = await server.attach(theirs);
    const sent = [...(opens ? [opening] : []), ...messages];
    for (const message of sent) await ours.send(message as never);
    await flushPromises();
    await server.close();
    await flushPromises();
    const asked = new Map<unknown, number>();
    for (const one of sent.filter((message) => !Array.isArray(message))) {
      const classified = classify(one);
      if (classified.kind === "request") asked.set(classified.message.id, (asked.get(classified.message.id) ?? 0) + 1);
    }
    const answered = answersBy(responses);
    // Batches are answered or refused as a whole. Cancelled requests are not answered.
    for (const [id, count] of asked) expect(answered.get(id) ?? 0).toBeLessThanOrEqual(count + countIn(sent, id));
    if (opens) expect(answered.get("open")).toBe(1);
    expect(errors).toEqual([]);
    expect(connection.inFlight).toBe(0);
    expect(clock.pending).toBe(0);
  },
  { runs: 20 },
);

/** How many messages of batches carry this id, and how many that are no messages. */
function countIn(sent: readonly unknown[], id: unknown): number {
  const inBatches = sent.filter((message) => Array.isArray(message)).flat();
  const invalid = sent.filter((message) => classify(message).kind === "invalid");
  return [...inBatches, ...invalid].filter((one) => (one as { id?: unknown } | null)?.id === id).length;
}

holds(
  "a client's calls end with a result or an error of the library, whatever else the server sends",
  fc.tuple(fc.array(anyMessage, { maxLength: 12 }), fc.boolean(), fc.boolean()),
  async ([messages, isModern, answers]) => {
    const clock = fakeClock();
    const peer = isModern ? modernPeer() : legacyPeer();
    const reported: Error[] = [];
    const client = await openClient(peerTransports(peer), {
      clock,
      revision: isModern ? "2026-07-28" : "2025-11-25",
      onError: (error) => reported.push(error),
      elicit: () => ({ action: "decline" }),
      sample: () => {
        throw new Error("There is no model.");
      },
      roots: [],
    });
    if (!isModern) await peer.notification("notifications/initialized");
    const calling = onlyOwnErrors(() => client.callTool("echo", {}), McpError);
    const request = await peer.request("tools/call");
    for (const message of messages) peer.send(message);
    await flushPromises();
    if (answers && !peer.isClosed)
      peer.answer(request, { content: [{ type: "text", text: "done" }], resultType: "complete" });
    const time = timeFlow(clock);
    await calling;
    time.end();
    expect(client.inFlight).toBe(0);
    await client.close();
    await flushPromises();
    for (const error of reported) if (!(error instanceof McpError)) expect(error.message).toBe("There is no model.");
    expect(reported.filter((error) => error instanceof LocalError && error.code === "closed")).toEqual([]);
    expect(clock.pending).toBe(0);
  },
  { runs: 20 },
);
