import { PassThrough, Writable } from "node:stream";
import { type InProcessServer, type ConnectTarget, connect } from "mcparley/client";
import { openUrl } from "mcparley/node";
import type { CommandIo } from "../../terminal/io.ts";
import { runClientCommand } from "../run.ts";

export interface FakeOptions {
  /** The server that every target leads to. */
  server?: InProcessServer;
  /** Whether all three streams are terminals, 80 columns wide. */
  terminal?: boolean;
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string | Uint8Array;
  /** Replaces the recorded stdout. */
  stdout?: Writable;
  /** Answers, typed one by one when a question is shown. */
  answers?: string[];
  platform?: NodeJS.Platform;
  /** Default: calls at once, so that a question takes keys as soon as it is written. */
  after?: CommandIo["schedule"];
  /** Replaces the connection to `server`. */
  connect?: CommandIo["connect"];
}

/** A fake environment for a command. It records the command's effects. */
export interface FakeIo extends CommandIo {
  readonly stdin: PassThrough;
  readonly out: () => string;
  readonly bytes: () => Buffer;
  readonly err: () => string;
  readonly targets: ConnectTarget[];
  readonly launched: string[][];
  /** The answers that no question took. */
  readonly unusedAnswers: string[];
  pressCtrlC(): void;
  terminate(): void;
  /** Resolves when `text` has been written to stdout or stderr. */
  seen(text: string): Promise<void>;
}

/** A home folder that does not exist. */
const noHome = "/no/such/home";

export function fakeIo(options: FakeOptions = {}): FakeIo {
  const { terminal = false, answers = [] } = options;
  const stdin = new PassThrough();
  if (options.stdin !== undefined) stdin.end(options.stdin);
  const watchers = new Set<() => void>();
  const notifyWatchers = (): void => watchers.forEach((watcher) => watcher());
  const stdout = collect(notifyWatchers);
  const stderr = collect((text) => {
    notifyWatchers();
    if (!/[>?] $/.test(text)) return;
    const answer = answers.shift();
    if (answer === undefined) return;
    setImmediate(() => (answer === "^D" ? stdin.end() : stdin.write(`${answer}\n`)));
  });
  const interrupts = signalSource();
  const terminations = signalSource();
  const targets: ConnectTarget[] = [];
  const launched: string[][] = [];
  return {
    stdin,
    stdout: options.stdout ?? stdout.stream,
    stderr: stderr.stream,
    // The configurations of the user who runs the tests are not read.
    env: options.env ?? { HOME: noHome },
    cwd: options.cwd ?? "/",
    platform: options.platform ?? "linux",
    isTerminal: { stdin: terminal, stdout: terminal, stderr: terminal },
    columns: () => (terminal ? 80 : undefined),
    onInterrupt: interrupts.listen,
    onTerminate: terminations.listen,
    schedule: options.after ?? callAtOnce,
    openUrl: (url) =>
      openUrl(url, {
        platform: options.platform ?? "linux",
        env: { DISPLAY: ":0", ...options.env },
        launch: async (command, args) => void launched.push([command, ...args]),
      }),
    connect: (options.connect ?? connectTo(options.server, targets)) as CommandIo["connect"],
    out: () => stdout.bytes().toString(),
    bytes: stdout.bytes,
    err: () => stderr.bytes().toString(),
    targets,
    launched,
    unusedAnswers: answers,
    pressCtrlC: interrupts.emit,
    terminate: terminations.emit,
    seen: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!`${stdout.bytes().toString()}\n${stderr.bytes().toString()}`.includes(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

/** Returns a signal of the process that a test emits. */
function signalSource(): { listen(this: void, listener: () => void): () => void; emit(this: void): void } {
  const listeners = new Set<() => void>();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    emit: () => listeners.forEach((listener) => listener()),
  };
}

function callAtOnce(_ms: number, run: () => void): () => void {
  run();
  return () => {};
}

function connectTo(server: InProcessServer | undefined, targets: ConnectTarget[]) {
  return (target: ConnectTarget, options?: Parameters<typeof connect>[1]): Promise<unknown> => {
    targets.push(target);
    return connect(server ?? target, options);
  };
}

function collect(onWrite: (text: string) => void): { stream: Writable; bytes: () => Buffer } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      chunks.push(chunk);
      callback();
      onWrite(chunk.toString());
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}

/** Runs a command line and returns its outcome. A string is split at spaces, without quoting. */
export async function runWith(options: FakeOptions, line: string | string[]): Promise<{ code: number; io: FakeIo }> {
  const io = fakeIo(options);
  const [name = "", ...argv] = typeof line === "string" ? line.split(" ") : line;
  return { code: await runClientCommand(name, argv, io), io };
}
