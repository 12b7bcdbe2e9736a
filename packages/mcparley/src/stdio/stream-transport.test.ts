import { once } from "node:events";
import net from "node:net";
import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { openClient } from "../client/open-client.ts";
import type { LocalError } from "../rpc/errors.ts";
import { Prepared } from "../rpc/messages.ts";
import type { Receiver, Transport } from "../rpc/transport.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { streamTransport } from "./stream-transport.ts";

interface Recorder extends Receiver {
  messages: unknown[];
  problems: Error[];
  lost: unknown[];
  /** Settles when the transport is closed. */
  over: Promise<Error | undefined>;
}

function recorder(extra: Partial<Receiver> = {}): Recorder {
  let close!: (cause: Error | undefined) => void;
  const over = new Promise<Error | undefined>((resolve) => {
    close = resolve;
  });
  const messages: unknown[] = [];
  const problems: Error[] = [];
  const lost: unknown[] = [];
  return {
    messages,
    problems,
    lost,
    over,
    message: (value) => messages.push(value),
    malformed: (error) => problems.push(error),
    failed: (id) => lost.push(id),
    closed: close,
    ...extra,
  };
}

interface Started {
  transport: Transport;
  seen: Recorder;
  input: PassThrough;
  written: string[];
}

function started(extra: Partial<Receiver> = {}, options: Parameters<typeof streamTransport>[2] = {}): Started {
  const input = new PassThrough();
  const written: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  const transport = streamTransport(input, output, options);
  const seen = recorder(extra);
  void transport.start(seen);
  return { transport, seen, input, written };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("delivers each line in order and reports those that are not JSON", async () => {
  const { seen, input } = started();
  input.end('{"a":1}\nstarted on port 3\n[{"b":2}]\n');
  expect(await seen.over).toBeUndefined();
  expect(seen.messages).toEqual([{ a: 1 }, [{ b: 2 }]]);
  expect(seen.problems.map(({ message }) => message)).toEqual([
    'A line is not JSON: "started on port 3". Each line must be one JSON-RPC message; logs belong on stderr.',
  ]);
});

test("writes all messages of one turn with one write, in order, and a prepared result unchanged", async () => {
  const { transport, written } = started();
  for (let id = 0; id < 3; id++) void transport.send({ jsonrpc: "2.0", id, result: new Prepared({ n: id }) });
  await Promise.resolve().then(() => transport.send([{ jsonrpc: "2.0", method: "x" }]));
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual([
    '{"jsonrpc":"2.0","id":0,"result":{"n":0}}\n{"jsonrpc":"2.0","id":1,"result":{"n":1}}\n' +
      '{"jsonrpc":"2.0","id":2,"result":{"n":2}}\n[{"jsonrpc":"2.0","method":"x"}]\n',
  ]);
});

test("a line over the limit is dropped and reported once with its size, and its request fails", async () => {
  const { seen, input } = started({}, { maxLineBytes: 100 });
  input.write(`{"jsonrpc":"2.0","id":"a\\"b","result":{"x":"${"y".repeat(200)}"}}\n`);
  input.end('{"after":1}\n');
  await seen.over;
  expect(seen.messages).toEqual([{ after: 1 }]);
  expect(seen.lost).toEqual(['a"b']);
  expect(seen.problems.map((error) => [(error as LocalError).code, error.message])).toEqual([
    ["too_large", "A line of 247 bytes is over the limit of 100 bytes and was dropped. Raise maxLineBytes."],
  ]);
});

test("a request over the limit fails no request of this side with the same id", async () => {
  const { seen, input } = started({}, { maxLineBytes: 100 });
  input.end(`{"jsonrpc":"2.0","id":1,"method":"${"y".repeat(200)}"}\n`);
  await seen.over;
  expect(seen.lost).toEqual([]);
  expect(seen.problems).toHaveLength(1);
});

test("reports an incomplete line at the end of input, and accepts a complete message without line ending", async () => {
  const half = started();
  half.input.end('{"a":1}\n{"jsonrpc":"2.0","id":1,"resu');
  await half.seen.over;
  expect(half.seen.problems[0]?.message).toContain("The input ended inside a line");
  const whole = started();
  whole.input.end('{"a":1}\n{"b":2}');
  await whole.seen.over;
  expect(whole.seen.messages).toEqual([{ a: 1 }, { b: 2 }]);
  expect(whole.seen.problems).toEqual([]);
});

test("reports the end of input to a receiver that still sends responses, and closes when the receiver does", async () => {
  let ended = 0;
  const { transport, seen, input, written } = started({ ended: () => void ended++ });
  input.end();
  await once(input, "end");
  expect(ended).toBe(1);
  void transport.send({ jsonrpc: "2.0", id: 1, result: {} });
  await transport.close();
  expect(written.join("")).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  expect(await seen.over).toBeUndefined();
  await expect(transport.send({ jsonrpc: "2.0", method: "late" })).rejects.toMatchObject({ code: "closed" });
});

test("a message that JSON cannot represent is refused and nothing is written", async () => {
  const { transport, written } = started();
  await expect(transport.send({ jsonrpc: "2.0", id: 1, result: { big: [1n] } })).rejects.toThrow(
    '"result.big[0]" is a bigint, which JSON cannot represent. Use a plain value in its place.',
  );
  await turn();
  expect(written).toEqual([]);
});

test("a write that fails closes the transport with the reason", async () => {
  const input = new PassThrough();
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("x"), { code: "EPIPE" })),
  });
  const transport = streamTransport(input, output);
  const seen = recorder();
  void transport.start(seen);
  void transport.send({ jsonrpc: "2.0", method: "x" });
  expect(await seen.over).toMatchObject({ code: "closed", message: "The connection failed: EPIPE." });
  await expect(transport.send({ jsonrpc: "2.0", method: "y" })).rejects.toMatchObject({ code: "closed" });
  await transport.close();
});

test("a socket that is reset by its peer closes the transport", async () => {
  const { ours, theirs, server } = await socketPair();
  const seen = recorder();
  const transport = streamTransport(ours, ours);
  void transport.start(seen);
  theirs.resetAndDestroy();
  expect(await seen.over).toMatchObject({ code: "closed" });
  server.close();
});

test("sending waits while the peer does not read, and continues when it does", async () => {
  const { ours, theirs, server } = await socketPair();
  const transport = streamTransport(ours, ours);
  void transport.start(recorder());
  const big = { text: "x".repeat(1_048_576) };
  // More than the buffers of the system for a socket.
  const count = 32;
  const first = Array.from({ length: count }, (_, index) =>
    transport.send({ jsonrpc: "2.0", id: index % 10, result: big }),
  );
  const waiting = first.filter((sent) => sent instanceof Promise);
  expect(waiting.length).toBeGreaterThan(0);
  let received = 0;
  theirs.on("data", (chunk: Buffer) => (received += chunk.length));
  await Promise.all(waiting);
  const end = once(theirs, "end");
  await transport.close();
  await end;
  const line = JSON.stringify({ jsonrpc: "2.0", id: 0, result: big });
  expect(received).toBe(count * (line.length + 1));
  theirs.destroy();
  server.close();
});

test("a peer that leaves more bytes unread than the limit is disconnected, and the error names the option", async () => {
  const { ours, theirs, server } = await socketPair();
  const transport = streamTransport(ours, ours, { maxUnreadBytes: 4_000_000 });
  const seen = recorder();
  void transport.start(seen);
  const sends: Promise<void>[] = [];
  for (let id = 0; id < 40; id++) {
    sends.push(Promise.resolve(transport.send({ jsonrpc: "2.0", id, result: { text: "x".repeat(1_000_000) } })));
  }
  const results = await Promise.allSettled(sends);
  expect(results.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
  expect((await seen.over)?.message).toMatch(/does not read. \d+ bytes are unread, and maxUnreadBytes is 4000000/);
  theirs.destroy();
  server.close();
});

async function socketPair(): Promise<{ ours: net.Socket; theirs: net.Socket; server: net.Server }> {
  const server = net.createServer({ allowHalfOpen: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  const theirs = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const [ours] = (await once(server, "connection")) as [net.Socket];
  theirs.on("error", () => {});
  return { ours, theirs, server };
}

test("a timeout names the first line of the server that is not JSON", async () => {
  const [input, clock] = [new PassThrough(), fakeClock()];
  const problems: string[] = [];
  const transports = {
    kind: "stream",
    target: "test",
    identity: "test of stray lines",
    once: true,
    open: () => streamTransport(input, new PassThrough().resume()),
  } as const;
  const connecting = openClient(transports, { clock, onError: ({ message }) => void problems.push(message) });
  connecting.catch(() => {});
  input.write("Listening on port 3000\nReady\n");
  await expect.poll(() => problems.length).toBe(2);
  await clock.advance(60_000);
  await expect(connecting).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining(
      'The server sent an invalid message: A line is not JSON: "Listening on port 3000".',
    ),
  });
});

test.each([
  ["a byte order mark before the first message", '\uFEFF{"a":1}\n{"a":2}\n'],
  ["a byte order mark before each message", '\uFEFF{"a":1}\r\n\uFEFF{"a":2}\r\n'],
  ["a byte order mark before the last message, without a line end", '{"a":1}\n\uFEFF{"a":2}'],
  ["lines of blanks", ' \n\t\t\n{"a":1}\n \t \r\n\r\n{"a":2}\n  \n'],
  ["lines of a byte order mark", '\uFEFF\n{"a":1}\n\uFEFF \r\n{"a":2}\n\uFEFF'],
  ["blanks at the end, without a line end", '{"a":1}\n{"a":2}\n \t '],
])("the messages are read, and nothing is reported, with %s", async (_, text) => {
  const { seen, input } = started({ ended() {} });
  for (const byte of Buffer.from(text)) input.write(Buffer.of(byte));
  input.end();
  await once(input, "end");
  expect(seen.messages).toEqual([{ a: 1 }, { a: 2 }]);
  expect(seen.problems).toEqual([]);
});
