import { PassThrough } from "node:stream";
import { type Server, type Transport, memoryPair, serveStdio } from "../library.ts";
import type { Inbox } from "./inbox.ts";
import type { Wire } from "./peer.ts";

/** A wire to a server that is attached in memory. */
export async function memoryWire(server: Server, inbox: Inbox): Promise<Wire> {
  const [mine, theirs] = memoryPair();
  await mine.start({ message: (value) => inbox.put(value), malformed: () => {}, closed: () => {} });
  await server.attach(theirs);
  const send = (value: unknown): void => void mine.send(value as Parameters<Transport["send"]>[0]);
  const sendText = (): void => {
    throw new Error("There is no text in memory: leave the transport out of the requirement's.");
  };
  return { ...onStream(send), sendText, close: () => mine.close() };
}

/** A wire to a server on two streams of this process, as if they were stdin and stdout. */
export async function stdioWire(server: Server, inbox: Inbox): Promise<Wire> {
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
  return { ...onStream(send), sendText, close };
}

/** Calls `take` with each line that a stream brings. */
export function readLines(stream: PassThrough, take: (line: string) => void): void {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop()!;
    for (const line of lines) take(line);
  });
}

function onStream(send: Wire["send"]): Omit<Wire, "sendText" | "close"> {
  return {
    send,
    cancel: (requestId, reason) =>
      send({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId, ...(reason !== undefined && { reason }) },
      }),
    opened: () => {},
    carried: () => undefined,
  };
}
