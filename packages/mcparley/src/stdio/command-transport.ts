import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { normalizeSpawnCommand } from "tinyexec";
import type { CommandTarget, ProcessListener, TransportFactory } from "../client/connect/transports.ts";
import { settlesWithin, routineEnd } from "../rpc/abort.ts";
import { Backoff } from "../rpc/backoff.ts";
import { type Clock, systemClock, wakefulClock } from "../rpc/clock.ts";
import { LocalError } from "../rpc/errors.ts";
import type { JsonRpcMessage, RequestId } from "../rpc/messages.ts";
import { redact } from "../rpc/redact.ts";
import type { Envelope, Receiver, Transport } from "../rpc/transport.ts";
import { type Exit, childEnv, exitedError, listenerFor, reporting, spawnError, stderrTail } from "./child-process.ts";
import { type EndBounds, defaultBounds, endProcess, endWithThisProcess } from "./end-process.ts";
import { DEFAULT_MAX_UNREAD_BYTES, LineWriter } from "./line-writer.ts";
import { LineLimit, LineReader, jsonLines } from "./lines.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Creates transports that start the server of a command. Each transport starts a separate process. `bounds` limit the time
 * to end it, and `clock` times the delays of restarts; tests replace both.
 */
export function commandTransports(
  target: CommandTarget,
  bounds: EndBounds = defaultBounds,
  clock: Clock = wakefulClock,
): TransportFactory {
  const { command, args = [], cwd = process.cwd(), env } = target;
  if (typeof command !== "string" || command === "") {
    throw new LocalError(
      "invalid_target",
      `"command" must be the name or path of a program; got ${JSON.stringify(command)}.`,
    );
  }
  if (!Array.isArray(args) || args.some((arg) => typeof arg !== "string")) {
    throw new LocalError("invalid_target", `"args" must be an array of strings; got ${redact(JSON.stringify(args))}.`);
  }
  const restarts = new Restarts(clock);
  return {
    kind: "stream",
    target: redact([command, ...args].join(" ")),
    identity: JSON.stringify([command, args, cwd, Object.entries(childEnv(env)).map(String).toSorted()]),
    open: () => new CommandTransport(target, bounds, restarts),
  };
}

/** Milliseconds to read the remaining output of a process after its exit, because its children can keep the pipes open. */
const DRAIN_MS = 500;

class CommandTransport implements Transport {
  readonly #target: CommandTarget;
  readonly #bounds: EndBounds;
  readonly #restarts: Restarts;
  readonly #limit: LineLimit;
  #child: Child | undefined;
  #writer: LineWriter | undefined;
  #receiver: Receiver | undefined;
  #tail: () => string = () => "";
  #exit: Exit | undefined;
  #exitEvent: Promise<void> = Promise.resolve();
  /** Settles when all output of the process has been read. */
  #outputEnd: Promise<void> = Promise.resolve();
  #ending: Promise<void> | undefined;
  /** Whether the process sent a message. */
  #hasSpoken = false;
  #isClosing = false;
  #isClosed = false;

  constructor(target: CommandTarget, bounds: EndBounds, restarts: Restarts) {
    this.#target = target;
    this.#bounds = bounds;
    this.#restarts = restarts;
    this.#limit = new LineLimit(target.maxLineBytes);
  }

  get network(): "pipe" {
    return "pipe";
  }

  async start(receiver: Receiver): Promise<void> {
    await this.#restarts.wait()?.catch(() => {});
    if (this.#isClosing) throw new LocalError("closed", "The transport was closed before it was started.");
    this.#receiver = receiver;
    const listener = listenerFor(this.#target.onStart, (error) => receiver.malformed(error));
    const child = this.#spawn(listener);
    this.#restarts.noteStart();
    this.#child = child;
    this.#exitEvent = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#exit = { code, signal };
        resolve();
      });
      child.once("error", () => resolve());
    });
    this.#outputEnd = new Promise((resolve) => child.once("close", () => resolve()));
    this.#connect(child, receiver);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.on("error", (error) => {
        // Later errors, for example of a failed signal, are ignored; the exit event follows.
        this.#isClosed ||= child.pid === undefined;
        reject(spawnError(this.#target, error));
      });
    });
    this.#watch(child, listener);
  }

  send(message: JsonRpcMessage | JsonRpcMessage[], envelope?: Envelope): void | Promise<void> {
    this.#limit.noteSent(message, envelope);
    if (this.#writer) return this.#writer.send(message);
    return Promise.reject(new LocalError("closed", "The transport is not started."));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (!this.#child) this.#restarts.cancel();
    await this.#end();
  }

  /** Starts the program. The listener is called before this function returns, so that no event can come between. */
  #spawn(listener: Required<ProcessListener>): Child {
    const { command, args = [], cwd, env } = this.#target;
    try {
      const spawnCommand = normalizeSpawnCommand(command, args, {
        ...(cwd === undefined ? {} : { cwd }),
        env: childEnv(env),
        stdio: ["pipe", "pipe", "pipe"],
        // A separate process group, so that its children can be ended with it, and Ctrl+C does not reach it.
        detached: process.platform !== "win32",
        windowsHide: true,
      });
      const child = spawn(spawnCommand.command, spawnCommand.args, spawnCommand.options) as Child;
      if (child.pid === undefined) listener.ended();
      else listener.started(child.pid);
      return child;
    } catch (error) {
      listener.ended();
      throw spawnError(this.#target, error as NodeJS.ErrnoException);
    }
  }

  /** Reads the output of the process, and prepares to write its input. */
  #connect(child: Child, receiver: Receiver): void {
    const { stderr = "ignore", onReceived } = this.#target;
    this.#tail = stderrTail(child.stderr, stderr, (error) => receiver.malformed(error));
    this.#writer = new LineWriter(child.stdin, DEFAULT_MAX_UNREAD_BYTES, () => void this.#end());
    const messages = {
      message: (value: unknown): void => {
        this.#hasSpoken = true;
        receiver.message(value);
      },
      malformed: (error: Error): void => receiver.malformed(error),
      failed: (id: RequestId, error: Error): void => receiver.failed?.(id, error),
    };
    const reader = new LineReader(this.#limit, {
      ...jsonLines(messages, this.#limit, () => !this.#isClosed),
      ...(onReceived && {
        onPart: (bytes: number): unknown =>
          reporting(() => onReceived({ bytes, total: undefined }), messages.malformed),
      }),
    });
    child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
    child.stdout.once("end", () => reader.end());
    child.stdout.on("error", () => {});
    // A server that has closed its input is ended. Its exit code and stderr explain the reason.
    child.stdin.on("error", () => void this.#end());
  }

  /** Ends the transport with its process, and the process with this one. */
  #watch(child: Child, listener: Required<ProcessListener>): void {
    if (child.pid === undefined) return;
    const forget = endWithThisProcess(child.pid);
    // A server that closes its stdout without exiting is ended.
    child.stdout.once("close", () => void this.#end());
    void this.#exitEvent
      .then(() => settlesWithin(this.#outputEnd, DRAIN_MS, systemClock))
      .then(() => this.#end())
      .then(forget)
      .then(listener.ended);
  }

  /** Ends the process if it still runs, and reports the end once. */
  #end(): Promise<void> {
    this.#ending ??= this.#endOnce();
    return this.#ending;
  }

  async #endOnce(): Promise<void> {
    const child = this.#child;
    if (!child || child.pid === undefined) return;
    if (this.#isClosing) await settlesWithin(this.#writer?.flush() ?? this.#exitEvent, this.#bounds.exit, systemClock);
    this.#writer?.end(new LocalError("closed", "The connection to the server is closed."));
    child.stdin.end();
    await endProcess(child, this.#exitEvent, this.#bounds);
    await settlesWithin(this.#outputEnd, DRAIN_MS, systemClock);
    child.stdout.destroy();
    child.stderr.destroy();
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isClosing) {
      this.#receiver?.closed();
      return;
    }
    const exit = this.#exit ?? { code: null, signal: "SIGKILL" };
    const failureNote = this.#restarts.noteEnd();
    const processOutput = { stderr: this.#tail(), failureNote, hasSpoken: this.#hasSpoken };
    this.#receiver?.closed(exitedError(this.#target.command, exit, processOutput));
  }
}

/** Milliseconds after which a process has started successfully, so that earlier failures no longer count. */
const RECOVERED_MS = 30_000;

/**
 * Delays the starts of a program whose process ended soon after each of its last starts. The first restart is immediate, so
 * that a single crash delays no call.
 */
export class Restarts {
  readonly #clock: Clock;
  #cancelling = new AbortController();
  #backoff: Backoff;
  #startedAt = 0;
  #failures = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#backoff = new Backoff(clock, this.#cancelling.signal);
  }

  /** Returns undefined if the program can be started now, otherwise a promise that resolves after the delay. */
  wait(): Promise<void> | undefined {
    return this.#failures > 1 ? this.#backoff.wait() : undefined;
  }

  /** Rejects all waits. */
  cancel(): void {
    this.#cancelling.abort(routineEnd);
    this.#cancelling = new AbortController();
    this.#backoff = new Backoff(this.#clock, this.#cancelling.signal);
  }

  noteStart(): void {
    this.#startedAt = this.#clock.now();
  }

  /** Records that the process ended by itself. Returns a sentence for its error, which is empty after the first failure. */
  noteEnd(): string {
    if (this.#clock.now() - this.#startedAt >= RECOVERED_MS) {
      this.#failures = 0;
      this.#backoff.reset();
    }
    this.#failures++;
    if (this.#failures === 1) return "";
    return ` It ended soon after each of its last ${this.#failures} starts, so the next start is delayed.`;
  }
}
