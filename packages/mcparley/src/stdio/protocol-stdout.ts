import { Writable } from "node:stream";

type Write = typeof process.stdout.write;

let takenOver: Write | undefined;

/**
 * Takes stdout over for the protocol, for the rest of the process, and gives the one stream that still writes to it.
 *
 * Whatever else is written to stdout, by `console` or directly, goes to stderr instead, since a single stray line breaks
 * the connection (2026-07-28, basic/transports/stdio); who did it first is named there once. Out of reach are writes to
 * the file descriptor and child processes that inherit it.
 */
export function protocolStdout(): Writable {
  takenOver ??= takeOver();
  const write = takenOver;
  return new Writable({
    decodeStrings: false,
    highWaterMark: 262_144,
    write: (chunk: string, encoding, done) => void write(chunk, encoding, done),
  });
}

function takeOver(): Write {
  const { stdout, stderr } = process;
  const write = stdout.write.bind<Write>(stdout);
  // Each write reports its own error; without a listener, a host that went away would end the process here.
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  let isNamed = false;
  const redirected = (...args: Parameters<Write>): true => {
    if (!isNamed) {
      isNamed = true;
      stderr.write(notice(redirected));
    }
    stderr.write(...args);
    // Never false: what pipes into stdout would wait for a drain that only stderr emits.
    return true;
  };
  stdout.write = redirected as Write;
  return write;
}

function notice(redirected: (...args: Parameters<Write>) => true): string {
  const trace: { stack?: string } = {};
  Error.captureStackTrace(trace, redirected);
  const frames = trace.stack?.split("\n").slice(1) ?? [];
  const writer = frames.find((frame) => !frame.includes("node:"))?.trim() ?? "at an unknown place";
  return `mcparley: stdout carries the protocol, so all other output goes to stderr. First written ${writer}\n`;
}
