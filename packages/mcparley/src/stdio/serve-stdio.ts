import { type Readable, Writable } from "node:stream";
import { systemClock } from "../rpc/clock.ts";
import { LocalError } from "../rpc/errors.ts";
import { explainErrors } from "../server/checks/check-definition.ts";
import { checkNames } from "../server/checks/known-members.ts";
import { type Server, attachBeforeConversion } from "../server/create-server.ts";
import type { Principal } from "../server/core/context.ts";
import { StreamTransport, type StreamTransportOptions } from "./stream-transport.ts";

/** Options of `serveStdio`. */
export interface ServeStdioOptions extends Omit<StreamTransportOptions, "keepOutput"> {
  /**
   * Stream to read instead of stdin. With `input` or `output`, the signals, the exit and stdout of the process are
   * unchanged.
   */
  input?: Readable;
  /** Stream to write instead of stdout. */
  output?: Writable;
  /**
   * The caller of all requests. Its scopes decide which definitions the client sees. `localUser` of `mcparley/server` has all
   * scopes. Default: none, so definitions with `scopes` are hidden, and a warning names them.
   */
  principal?: Principal;
  /** Milliseconds from the end of the input until calls in flight are cancelled. Default: 30,000. */
  drainTimeout?: number;
  /** Milliseconds after the end of serving until the process is forced to exit; false disables this. Default: 5,000. */
  exitTimeout?: number | false;
  /** Milliseconds between checks that the parent process is alive; false disables the checks. Default: 5,000. */
  parentCheckInterval?: number | false;
}

const optionMembers =
  "input:object output:object principal drainTimeout:time exitTimeout:time|false parentCheckInterval:time|false maxLineBytes:count=maxLine maxUnreadBytes:count closeTimeout:time clock:object";

/** A server on stdio. The promise settles when serving has ended. */
export interface RunningStdioServer extends Promise<void> {
  /** Cancels the calls in flight, flushes the output, and ends. Settles when serving has ended. */
  close(): Promise<void>;
}

/**
 * Serves one client on stdin and stdout, in any revision.
 *
 * Serving ends when the input has ended and the calls in flight are answered, when the client closes the output, when the
 * parent process ends, or on SIGINT or SIGTERM. The promise then settles, and the process exits if nothing else keeps it
 * alive. stdout carries only the protocol: `console.log` and all other output is written to stderr.
 *
 * @example
 * ```ts
 * import { createServer, tool } from "mcparley/server";
 * import { serveStdio } from "mcparley/stdio";
 *
 * const hello = tool({ description: "Greets.", call: () => "Hello" });
 * await serveStdio(createServer({ name: "hello", version: "1.0.0", tools: { hello } }));
 * ```
 */
export function serveStdio(
  server: Pick<Server<unknown, unknown, unknown>, "attach">,
  options: ServeStdioOptions = {},
): RunningStdioServer {
  if (typeof Object(server).attach !== "function")
    throw new LocalError("invalid_target", "serveStdio needs a server. Pass the return value of createServer.");
  explainErrors("server on stdio", () => checkNames(optionMembers, options, "options"));
  const ownsProcess = options.input === undefined && options.output === undefined;
  const input = options.input ?? process.stdin;
  const output = options.output ?? (ownsProcess ? protocolStdout() : process.stdout);
  const keepOutput = output === process.stdout;
  const transport = new StreamTransport(input, output, { ...options, keepOutput });
  const attached = attachBeforeConversion(server, transport, options.principal);

  const close = async (): Promise<void> => {
    const { connection } = await attached;
    // Not awaited, because a handler that ignores its signal must not keep the process alive.
    void connection.close();
    await transport.end;
  };
  const waitForEnd = async (): Promise<void> => {
    await Promise.race([transport.inputEnd.then(() => drain(close, transport, options)), transport.end]);
    await transport.end;
  };
  const serve = async (): Promise<void> => {
    const stop = ownsProcess ? watchProcess(() => void close(), options) : () => {};
    try {
      const { conversion } = await attached;
      // A definition that is invalid ends the server at once.
      conversion?.catch(() => void close());
      await Promise.all([waitForEnd(), conversion]);
    } finally {
      stop();
    }
    if (ownsProcess && options.exitTimeout !== false) exitAfter(options.exitTimeout ?? 5_000);
  };
  return Object.assign(serve(), { close });
}

/** Waits for the calls in flight, and cancels them after `drainTimeout`. */
async function drain(
  close: () => Promise<void>,
  transport: StreamTransport,
  options: ServeStdioOptions,
): Promise<void> {
  const { clock = systemClock, drainTimeout = 30_000 } = options;
  const cancel = (): void => void close();
  const timer = clock.setTimeout(cancel, drainTimeout);
  // The event loop is empty, so no further call can be answered.
  process.once("beforeExit", cancel);
  await transport.end;
  process.off("beforeExit", cancel);
  clock.clearTimeout(timer);
}

/**
 * Calls `end` when the parent process has ended, and for the first SIGINT or SIGTERM; a second signal ends the process. The
 * returned function stops this.
 */
function watchProcess(end: () => void, options: ServeStdioOptions): () => void {
  const { parentCheckInterval = 5_000 } = options;
  const stopParent = parentCheckInterval === false ? () => {} : watchParent(end, parentCheckInterval);
  const stopSignals = (): void => {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  };
  const onSignal = (): void => {
    stopSignals();
    end();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (process.stdin.isTTY) {
    process.stderr.write(
      "This is an MCP server on stdio. An MCP client starts it and sends it JSON-RPC. Press Ctrl+C to stop it.\n",
    );
  }
  return () => {
    stopSignals();
    stopParent();
  };
}

/** Calls `onDeath` once when the parent process has ended. The returned function stops the checks. */
function watchParent(onDeath: () => void, intervalMs: number): () => void {
  const parent = process.ppid;
  // Process 1 adopts orphans and never ends; 0 is a parent outside of this container.
  if (parent <= 1) return () => {};
  const timer = setInterval(() => {
    if (process.ppid === parent && isAlive(parent)) return;
    clearInterval(timer);
    onDeath();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Needed on Windows, where `process.ppid` does not change when the parent ends. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Exits if something still keeps the process alive after `ms` milliseconds. The timer itself does not. */
function exitAfter(ms: number): void {
  const timer = setTimeout(() => {
    const reasons = [...new Set(process.getActiveResourcesInfo())].join(", ");
    const fact = `mcparley: the connection ended ${ms} ms ago and something keeps this process alive (${reasons}): exiting.`;
    process.stderr.write(`${fact} Close it when serveStdio settles, or set exitTimeout.\n`);
    process.exit();
  }, ms);
  timer.unref();
}

type Write = typeof process.stdout.write;

/** Writes to stdout, once it is reserved. */
let writeProtocol: Write | undefined;

/**
 * Reserves stdout for the protocol, for the rest of the process, and returns the only stream that still writes to it.
 *
 * All other output to stdout, by `console` or directly, is written to stderr, because a single line of it would break the
 * connection (2026-07-28, basic/transports/stdio). A notice on stderr names the first writer. Writes to the file descriptor,
 * and those of child processes that inherit it, cannot be redirected.
 */
function protocolStdout(): Writable {
  writeProtocol ??= redirectStdout();
  const write = writeProtocol;
  return new Writable({
    decodeStrings: false,
    highWaterMark: 262_144,
    write: (chunk: string, encoding, done) => void write(chunk, encoding, done),
  });
}

/** Redirects stdout to stderr, and returns the function that still writes to stdout. */
function redirectStdout(): Write {
  const { stdout, stderr } = process;
  const write = stdout.write.bind<Write>(stdout);
  // Each write reports its own error. Without a listener, a closed pipe would end the process.
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  let isNamed = false;
  const writeToStderr = (...args: Parameters<Write>): true => {
    if (!isNamed) {
      isNamed = true;
      const trace: { stack?: string } = {};
      Error.captureStackTrace(trace, writeToStderr);
      const frames = trace.stack?.split("\n").slice(1) ?? [];
      const writer = frames.find((frame) => !frame.includes("node:"))?.trim() ?? "at an unknown location";
      const notice = "stdout carries the protocol, so all other output goes to stderr";
      stderr.write(`mcparley: ${notice}. First written ${writer}\n`);
    }
    stderr.write(...args);
    // Never false: a stream that pipes into stdout would wait for a `drain` event that only stderr emits.
    return true;
  };
  stdout.write = writeToStderr as Write;
  return write;
}
