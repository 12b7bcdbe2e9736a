import type { Readable, Writable } from "node:stream";
import { systemClock } from "../rpc/clock.ts";
import type { Transport } from "../rpc/transport.ts";
import type { Server } from "../server/server.ts";
import { exitAfter, watchParent, watchSignals } from "./process-end.ts";
import { protocolStdout } from "./protocol-stdout.ts";
import { type StreamTransportOptions, streamTransport } from "./stream-transport.ts";

/** Options of `serveStdio`. */
export interface ServeStdioOptions extends Omit<StreamTransportOptions, "keepOutput"> {
  /** Read instead of stdin. With it or `output`, the process is left alone: no signals, no exit, stdout as it is. */
  input?: Readable;
  /** Written instead of stdout. */
  output?: Writable;
  /** Milliseconds that the calls in flight may still take once the input has ended; then they are cancelled. 30,000. */
  drainTimeout?: number;
  /** Milliseconds after the end until a process that something keeps alive is made to exit; false never. 5,000. */
  exitTimeout?: number | false;
  /** Milliseconds between the checks that the parent process still lives; false for none. 5,000. */
  parentCheckInterval?: number | false;
}

/** A server on stdio: a promise that settles when serving has ended. */
export interface ServedStdio extends Promise<void> {
  /** Gives up what is in flight, sends what is written, and ends. Settles when serving has ended. */
  close(): Promise<void>;
}

/**
 * Serves one client on stdin and stdout, in whichever revisions it speaks.
 *
 * Serving ends at the end of input once the calls in flight are answered, when the client is gone, when the parent
 * process dies, or on SIGINT or SIGTERM; the promise then settles, and the process exits by itself once nothing else
 * keeps it alive. From the call on, stdout belongs to the protocol: `console.log` and everything else goes to stderr.
 */
export function serveStdio(
  server: Pick<Server<any, any, any>, "attach">,
  options: ServeStdioOptions = {},
): ServedStdio {
  const ownsProcess = options.input === undefined && options.output === undefined;
  const input = options.input ?? process.stdin;
  const output = options.output ?? (ownsProcess ? protocolStdout() : process.stdout);
  const keepOutput = output === process.stdout;
  const { transport, ended, closed } = observed(streamTransport(input, output, { ...options, keepOutput }));
  const connection = server.attach(transport);

  const close = async (): Promise<void> => {
    const open = await connection;
    // Not awaited: a handler that ignores its signal may hold the connection, but not the process.
    void open.close();
    await closed;
  };
  const serve = async (): Promise<void> => {
    const stop = ownsProcess ? watchProcess(() => void close(), options) : () => {};
    try {
      await connection;
      await Promise.race([ended.then(() => drain(close, closed, options)), closed]);
      await closed;
    } finally {
      stop();
    }
    if (ownsProcess && options.exitTimeout !== false) exitAfter(options.exitTimeout ?? 5_000);
  };
  return Object.assign(serve(), { close });
}

interface Observed {
  transport: Transport;
  /** Settles at the end of input. */
  ended: Promise<void>;
  closed: Promise<void>;
}

function observed(inner: Transport): Observed {
  let end!: () => void;
  let close!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const transport: Transport = {
    network: inner.network,
    send: (message) => inner.send(message),
    close: () => inner.close(),
    start: (receiver) =>
      inner.start({
        ...receiver,
        ended() {
          receiver.ended?.();
          end();
        },
        closed(cause) {
          receiver.closed(cause);
          close();
        },
      }),
  };
  return { transport, ended, closed };
}

/** Leaves the calls in flight a limited time to be answered. */
async function drain(close: () => Promise<void>, closed: Promise<void>, options: ServeStdioOptions): Promise<void> {
  const { clock = systemClock, drainTimeout = 30_000 } = options;
  const giveUp = (): void => void close();
  const timer = clock.setTimeout(giveUp, drainTimeout);
  // Where nothing can happen any more, no call will ever be answered.
  process.once("beforeExit", giveUp);
  await closed;
  process.off("beforeExit", giveUp);
  clock.clearTimeout(timer);
}

function watchProcess(end: () => void, options: ServeStdioOptions): () => void {
  const { parentCheckInterval = 5_000 } = options;
  const stopSignals = watchSignals(end);
  const stopParent = parentCheckInterval === false ? () => {} : watchParent(end, parentCheckInterval);
  if (process.stdin.isTTY) {
    process.stderr.write("This is an MCP server: a client starts it and speaks JSON-RPC with it. Ctrl+C ends it.\n");
  }
  return () => {
    stopSignals();
    stopParent();
  };
}
