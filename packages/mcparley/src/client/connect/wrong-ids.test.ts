import { describe, expect, test } from "vitest";
import { type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { httpTransports } from "../../http/client/transport.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { discoverResult, legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { openClient } from "../open-client.ts";

const result = { content: [] };
const error = { code: -32603, message: "out of order" };
/** Responses to the request with the id 1 that do not have its id, and the part of an error that names the id. */
const responses: readonly (readonly [description: string, response: JsonObject, named: string])[] = [
  ["the id as a string", { id: "1", result }, 'unknown id "1"'],
  ["a string id and an error", { id: "1", error }, 'unknown id "1". Its error: out of order'],
  ["null", { id: null, result }, "not null"],
  ["null and an error", { id: null, error }, "unknown id null. Its error: out of order"],
  ["no id and an error", { error }, "Its error: out of order"],
  ["an unknown id", { id: 99, result }, "unknown id 99"],
  ["a fraction", { id: 1.5, result }, "not 1.5"],
  ["a fraction and an error", { id: 1.5, error }, "unknown id 1.5"],
  ["a duplicate of the response before", { id: 0, result }, "unknown id 0"],
  ["an id that is an object", { id: { n: 1 }, result }, 'not {"n":1}'],
];

describe.each(["2025-11-25", "2026-07-28"])("a response with a wrong id on a stream, in revision %s", (revision) => {
  async function called(response: JsonObject) {
    const clock = fakeClock();
    const errors: Error[] = [];
    const peer = revision === "2026-07-28" ? modernPeer() : legacyPeer();
    const onError = (reported: Error): void => void errors.push(reported);
    const client = await openClient(peerTransports(peer), { revision, clock, onError });
    if (revision !== "2026-07-28") await peer.notification("notifications/initialized");
    const outcome = client.callTool("a", {}, { timeout: { idle: 1_000 } }).catch((reason: unknown) => reason);
    await peer.request("tools/call");
    peer.send({ jsonrpc: "2.0", ...response });
    await flushPromises();
    return { client, clock, peer, errors, outcome };
  }

  test.each(responses)("is named by the timeout: %s", async (_, response, named) => {
    const { clock, errors, outcome } = await called(response);
    expect(errors).toHaveLength(1);
    await clock.advance(1_000);
    expect(await outcome).toMatchObject({ code: "timeout", message: expect.stringContaining(named) });
  });

  test.each(responses)("is named by the error of the lost connection: %s", async (_, response, named) => {
    const { peer, outcome } = await called(response);
    peer.close(new LocalError("closed", "It hung up."));
    const message: unknown = expect.stringMatching(/It hung up\..*/);
    expect(await outcome).toMatchObject({ code: "closed", message });
    expect(await outcome).toMatchObject({ message: expect.stringContaining(named) });
  });

  test("is not named by the errors of later requests, nor after close()", async () => {
    const { client, clock, peer, outcome } = await called({ id: "1", result });
    await clock.advance(1_000);
    await outcome;
    const later = client.callTool("b", {}, { timeout: { idle: 1_000 } }).catch((reason: unknown) => reason);
    await clock.advance(1_000);
    expect(String(await later)).not.toContain("unknown id");
    const open = client.callTool("c").catch((reason: unknown) => reason);
    peer.send({ jsonrpc: "2.0", id: "3", result });
    await client.close();
    expect(String(await open)).not.toContain("unknown id");
  });
});

describe("a response with a wrong id over HTTP", () => {
  const asJson = (request: SentRequest, value: JsonObject): void => request.json(value);
  const asStream = (request: SentRequest, value: JsonObject): void => {
    const feed = request.stream();
    feed.event(value);
    feed.end();
  };
  // An error without an id is the response, since it came in response to the request.
  const wrong = responses.filter(([, response]) => !("error" in response && response.id == null));
  test.each(wrong)("is named by the error of the call: %s", async (_, response, named) => {
    for (const respond of [asJson, asStream]) {
      const stub = fetchStub();
      const clock = fakeClock();
      const connecting = openClient(httpTransports({ url: "https://wrong.example/mcp", fetch: stub.fetch, clock }), {
        clock,
        revision: "2026-07-28",
        cache: false,
      });
      const discovery = await stub.next();
      discovery.json({ jsonrpc: "2.0", id: discovery.body.id, result: discoverResult() });
      const client = await connecting;
      const calling = client.request("com.example/do").catch((reason: unknown) => reason);
      respond(await stub.next(), { jsonrpc: "2.0", ...response });
      const reason = await calling;
      expect(reason).toBeInstanceOf(LocalError);
      expect(String(reason)).toContain(named);
    }
  });

  test("an error without an id is the error of the call", async () => {
    for (const respond of [asJson, asStream]) {
      for (const id of [{}, { id: null }]) {
        const stub = fetchStub();
        const connecting = openClient(httpTransports({ url: "https://wrong.example/mcp", fetch: stub.fetch }), {
          revision: "2026-07-28",
        });
        const discovery = await stub.next();
        discovery.json({ jsonrpc: "2.0", id: discovery.body.id, result: discoverResult() });
        const client = await connecting;
        const calling = client.request("com.example/do").catch((reason: unknown) => reason);
        respond(await stub.next(), { jsonrpc: "2.0", ...id, error });
        expect(await calling).toMatchObject(error);
      }
    }
  });
});
