import { PassThrough } from "node:stream";
import { expect } from "vitest";
import {
  type TransportFactory,
  type Transport,
  connect,
  createServer,
  gate,
  memoryPair,
  openClient,
  serveStdio,
  streamTransport,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { type RawMessage, isRequest, isResponse, turns } from "../../support/raw-message.ts";
import { stdioScripted } from "../../support/scripted-server.ts";
import { readLines } from "../../support/raw-wires.ts";
import { echo, failing, gotPrompt, requested, textOf } from "../world/subjects.ts";
import { type World, discoverResult } from "../world/world.ts";

proves("stdio.supported", async (world) => {
  const { client } = await world.connect();
  expect(client.server.revision).toBe(world.version);
});

const broken = "one\ntwo\r\nthree\u2028four";

proves("stdio.framing.lines", {
  async server(world) {
    // The peer reads line by line, so that a line break inside a message would break it.
    const peer = await world.serve({ tools: { echo } });
    const answer = await peer.request("tools/call", { name: "echo", arguments: { [broken]: broken } });
    expect(JSON.parse(textOf(answer))).toEqual({ [broken]: broken });
  },
  async client(world) {
    const { client, server } = await world.connect();
    const outcome = client.getPrompt(broken, { [broken]: broken });
    const request = await server.request("prompts/get");
    expect(request.params).toMatchObject({ name: broken, arguments: { [broken]: broken } });
    server.answer(request, gotPrompt);
    await outcome;
  },
});

proves("stdio.framing.chunks", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    const call = (id: string): string =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params: paramsFor(world) })}\n`;
    const text = call("a") + call("b");
    for (const part of [text.slice(0, 5), text.slice(5, -9), text.slice(-9)]) {
      peer.sendText(part);
      await turns(2);
    }
    await Promise.all([peer.response("a"), peer.response("b")]);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server);
    const text = `${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: gotPrompt })}\n`;
    for (const part of [text.slice(0, 3), text.slice(3, 20), text.slice(20)]) {
      server.sendText(part);
      await turns(2);
    }
    expect(await outcome).toMatchObject(gotPrompt);
  },
});

function paramsFor(world: World): object {
  const key = "io.modelcontextprotocol/";
  if (!world.isModern) return {};
  return { _meta: { [`${key}protocolVersion`]: world.version, [`${key}clientCapabilities`]: {} } };
}

const words = "Grüße, 世界 🌍";

proves("stdio.framing.utf8", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    const answer = await peer.request("tools/call", { name: "echo", arguments: { words } });
    expect(JSON.parse(textOf(answer))).toEqual({ words });
  },
  async client(world) {
    const { client, server } = await world.connect();
    const outcome = client.getPrompt(words);
    const request = await server.request("prompts/get");
    expect(request.params.name).toBe(words);
    server.answer(request, { ...gotPrompt, description: words });
    expect((await outcome).description).toBe(words);
  },
});

proves("stdio.framing.single", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    peer.send([{ jsonrpc: "2.0", id: "a", method: "tools/list", params: paramsFor(world) }]);
    expect((await peer.next((message) => "error" in message)).error.code).toBe(-32600);
  },
  async client(world) {
    const errors: Error[] = [];
    const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
    await Promise.all([requested(client, server), requested(client, server)]);
    expect(server.received.some(Array.isArray)).toBe(false);
  },
});

const isMessage = (message: RawMessage): boolean =>
  message.jsonrpc === "2.0" && ("method" in message || "result" in message || "error" in message);

proves("stdio.server.only-messages", async (world) => {
  const peer = await world.serve({ tools: { echo, failing } });
  peer.sendText("this is no message\n\n{}\n[]\n\u0000\n");
  await peer.request("tools/call", { name: "failing" });
  await peer.request("no/such/method");
  await peer.settled();
  expect(peer.received.length).toBeGreaterThan(4);
  expect(peer.received.filter((message) => !isMessage(message))).toEqual([]);
});

proves("stdio.client.only-messages", async (world) => {
  const { client, server } = await world.connect({ roots: [], onError: () => {} });
  server.sendText("this is no message\n\n{}\n");
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  await outcome;
  await client.close();
  expect(server.received.filter((message) => !isMessage(message))).toEqual([]);
});

proves("stdio.client.no-responses", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ roots: [], onError: (error) => errors.push(error) });
  for (const method of ["ping", "roots/list", "no/such/method"]) {
    server.send({ jsonrpc: "2.0", id: method, method });
  }
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  await outcome;
  expect(server.received.filter(isResponse)).toEqual([]);
  expect(errors.length).toBe(3);
});

proves("stdio.client.malformed", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  server.sendText("Listening on port 3000\n");
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  await outcome;
  expect(errors).toMatchObject([{ code: "invalid_message" }]);
});

proves("stdio.credentials", async (world) => {
  const whose = tool({ call: (_, { principal }) => principal?.subject ?? "nobody" });
  const peer = await world.serve({ tools: { whose } });
  expect(textOf(await peer.request("tools/call", { name: "whose" }))).toBe("nobody");
});

proves("stdio.shutdown.client-closes", async (world) => {
  const { client, server } = await world.connect();
  expect(server.isClosed).toBe(false);
  await client.close();
  expect(server.isClosed).toBe(true);
});

/** A server on separate streams, like those of a process. */
function served(definition: Parameters<typeof createServer>[0]) {
  const input = new PassThrough();
  const output = new PassThrough();
  const messages: RawMessage[] = [];
  readLines(output, (line) => messages.push(JSON.parse(line) as RawMessage));
  return { input, messages, ended: serveStdio(createServer(definition), { input, output }) };
}

proves("stdio.shutdown.server-exits", async () => {
  const { input, ended } = served({ name: "s", version: "1" });
  input.end();
  await ended;
});

proves("stdio.shutdown.server-finishes", async (world) => {
  const slow = gate();
  const { input, messages, ended } = served({ name: "s", version: "1", tools: { slow: tool(slow) } });
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  if (!world.isModern) {
    const params = { protocolVersion: world.version, capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    send({ id: 0, method: "initialize", params });
    send({ method: "notifications/initialized" });
  }
  send({ id: 1, method: "tools/call", params: { name: "slow", ...paramsFor(world) } });
  await slow.entered;
  input.end();
  await turns();
  slow.open("done");
  await ended;
  expect(textOf(messages.find(({ id }) => id === 1)!)).toBe("done");
});

proves("stdio.shutdown.by-server", {
  async server(world) {
    const peer = await world.serve();
    await world.server.close();
    await peer.close();
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { outcome } = await requested(client, server);
    server.close();
    await expect(outcome).rejects.toMatchObject({ code: "closed" });
    await client.closed;
  },
});

/** A dialer of servers that are played one after another, as processes that are started. */
function restarting(world: World) {
  const answers = { "server/discover": () => discoverResult([world.version]) };
  const played = Array.from({ length: 3 }, () => stdioScripted(answers));
  let opened = 0;
  const dialer: TransportFactory = {
    kind: "stream",
    target: "a command",
    transient: true,
    open: () => played[opened++]!.transport,
  };
  return { dialer, servers: played.map(({ server }) => server), opened: () => opened };
}

proves("stdio.restart", async (world) => {
  const { dialer, servers, opened } = restarting(world);
  const [first, second] = servers;
  const client = await openClient(dialer, { revision: world.version, clock: world.clock });
  first!.close();
  await turns();
  const { request, outcome } = await requested(client, second!);
  second!.answer(request, gotPrompt);
  await outcome;
  expect(opened()).toBe(2);
  await client.close();
});

proves("stdio.restart.in-flight", async (world) => {
  const { dialer, servers } = restarting(world);
  const [first] = servers;
  const client = await openClient(dialer, { revision: world.version, clock: world.clock });
  const { outcome } = await requested(client, first!);
  first!.close();
  await expect(outcome).rejects.toMatchObject({ code: "closed", data: { safeToRepeat: true } });
  await client.close();
});

/** A transport that somebody else has made: it hands messages over as text. */
function textual(inner: Transport): Transport {
  return {
    start: (receiver) => inner.start({ ...receiver, message: (value) => receiver.message(structuredClone(value)) }),
    send: (message) => inner.send(message),
    close: () => inner.close(),
  };
}

proves("transports.custom", {
  async server(world) {
    await talk(world);
  },
  async client(world) {
    await talk(world);
  },
});

proves("transports.custom.same-rules", {
  async server(world) {
    const { client } = await talk(world);
    expect(client.server.revisionKind).toBe(world.isModern ? "modern" : "legacy");
  },
  async client(world) {
    const { sent } = await talk(world);
    const methods = sent.filter(isRequest).map(({ method }) => method);
    expect(methods).toEqual([world.isModern ? "server/discover" : "initialize", "tools/call"]);
  },
});

async function talk(world: World) {
  const sent: RawMessage[] = [];
  const [mine, theirs] = memoryPair();
  const server = createServer({ name: "s", version: "1", tools: { echo } });
  await server.attach(textual(theirs));
  const recorded: Transport = {
    ...mine,
    send: (message) => (sent.push(message as unknown as RawMessage), mine.send(message)),
  };
  const client = await connect(textual(recorded), { revision: world.version });
  expect(await client.callTool("echo", { a: 1 })).toBe('{"a":1}');
  await client.close();
  return { client, sent };
}

proves("transports.custom.byte-streams", {
  async server(world) {
    await overBytes(world);
  },
  async client(world) {
    const lines = await overBytes(world);
    expect(lines.map((line) => (JSON.parse(line) as RawMessage).method)).toEqual(["server/discover", "tools/call"]);
  },
});

async function overBytes(world: World): Promise<string[]> {
  const toServer = new PassThrough();
  const toClient = new PassThrough();
  const copy = new PassThrough();
  toServer.pipe(copy);
  const lines: string[] = [];
  readLines(copy, (line) => lines.push(line));
  const server = createServer({ name: "s", version: "1", tools: { echo } });
  await server.attach(streamTransport(toServer, toClient));
  const client = await connect(streamTransport(toClient, toServer), { revision: world.version });
  expect(await client.callTool("echo", { a: 1 })).toBe('{"a":1}');
  await client.close();
  return lines;
}
