import { SpanKind, SpanStatusCode, type TextMapPropagator, context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../connect.ts";
import { ToolError } from "../mcp/errors.ts";
import { toFetch } from "../http/fetch/to-fetch.ts";
import { tool } from "../server/definition.ts";
import { createServer } from "../server/create-server.ts";
import { modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { type TelemetryOptions, telemetry } from "./telemetry.ts";

const spanExporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spanExporter)] });
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
const meterProvider = new MeterProvider({ readers: [reader] });
const providers = { tracerProvider, meterProvider };
const meta = modernMeta("2026-07-28");

const tools = {
  inner: tool({
    call: () => {
      tracerProvider.getTracer("handler").startSpan("inside").end();
      return "x";
    },
  }),
  fails: tool({
    call: () => {
      throw new ToolError("no");
    },
  }),
};

const serve = (): ReturnType<typeof createServer> =>
  createServer({ name: "x", version: "1", tools, observers: [telemetry(providers)], onError: () => {} });

/** Writes baggage as the propagator of Jaeger does. */
const otherBaggage: TextMapPropagator = {
  inject(from, carrier, setter) {
    for (const [name, { value }] of propagation.getBaggage(from)?.getAllEntries() ?? [])
      setter.set(carrier, `uberctx-${name}`, value);
  },
  extract: (from) => from,
  fields: () => [],
};

/** Calls a tool with active baggage, and returns the `_meta` that the server received. */
async function metaReceived(options: TelemetryOptions): Promise<Record<string, unknown>> {
  let received: Record<string, unknown> = {};
  const look = tool({
    call: (_, { meta: given }) => {
      received = { ...given };
      return "x";
    },
  });
  const client = await connect(createServer({ name: "x", version: "1", tools: { look } }), {
    observers: [telemetry({ ...providers, ...options })],
  });
  const baggage = propagation.createBaggage({ user: { value: "alice" } });
  await context.with(propagation.setBaggage(context.active(), baggage), () => client.callTool("look"));
  await client.close();
  return received;
}

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  // The propagators of OpenTelemetry's default configuration, and one that writes baggage under another name.
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator(), otherBaggage];
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
});
afterEach(() => spanExporter.reset());
afterAll(async () => {
  context.disable();
  propagation.disable();
  await meterProvider.shutdown();
});

const spansOf = (kind: SpanKind): ReadableSpan[] =>
  spanExporter.getFinishedSpans().filter((span) => span.kind === kind);

async function metricsNamed(name: string): Promise<{ attributes: Record<string, unknown>; count: number }[]> {
  await reader.forceFlush();
  const latest = metricExporter.getMetrics().at(-1);
  const found = latest?.scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .find(({ descriptor }) => descriptor.name === name);
  return (found?.dataPoints ?? []).map(({ attributes, value }) => ({
    attributes,
    count: (value as { count: number }).count,
  }));
}

describe("spans", () => {
  test("of a client, a server and its handler form one trace", async () => {
    const client = await connect(serve(), { observers: [telemetry(providers)] });
    await client.callTool("inner");
    await client.close();
    const [sent] = spansOf(SpanKind.CLIENT).filter(({ name }) => name === "tools/call inner");
    const [served] = spansOf(SpanKind.SERVER).filter(({ name }) => name === "tools/call inner");
    const [inside] = spansOf(SpanKind.INTERNAL);
    expect(served?.parentSpanContext?.spanId).toBe(sent?.spanContext().spanId);
    expect(inside?.parentSpanContext?.spanId).toBe(served?.spanContext().spanId);
    expect(new Set([sent, served, inside].map((span) => span?.spanContext().traceId)).size).toBe(1);
    expect(served?.attributes).toMatchObject({
      "mcp.method.name": "tools/call",
      "mcp.protocol.version": "2026-07-28",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "inner",
      "mcparley.outcome": "ok",
    });
    expect(served?.status.code).toBe(SpanStatusCode.UNSET);
  });

  test("contain the error type: `tool_error` or the code of the error", async () => {
    const peer = await rawPeer(serve(), { meta });
    await peer.request("tools/call", { name: "fails" });
    await peer.request("tools/call", { name: "made up 1" });
    await peer.request("made/up");
    const [failed, unknownTool, unknownMethod] = spansOf(SpanKind.SERVER);
    expect(failed?.attributes).toMatchObject({ "error.type": "tool_error", "mcparley.outcome": "tool_error" });
    expect(failed?.status.code).toBe(SpanStatusCode.ERROR);
    expect(unknownTool?.name).toBe("tools/call");
    expect(unknownTool?.attributes).toMatchObject({ "error.type": "-32602", "rpc.response.status_code": "-32602" });
    expect(unknownTool?.attributes).not.toHaveProperty(["gen_ai.tool.name"]);
    expect(unknownMethod?.attributes["mcp.method.name"]).toBe("_OTHER");
  });

  test("are children of the trace in _meta and link the active span; baggage is ignored by default", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
    let baggage: unknown = "not called";
    const look = tool({
      call: () => {
        baggage = propagation.getActiveBaggage();
        return "x";
      },
    });
    const observers = [telemetry(providers)];
    const server = createServer({ name: "x", version: "1", tools: { look }, observers });
    const peer = await rawPeer(server, { meta: { ...meta, traceparent, baggage: "user=mallory" } });
    const outer = tracerProvider.getTracer("http").startSpan("POST /mcp");
    await peer.request("tools/call", { name: "look" });
    await context.with(trace.setSpan(context.active(), outer), () => peer.request("tools/call", { name: "look" }));
    const [alone, linked] = spansOf(SpanKind.SERVER);
    expect(alone?.parentSpanContext).toMatchObject({ spanId: "00f067aa0ba902b7" });
    expect(alone?.links).toEqual([]);
    expect(linked?.parentSpanContext).toMatchObject({ spanId: "00f067aa0ba902b7" });
    expect(linked?.links.map(({ context: { spanId } }) => spanId)).toEqual([outer.spanContext().spanId]);
    expect(baggage).toBeUndefined();
  });

  test("have exactly the attributes of the conventions on both sides over HTTP", async () => {
    const { fetch } = toFetch(serve());
    const target = "https://example.com:8443/mcp";
    const client = await connect(target, {
      fetch: (_, init) => fetch(new Request("http://localhost/mcp", init)),
      observers: [telemetry(providers)],
    });
    await client.callTool("inner");
    await client.close();
    const common = {
      "mcp.method.name": "tools/call",
      "mcp.protocol.version": "2026-07-28",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "inner",
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "mcparley.outcome": "ok",
    };
    const [sent] = spansOf(SpanKind.CLIENT).filter(({ name }) => name === "tools/call inner");
    const [served] = spansOf(SpanKind.SERVER).filter(({ name }) => name === "tools/call inner");
    const address = { "server.address": "example.com", "server.port": 8443 };
    expect(sent?.attributes).toEqual({ ...common, ...address });
    expect(served?.attributes).toEqual({ ...common, "jsonrpc.request.id": expect.any(String) as string });
    const ofTool = ({ attributes }: { attributes: Record<string, unknown> }): boolean =>
      attributes["network.transport"] === "tcp" && attributes["gen_ai.tool.name"] === "inner";
    const measured = (await metricsNamed("mcp.client.operation.duration")).find(ofTool);
    expect(measured).toEqual({ attributes: { ...common, ...address }, count: 1 });
    expect((await metricsNamed("mcp.server.operation.duration")).find(ofTool)?.attributes).toEqual(common);
  });

  test("of a server contain no secrets of URIs and errors", async () => {
    const peer = await rawPeer(serve(), { meta });
    await peer.request("resources/read", { uri: "note://x?token=hunter2" });
    const [served] = spansOf(SpanKind.SERVER);
    expect(served?.attributes["mcp.resource.uri"]).toBe("note://x?token=[redacted]");
    expect(JSON.stringify([served?.attributes, served?.status])).not.toContain("hunter2");
  });

  test("of a client contain errors but no arguments", async () => {
    const client = await connect(serve(), { observers: [telemetry(providers)] });
    await expect(client.callTool("fails", { password: "hunter2" })).rejects.toThrow("no");
    await client.close();
    const [failed] = spansOf(SpanKind.CLIENT).filter(({ name }) => name === "tools/call fails");
    expect(failed?.attributes).toMatchObject({ "error.type": "tool_error" });
    expect(JSON.stringify(spanExporter.getFinishedSpans().map(({ attributes }) => attributes))).not.toContain(
      "hunter2",
    );
  });
});

describe("the baggage of a client", () => {
  test("is not sent by default under any name, but the trace is", async () => {
    const received = await metaReceived({});
    expect(received.traceparent).toMatch(/^00-/);
    expect(JSON.stringify(received)).not.toContain("alice");
  });

  test("is sent if the option `baggage` is set", async () => {
    expect(await metaReceived({ baggage: true })).toMatchObject({ baggage: "user=alice" });
  });
});

describe("metrics", () => {
  test("record the durations of calls by method, tool and outcome, and of sessions", async () => {
    const peer = await rawPeer(serve());
    await openSession(peer, "2025-06-18");
    for (let n = 0; n < 3; n++) await peer.request("tools/call", { name: "inner" });
    for (let n = 0; n < 5; n++) await peer.request("tools/call", { name: `made up ${n}` });
    await peer.close();
    const calls = await metricsNamed("mcp.server.operation.duration");
    const old = calls.filter(({ attributes }) => attributes["mcp.protocol.version"] === "2025-06-18");
    expect(old.find(({ attributes }) => attributes["gen_ai.tool.name"] === "inner")?.count).toBe(3);
    expect(old.find(({ attributes }) => attributes["error.type"] === "-32602")?.count).toBe(5);
    const counts = async () => (await metricsNamed("mcp.server.session.duration")).map(({ count }) => count);
    await expect.poll(counts).toContain(1);
  });
});
