import { PassThrough } from "node:stream";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import type { TransportFactory } from "../../../packages/mcparley/src/client/connect/transports.ts";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import type { ConnectOptions } from "../../../packages/mcparley/src/client/options.ts";
import { httpTransports } from "../../../packages/mcparley/src/http/client/transport.ts";
import { Endpoint } from "../../../packages/mcparley/src/http/server/endpoint.ts";
import { FetchExchange } from "../../../packages/mcparley/src/http/fetch/fetch-exchange.ts";
import { memoryPair } from "../../../packages/mcparley/src/rpc/memory-transport.ts";
import type { Transport } from "../../../packages/mcparley/src/rpc/transport.ts";
import type { Connection } from "../../../packages/mcparley/src/server/protocol/connection.ts";
import { type Server, coreOf } from "../../../packages/mcparley/src/server/create-server.ts";
import { streamTransport } from "../../../packages/mcparley/src/stdio/stream-transport.ts";
import type { FakeClock } from "../../../packages/mcparley/src/testing/fake-clock.ts";

export type Way = "memory" | "stdio" | "http";

/** A server, its client, and the connection between them, which a test controls. */
export interface Pairing {
  client: Client;
  /** Breaks the connection like a failing network or process does. */
  disconnect(): void;
  closeServer(): Promise<void>;
  /** The calls in flight and stored state of the client on the server, by name. */
  left(): Record<string, number>;
}

interface Wiring {
  dialer: TransportFactory;
  disconnect(): void;
  close(): Promise<void>;
  left(): Record<string, number>;
}

export async function openPairing(
  way: Way,
  server: Server,
  options: ConnectOptions & { clock: FakeClock },
): Promise<Pairing> {
  const wiring = way === "http" ? overHttp(server, options.clock) : onStreams(server, options.clock, way);
  const client = await openClient(wiring.dialer, options);
  return {
    client,
    disconnect: () => wiring.disconnect(),
    async closeServer() {
      await server.close();
      await wiring.close();
    },
    left: () => ({ ...wiring.left(), subscriptions: coreOf(server).changes.size }),
  };
}

function onStreams(server: Server, clock: FakeClock, way: "memory" | "stdio"): Wiring {
  const connections: Connection[] = [];
  let breakLast = (): void => {};
  const open = (): Transport => {
    const made = way === "memory" ? inMemory() : onPipes(clock);
    breakLast = () => made.break();
    return {
      ...bound(made.ours),
      async start(receiver) {
        await made.ours.start(receiver);
        connections.push(await server.attach(made.theirs));
      },
    };
  };
  return {
    dialer: { kind: "stream", target: way, transient: true, open },
    disconnect: () => breakLast(),
    close: async () => {},
    left: () => ({ calls: connections.reduce((sum, { inFlight }) => sum + inFlight, 0) }),
  };
}

function bound(transport: Transport): Transport {
  return {
    start: (receiver) => transport.start(receiver),
    send: (message, envelope) => transport.send(message, envelope),
    close: () => transport.close(),
  };
}

interface Made {
  ours: Transport;
  theirs: Transport;
  break(): void;
}

function inMemory(): Made {
  const [ours, theirs] = memoryPair();
  return { ours, theirs, break: () => void theirs.close() };
}

function onPipes(clock: FakeClock): Made {
  const up = new PassThrough();
  const down = new PassThrough();
  return {
    ours: streamTransport(down, up, { clock }),
    theirs: streamTransport(up, down, { clock }),
    break() {
      up.destroy(new Error("broken pipe"));
      down.destroy(new Error("broken pipe"));
    },
  };
}

function overHttp(server: Server, clock: FakeClock): Wiring {
  const endpoint = new Endpoint(coreOf(server), { closeTimeout: 1_000 });
  const cables = new Set<AbortController>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const cable = new AbortController();
    cables.add(cable);
    const gone = (): void => cable.abort(init?.signal?.reason);
    init?.signal?.addEventListener("abort", gone, { once: true });
    if (init?.signal?.aborted) gone();
    const exchange = new FetchExchange(new Request(input, { ...init, signal: cable.signal }));
    void endpoint.handle(exchange);
    return Promise.race([exchange.response.then((response) => along(response, cable)), broken(cable.signal)]);
  };
  return {
    dialer: httpTransports({ url: "http://localhost/mcp", fetch, clock }),
    disconnect() {
      for (const cable of cables) cable.abort(new Error("connection reset"));
      cables.clear();
    },
    close: () => endpoint.close(),
    left: () => ({ calls: endpoint.inFlight, sessions: endpoint.sessions }),
  };
}

function broken(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
  });
}

/** The response. Its body fails when the connection breaks. */
function along(response: Response, { signal }: AbortController): Response {
  if (!response.body) return response;
  const reader = response.body.getReader();
  const failed = broken(signal);
  failed.catch(() => {});
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await Promise.race([reader.read(), failed]);
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}
