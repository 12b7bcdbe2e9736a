import { PassThrough } from "node:stream";
import type { TransportFactory } from "../../../packages/mcparley/src/client/connect/transports.ts";
import { LocalError } from "../../../packages/mcparley/src/rpc/errors.ts";
import { type JsonRpcMessage, isRequest } from "../../../packages/mcparley/src/rpc/messages.ts";
import type { Receiver, Transport } from "../../../packages/mcparley/src/rpc/transport.ts";
import { streamTransport } from "../../../packages/mcparley/src/stdio/stream-transport.ts";
import type { SteppedClock } from "../stepped-clock.ts";
import { nameOfMessage } from "./http-world.ts";
import type { ScriptedServer } from "./scripted-server.ts";
import { Faults, type RequestFault, type World } from "./world.ts";

/** Milliseconds between two parts of a slow line. */
const partMs = 10_000;

/** Starts server processes in memory, each with a pipe for its input and one for its output. */
export class StdioWorld implements World {
  readonly faults = new Faults();
  readonly transports: TransportFactory;
  readonly #clock: SteppedClock;
  readonly #running = new Set<PipedProcess>();
  #server: ScriptedServer;
  #starts = 0;

  constructor(server: ScriptedServer, { name, clock }: { name: string; clock: SteppedClock }) {
    this.#clock = clock;
    this.#server = server;
    this.transports = { kind: "stream", target: name, open: () => this.#transport() };
  }

  get server(): ScriptedServer {
    return this.#server;
  }

  replace(server: ScriptedServer): void {
    this.#server = server;
    this.exit(0);
  }

  breakStreams(how: "reset" | "end"): void {
    this.exit(how === "reset" ? 1 : 0);
  }

  exit(code: number): void {
    for (const running of this.#running) running.exit(code);
  }

  open(): string[] {
    return [...this.#running].map(({ number }) => `process ${number}`);
  }

  #transport(): Transport {
    const child = new PipedProcess({
      number: ++this.#starts,
      // Each process has no memory of the one before.
      server: this.#server.restarted(),
      clock: this.#clock,
      faults: this.faults,
      onExit: () => void this.#running.delete(child),
    });
    const { faults } = this;
    const inner = streamTransport(child.output, child.input, { clock: this.#clock });
    return {
      network: "pipe",
      start: (receiver) => {
        const fault = faults.note("start");
        if (fault) throw new LocalError("unreachable", 'Cannot start "server".');
        this.#running.add(child);
        this.#server = child.server;
        return inner.start(child.watched(receiver));
      },
      send: (message) => inner.send(message),
      close: async () => {
        child.isClosing = true;
        await inner.close();
        child.exit(0);
      },
    };
  }
}

interface PipedInit {
  number: number;
  server: ScriptedServer;
  clock: SteppedClock;
  faults: Faults;
  onExit: () => void;
}

/** A process that reads lines and writes lines, as a child process does. */
class PipedProcess {
  readonly number: number;
  readonly server: ScriptedServer;
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  /** The client ends it, so its end is no error. */
  isClosing = false;
  readonly #init: PipedInit;
  #code: number | undefined;
  #unread = "";
  /** The parts of a slow line that are not written yet, and the lines after it. */
  #unwritten: string[] = [];
  #timer: unknown;

  constructor(init: PipedInit) {
    this.#init = init;
    this.number = init.number;
    this.server = init.server;
    this.server.standalone = (message) => this.#write(`${JSON.stringify(message)}\n`);
    this.input.on("data", (chunk: Buffer) => this.#read(chunk.toString()));
    this.input.once("end", () => this.exit(0));
    this.input.on("error", () => {});
  }

  exit(code: number): void {
    if (this.#code !== undefined) return;
    this.#code = code;
    this.#init.clock.peer.clearTimeout(this.#timer);
    this.#init.onExit();
    // The reader first reads the data that was written.
    this.output.end();
  }

  /** Reports the end of the process as the transport of child processes does. */
  watched(receiver: Receiver): Receiver {
    return {
      ...receiver,
      closed: (cause) => {
        const exited = new LocalError("exited", `The server exited with code ${this.#code}.`);
        receiver.closed(this.isClosing ? cause : exited);
      },
    };
  }

  #read(text: string): void {
    const lines = (this.#unread + text).split("\n");
    this.#unread = lines.pop() ?? "";
    for (const line of lines) this.#receive(JSON.parse(line) as JsonRpcMessage);
  }

  #receive(message: JsonRpcMessage): void {
    if (this.#code !== undefined) return;
    const fault = this.#init.faults.note(nameOfMessage(message));
    if (!fault) return this.server.receive(message, (answer) => this.#write(`${JSON.stringify(answer)}\n`));
    this.#strike(fault, message);
  }

  #strike(fault: RequestFault, message: JsonRpcMessage): void {
    const respond = (write: (line: string) => void): void =>
      this.server.receive(message, (answer) => {
        const line = `${JSON.stringify(answer)}\n`;
        const isReport = "method" in answer && isRequest(message) && message.method !== "subscriptions/listen";
        if (isReport) this.#write(line);
        else write(line);
      });
    switch (fault) {
      case "reset-before":
        return this.exit(1);
      case "reset-after":
        respond(() => {});
        return this.exit(1);
      case "graceful-end":
        respond(() => this.exit(0));
        return;
      case "reset-in-answer":
        return respond((line) => {
          this.#write(line.slice(0, line.length / 2));
          this.exit(1);
        });
      case "slow-body":
        return respond((line) => this.#slowly(line));
      default:
    }
  }

  #slowly(line: string): void {
    const third = Math.ceil(line.length / 3);
    this.#unwritten.push(line.slice(0, third), line.slice(third, 2 * third), line.slice(2 * third));
    if (this.#timer === undefined) this.#writeLater();
  }

  #writeLater(): void {
    this.#timer = this.#init.clock.peer.setTimeout(() => {
      this.#timer = undefined;
      this.output.write(this.#unwritten.shift() ?? "");
      if (this.#unwritten.length > 0) this.#writeLater();
    }, partMs);
  }

  #write(text: string): void {
    if (this.#code !== undefined || !this.output.writable) return;
    if (this.#unwritten.length > 0) this.#unwritten.push(text);
    else this.output.write(text);
  }
}
