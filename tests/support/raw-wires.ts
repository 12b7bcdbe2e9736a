import { PassThrough } from "node:stream";
import type { RequestId } from "../../packages/mcparley/src/rpc/messages.ts";
import { memoryPair } from "../../packages/mcparley/src/rpc/memory-transport.ts";
import type { Transport } from "../../packages/mcparley/src/rpc/transport.ts";
import type { Server } from "../../packages/mcparley/src/server/create-server.ts";
import { serveStdio } from "../../packages/mcparley/src/stdio/serve-stdio.ts";
import type { Inbox } from "./raw-message.ts";

/** The status and headers of an HTTP response that carried a message. */
export interface Carried {
  status: number;
  headers: Headers;
  /** `application/json`, `text/event-stream`, or empty without a body. */
  type: string;
}

/** Carries the messages of a raw peer to a server over one transport. Messages of the server go to an inbox. */
export interface Wire {
  /** Sends any value as one message. Headers replace or add to those of the request over HTTP. */
  send(value: unknown, headers?: Record<string, string>): void;
  sendText(text: string): void;
  /** Cancels a request as the revision and the transport define it. */
  cancel(id: RequestId, reason: string | undefined): void;
  /** Called once a session is open. */
  opened(version: string): void;
  carried(id: RequestId | undefined): Carried | undefined;
  close(): Promise<void>;
}

/** An object that serves a transport, such as a server. */
export interface AttachableServer {
  attach(transport: Transport): Promise<unknown>;
}

/** A wire to a server that is attached in memory. */
export async function memoryWire(server: AttachableServer, inbox: Inbox): Promise<Wire> {
  const [mine, theirs] = memoryPair();
  await mine.start({ message: (value) => inbox.put(value), malformed: () => {}, closed: () => {} });
  await server.attach(theirs);
  const send = (value: unknown): void => void mine.send(value as Parameters<Transport["send"]>[0]);
  const sendText = (): never => {
    throw new Error("In memory there is no text. Exclude this transport from the requirement.");
  };
  return { ...streamWire(send), sendText, close: () => mine.close() };
}

/** A wire to a server on two streams of this process, in place of stdin and stdout. */
export function stdioWire(server: Server, inbox: Inbox): Promise<Wire> {
  const input = new PassThrough();
  const output = new PassThrough();
  const served = serveStdio(server, { input, output });
  readLines(output, (line) => inbox.put(JSON.parse(line)));
  const sendText = (text: string): void => void input.write(text);
  const send = (value: unknown): void => sendText(`${JSON.stringify(value)}\n`);
  const close = async (): Promise<void> => {
    input.end();
    await served.close();
  };
  return Promise.resolve({ ...streamWire(send), sendText, close });
}

/** Calls `take` with each line that a stream delivers. */
export function readLines(stream: PassThrough, take: (line: string) => void): void {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop()!;
    for (const line of lines) take(line);
  });
}

function streamWire(send: Wire["send"]): Omit<Wire, "sendText" | "close"> {
  return {
    send,
    cancel: (requestId, reason) => send(cancelled(requestId, reason)),
    opened: () => {},
    carried: () => undefined,
  };
}

/** Makes the notification that cancels a request. */
export function cancelled(requestId: RequestId, reason: string | undefined): object {
  const params = { requestId, ...(reason !== undefined && { reason }) };
  return { jsonrpc: "2.0", method: "notifications/cancelled", params };
}
