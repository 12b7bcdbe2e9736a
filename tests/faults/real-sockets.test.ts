import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { openClient } from "../../packages/mcparley/src/client/open-client.ts";
import { httpTransports } from "../../packages/mcparley/src/http/client/transport.ts";
import { LocalError } from "../../packages/mcparley/src/rpc/errors.ts";
import { type JsonObject, type JsonRpcRequest } from "../../packages/mcparley/src/rpc/messages.ts";
import type { Fault } from "./dimensions.ts";
import { ScriptedServer } from "./peers/scripted-server.ts";
import { preload } from "./preload.ts";
import { runCell } from "./run-cell.ts";
import { SteppedClock } from "./stepped-clock.ts";

beforeAll(preload);

/** How a call of the tool `echo` fails at the socket. */
type Breakage = (request: IncomingMessage, response: ServerResponse, answer: string) => void;

const breakages: readonly { fault: Fault; name: string; fail: Breakage }[] = [
  {
    fault: "reset-after",
    name: "a reset after the request",
    fail: ({ socket }) => void socket.resetAndDestroy(),
  },
  {
    fault: "reset-after",
    name: "an orderly close of the socket after the request",
    fail: ({ socket }) => void socket.end(),
  },
  {
    fault: "reset-in-answer",
    name: "a reset in the middle of the answer",
    fail({ socket }, response, answer) {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(answer.slice(0, answer.length / 2), () => setImmediate(() => socket.resetAndDestroy()));
    },
  },
  {
    fault: "graceful-end",
    name: "a stream that ends without the answer",
    fail: (_, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(),
  },
  {
    fault: "503",
    name: "status 503",
    fail: (_, response) => void response.writeHead(503).end(),
  },
];

/** Serves a scripted server of 2026-07-28 on loopback. The calls of `echo` fail as long as `fail` is set. */
async function serve(): Promise<{ url: string; server: Server; broken: { fail: Breakage | undefined } }> {
  const scripted = new ScriptedServer({ revision: "2026-07-28", clock: new SteppedClock() });
  const broken: { fail: Breakage | undefined } = { fail: undefined };
  const server = createServer((request, response) => {
    void json(request).then((message) => {
      let answer = "";
      scripted.receive(message as JsonRpcRequest, (reply) => (answer = JSON.stringify(reply)));
      const { params = {} } = message as { params?: JsonObject };
      if (broken.fail && params.name === "echo") return broken.fail(request, response, answer);
      response.writeHead(200, { "content-type": "application/json" }).end(answer);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, server, broken };
}

async function failureOf(running: Promise<unknown>): Promise<{ settles: string; safeToRepeat: unknown }> {
  const error: unknown = await running.then(
    () => new Error("no error"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof LocalError)) throw error;
  const { safeToRepeat, status } = (error.data ?? {}) as JsonObject;
  return { settles: error.code === "http" ? `http ${String(status)}` : error.code, safeToRepeat };
}

async function simulated(fault: Fault): Promise<{ settles: string; safeToRepeat: unknown }> {
  const { settles, safeToRepeat } = await runCell({
    operation: "call",
    fault,
    transport: "http",
    revision: "2026-07-28",
  });
  return { settles, safeToRepeat };
}

describe("a call over a real socket fails like the simulated one", () => {
  test.each(breakages)("after $name", async ({ fault, fail }) => {
    const { url, server, broken } = await serve();
    const client = await openClient(httpTransports({ url }));
    await client.listTools().all();
    broken.fail = fail;
    expect(await failureOf(client.callTool("echo"))).toEqual(await simulated(fault));
    broken.fail = undefined;
    expect(await client.callTool("echo")).toEqual({ text: "done" });
    await client.close();
    server.close();
    server.closeAllConnections();
  });

  test("if nothing listens", async () => {
    const { url, server } = await serve();
    const client = await openClient(httpTransports({ url }));
    await client.listTools().all();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    // The client may notice the end of its idle connection only with the first call.
    await client.callTool("echo").catch(() => {});
    expect(await failureOf(client.callTool("echo"))).toEqual(await simulated("refused"));
    await client.close();
  });
});
