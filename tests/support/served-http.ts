import { expect } from "vitest";
import { toFetch } from "../../packages/mcparley/src/http/fetch/to-fetch.ts";
import type { HttpOptions } from "../../packages/mcparley/src/http/server/options.ts";
import { resource, tool } from "../../packages/mcparley/src/server/definition.ts";
import type { AnyServerDefinition } from "../../packages/mcparley/src/server/core/options.ts";
import { type Server, createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { type FakeClock, fakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type RawAnswer, type RawHttp, rawHttp } from "./raw-http.ts";

/** A server over HTTP in this process, and a raw client of it. */
export interface ServedHttp {
  client: RawHttp;
  server: Server;
  clock: FakeClock;
}

/** Returns its arguments as JSON. */
export const echo = tool({ input: { type: "object" }, call: (input) => JSON.stringify(input) });
const note = resource("note://{id}", { read: () => "" });

/** Serves the tool `echo` and the resources `note://{id}`, unless the definition replaces them. */
export function serve(
  options: HttpOptions = {},
  definition: Partial<AnyServerDefinition> = {},
  clock: FakeClock = fakeClock(),
): ServedHttp {
  const server = createServer({
    name: "test",
    version: "1.0.0",
    clock,
    tools: { echo },
    resources: { note },
    ...definition,
  });
  const { fetch } = toFetch(server, options);
  return { client: rawHttp("http://localhost/mcp", fetch), server, clock };
}

/** The revision of the sessions that `open` opens. */
export const protocolVersion = "2025-11-25";

export const request = (method: string, params: object = {}, id: number | string = 1): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

export const initialize = (clientInfo: object = { name: "raw", version: "1.0.0" }, capabilities: object = {}): object =>
  request("initialize", { protocolVersion, capabilities, clientInfo });

export const initialized: object = { jsonrpc: "2.0", method: "notifications/initialized" };

/** Opens a session and returns the headers that name it. */
export async function open(
  client: RawHttp,
  message: object = initialize(),
  headers: Record<string, string> = {},
): Promise<Record<string, string>> {
  const answer = await client.post(message, headers);
  expect(answer.status).toBe(200);
  const session = { ...headers, "mcp-session-id": answer.headers.get("mcp-session-id")! };
  await answer.text();
  return session;
}

export const ping: object = request("ping");

/** The option by which a server takes addresses from `from`. */
export const trustProxy = "x-forwarded-for";

/** The headers of a request that comes from an address. */
export const from = (address: string): Record<string, string> => ({ [trustProxy]: address });

/** Reads an answer to its end and returns its status. */
export async function statusOf(answering: Promise<RawAnswer>): Promise<number> {
  const answer = await answering;
  await answer.text();
  return answer.status;
}
