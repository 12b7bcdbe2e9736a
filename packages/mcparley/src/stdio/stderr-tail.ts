import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { redact } from "../rpc/redact.ts";

const KEPT_CHARS = 8_192;

/** What to do with what a child process writes to stderr, besides keeping its end for errors. */
export type StderrSink = "inherit" | "ignore" | ((chunk: string) => void);

/** Reads all of a child's stderr, since a full pipe would stop the child, and gives its last 8 KiB, redacted. */
export function stderrTail(stderr: Readable, sink: StderrSink): () => string {
  const decoder = new StringDecoder("utf8");
  let tail = "";
  stderr.on("error", () => {});
  stderr.on("data", (chunk: Buffer) => {
    const text = decoder.write(chunk);
    tail = (tail + text).slice(-KEPT_CHARS);
    if (sink === "inherit") process.stderr.write(chunk);
    else if (sink !== "ignore") sink(text);
  });
  return () => redact(tail.trim());
}
