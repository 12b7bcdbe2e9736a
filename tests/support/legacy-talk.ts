import { expect } from "vitest";
import type { Client } from "../../packages/mcparley/src/client/calls/client.ts";
import type { ConnectOptions } from "../../packages/mcparley/src/client/options.ts";
import { openClient } from "../../packages/mcparley/src/client/connect/open-client.ts";
import type { ServerChange } from "../../packages/mcparley/src/client/subscriptions/subscription.ts";
import { httpTransports } from "../../packages/mcparley/src/http/client/transport.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { initializeResult } from "../../packages/mcparley/src/testing/peer-transports.ts";
import { type SentRequest, fetchStub } from "./fetch-stub.ts";
// The client loads these modules on first use. Loading them here keeps tests with a fake clock from waiting for the disk.
import "../../packages/mcparley/src/client/subscriptions/subscriptions.ts";
import "../../packages/mcparley/src/http/client/connection-error.ts";
import "../../packages/mcparley/src/http/client/standalone.ts";
import "../../packages/mcparley/src/http/client/stream.ts";

/** A client with a legacy session over HTTP, whose requests a test answers. */
export interface LegacyTalk {
  client: Client;
  clock: FakeClock;
  changes: ServerChange[];
  errors: Error[];
  /** Returns the next request. Advances the clock until there is one. */
  next: () => Promise<SentRequest>;
  waiting: () => number;
  /** Answers the requests that open a session. */
  openSession: () => Promise<void>;
}

/** Connects to a legacy server. The next request is the GET for the standalone stream. */
export async function legacyTalk(options: ConnectOptions = {}): Promise<LegacyTalk> {
  const stub = fetchStub();
  const clock = fakeClock();
  const errors: Error[] = [];
  const next = async (): Promise<SentRequest> => {
    for (let step = 0; stub.waiting() === 0; step++) {
      if (step === 100) throw new Error("The client sends no request.");
      await clock.advance(500);
    }
    return stub.next();
  };
  let sessions = 0;
  const openSession = async (): Promise<void> => {
    const initialize = await next();
    expect(initialize.body.method).toBe("initialize");
    const headers = { "content-type": "application/json", "mcp-session-id": `s-${++sessions}` };
    initialize.json({ jsonrpc: "2.0", id: initialize.body.id, result: initializeResult() }, { headers });
    (await next()).status(202);
    await flushPromises();
  };
  const target = httpTransports({ url: `https://${crypto.randomUUID()}.example/mcp`, fetch: stub.fetch, clock });
  const onError = (error: Error): void => void errors.push(error);
  const connecting = openClient(target, { ...options, clock, revision: "2025-11-25", onError });
  await openSession();
  return { client: await connecting, clock, changes: [], errors, next, waiting: stub.waiting, openSession };
}

/** Returns the next request, which must be a GET in the given session. */
export async function nextGet(next: () => Promise<SentRequest>, session = "s-1"): Promise<SentRequest> {
  const hit = await next();
  expect([hit.method, hit.headers.get("mcp-session-id")]).toEqual(["GET", session]);
  return hit;
}
