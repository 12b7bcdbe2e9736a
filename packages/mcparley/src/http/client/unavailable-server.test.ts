import { afterEach, describe, expect, test } from "vitest";
import {
  type Answer,
  accepted,
  brokenBody,
  refused,
  reset,
  result,
  rpcError,
  answeringServer,
  status,
  until,
} from "mcparley-tests/support/http-talk.ts";
import { forgetRevisions } from "../../client/connect/remembered-revisions.ts";
import { flushPromises } from "../../testing/fake-clock.ts";
import { discoverResult, initializeResult } from "../../testing/peer-transports.ts";
import { httpTransports } from "./transport.ts";

afterEach(forgetRevisions);

const discover = "server/discover";
const times = (count: number, answer: Answer): Answer[] => Array.from({ length: count }, () => answer);

describe("a server that is busy while a client connects", () => {
  test.each([408, 429, 502, 503, 504, 521])(
    "with status %d receives four requests, never initialize, and connect rejects with the status",
    async (code) => {
      for (const answer of [status(code), rpcError(-32603, code), rpcError(-32600, code)]) {
        const { clock, sent, connect } = answeringServer(...times(9, answer));
        const connecting = connect();
        await until(connecting, clock);
        await expect(connecting).rejects.toMatchObject({ code: "http", data: { status: code } });
        expect(sent).toEqual(times(4, accepted).map(() => discover));
        expect(clock.now()).toBeLessThan(10_000);
        expect(clock.pending).toBe(0);
      }
    },
  );

  test("is modern as soon as it answers", async () => {
    const { clock, sent, connect } = answeringServer(...times(3, status(503)), result(discoverResult()));
    const connecting = connect();
    await until(connecting, clock);
    expect((await connecting).server.revisionKind).toBe("modern");
    expect(sent.length).toBe(4);
  });

  test("receives the request again after the time of Retry-After", async () => {
    const { clock, sent, connect } = answeringServer(status(503, { "retry-after": "7" }), result(discoverResult()));
    const connecting = connect();
    await clock.advance(6_999);
    expect(sent.length).toBe(1);
    await clock.advance(1);
    expect((await connecting).server.revisionKind).toBe("modern");
  });

  test("receives no further request if Retry-After is longer than the timeout", async () => {
    const { clock, sent, connect } = answeringServer(status(429, { "retry-after": "3600" }));
    await expect(connect()).rejects.toMatchObject({ code: "http", data: { status: 429, retryAfterMs: 3_600_000 } });
    expect(sent.length).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test("receives no further request after the caller has aborted", async () => {
    const controller = new AbortController();
    const { clock, sent, connect } = answeringServer(...times(4, status(503)));
    const connecting = connect({ signal: controller.signal });
    await flushPromises();
    controller.abort();
    await expect(connecting).rejects.toMatchObject({ code: "aborted" });
    expect(clock.pending).toBe(0);
    expect(sent.length).toBe(1);
  });

  test("that names its revisions in the error is modern", async () => {
    const refusal = rpcError(-32022, 503, { supported: ["2026-07-28"] });
    const { sent, connect } = answeringServer(refusal, result(discoverResult()));
    expect((await connect()).server.revisionKind).toBe("modern");
    expect(sent).toEqual([discover, discover]);
  });

  test("receives the request again when its response is interrupted, and never initialize", async () => {
    const { clock, sent, connect } = answeringServer(brokenBody, reset, result(discoverResult()));
    const connecting = connect();
    await until(connecting, clock);
    expect((await connecting).server.revisionKind).toBe("modern");
    expect(sent).toEqual([discover, discover, discover]);
  });

  test.each(["2026-07-28", "2025-11-25"])("receives the request again in the pinned revision %s", async (revision) => {
    const { clock, sent, connect } = answeringServer(...times(9, status(503)));
    const connecting = connect({ revision });
    await until(connecting, clock);
    await expect(connecting).rejects.toMatchObject({ code: "http", data: { status: 503 } });
    expect(sent.length).toBe(4);
  });

  test("receives initialize again if it is busy during initialize", async () => {
    const busy = times(2, rpcError(-32000, 503));
    const { clock, sent, connect } = answeringServer(status(400), ...busy, result(initializeResult()), accepted);
    const connecting = connect();
    await until(connecting, clock);
    expect((await connecting).server.revisionKind).toBe("legacy");
    expect(sent.slice(0, 5)).toEqual([
      discover,
      ...times(3, accepted).map(() => "initialize"),
      "notifications/initialized",
    ]);
  });

  test("receives the GET again when the stream of HTTP+SSE is opened", async () => {
    const endpoint: Answer = (request) => request.stream().raw("event: endpoint\ndata: /messages\n\n");
    const { clock, sent, connect } = answeringServer(status(405), status(405), status(503), endpoint, status(400));
    const connecting = connect();
    await until(connecting, clock);
    await expect(connecting).rejects.toMatchObject({ code: "http", data: { status: 400 } });
    expect(sent).toEqual([discover, "initialize", "GET", "GET", "initialize"]);
  });

  test("rejects connecting if it stays busy when the stream of HTTP+SSE is opened", async () => {
    const { clock, sent, connect } = answeringServer(status(405), status(405), ...times(9, status(503)));
    const connecting = connect();
    await until(connecting, clock);
    await expect(connecting).rejects.toMatchObject({ code: "http", data: { status: 503 } });
    expect(sent.length).toBe(6);
  });
});

describe("a server error without a clear cause", () => {
  test.each([
    ["without a body", status(500)],
    ["with a JSON-RPC error", rpcError(-32603, 500)],
  ])("%s is repeated once, then leads to initialize, and the revision is not remembered", async (_, answer) => {
    const legacy = [answer, answer, result(initializeResult()), accepted];
    const { clock, sent, connect } = answeringServer(...legacy, result(discoverResult()));
    const connecting = connect();
    await until(connecting, clock);
    expect((await connecting).server.revisionKind).toBe("legacy");
    expect(sent.slice(0, 4)).toEqual([discover, discover, "initialize", "notifications/initialized"]);
    await flushPromises();
    expect((await connect()).server.revisionKind).toBe("modern");
  });

  test("that persists rejects connecting", async () => {
    const { clock, sent, connect } = answeringServer(...times(9, status(500)));
    const connecting = connect();
    await until(connecting, clock);
    await expect(connecting).rejects.toMatchObject({ code: "http", data: { status: 500 } });
    expect(sent).toEqual([discover, discover, "initialize", "initialize"]);
  });

  test("of the network rejects connecting immediately", async () => {
    const { sent, connect } = answeringServer(refused);
    await expect(connect()).rejects.toMatchObject({ code: "unreachable" });
    expect(sent).toEqual([discover]);
  });

  test("of the network when the stream of HTTP+SSE is opened rejects connecting", async () => {
    const { connect } = answeringServer(status(405), status(405), refused);
    await expect(connect()).rejects.toMatchObject({ code: "unreachable" });
  });
});

describe("a remembered legacy revision", () => {
  const legacy = [status(400), result(initializeResult()), accepted];

  test("is used without a probe, and forgotten after any failure", async () => {
    const busy = times(4, status(503));
    const { clock, sent, connect } = answeringServer(...legacy, ...busy, result(discoverResult()));
    await connect();
    await flushPromises();
    sent.length = 0;
    const failing = connect();
    await until(failing, clock);
    await expect(failing).rejects.toMatchObject({ code: "http", data: { status: 503 } });
    expect(sent).toEqual(times(4, accepted).map(() => "initialize"));
    expect((await connect()).server.revisionKind).toBe("modern");
  });

  test("is used for the same headers only, in any order", () => {
    const identityOf = (headers: Record<string, string>): string | undefined =>
      httpTransports({ url: "https://busy.example/mcp", headers }).identity;
    expect(identityOf({ "x-tenant": "a" })).not.toBe(identityOf({ "x-tenant": "b" }));
    expect(identityOf({ a: "1", b: "2" })).toBe(identityOf({ B: "2", A: "1" }));
  });

  test("leads to a new detection immediately if the server refuses it", async () => {
    const { sent, connect } = answeringServer(...legacy, rpcError(-32601, 404), result(discoverResult()));
    await connect();
    await flushPromises();
    sent.length = 0;
    expect((await connect()).server.revisionKind).toBe("modern");
    expect(sent).toEqual(["initialize", discover]);
  });
});
