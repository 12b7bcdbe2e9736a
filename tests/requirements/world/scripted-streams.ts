import { PassThrough } from "node:stream";
import { type Transport, memoryPair, streamTransport } from "../library.ts";
import { Inbox } from "./inbox.ts";
import { type Answers, type Scripted, makeScripted, receiver } from "./scripted.ts";
import { readLines } from "./stream-wires.ts";

export interface Played {
  /** What to connect to. */
  transport: Transport;
  server: Scripted;
}

const noHttp = (): never => {
  throw new Error("There are no HTTP requests here: leave the transport out of the requirement's.");
};

export function memoryScripted(answers: Answers): Played {
  const [mine, transport] = memoryPair();
  const inbox = new Inbox();
  let isClosed = false;
  const send = (value: unknown): void => void mine.send(value as Parameters<Transport["send"]>[0]);
  const { held, take } = receiver(inbox, answers, (id, result) => send({ jsonrpc: "2.0", id, result }));
  const each = (value: unknown): void => {
    for (const message of Array.isArray(value) ? value : [value]) take(message as never);
  };
  void mine.start({ message: each, malformed: () => {}, closed: () => void (isClosed = true) });
  const sendText = (): never => {
    throw new Error("There is no text in memory: leave the transport out of the requirement's.");
  };
  const way = {
    answered: (_: unknown, response: unknown) => send(response),
    send,
    sendText,
    httpOf: noHttp,
    sent: [],
    get isClosed() {
      return isClosed;
    },
    close: () => void mine.close(),
  };
  return { transport, server: makeScripted(way, inbox, held) };
}

/** A scripted server at the other end of two streams, which writes lines of text. */
export function stdioScripted(answers: Answers): Played {
  const toClient = new PassThrough();
  const toServer = new PassThrough();
  const inbox = new Inbox();
  const sendText = (text: string): void => void toClient.write(text);
  const send = (value: unknown): void => sendText(`${JSON.stringify(value)}\n`);
  const { held, take } = receiver(inbox, answers, (id, result) => send({ jsonrpc: "2.0", id, result }));
  readLines(toServer, (line) => {
    const value: unknown = JSON.parse(line);
    for (const message of Array.isArray(value) ? value : [value]) take(message as never);
  });
  const way = {
    answered: (_: unknown, response: unknown) => send(response),
    send,
    sendText,
    httpOf: noHttp,
    sent: [],
    get isClosed() {
      return toServer.writableFinished;
    },
    close: () => void toClient.end(),
  };
  return { transport: streamTransport(toClient, toServer), server: makeScripted(way, inbox, held) };
}
