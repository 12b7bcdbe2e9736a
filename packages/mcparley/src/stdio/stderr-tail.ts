import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { CommandTarget } from "../client/connect/transports.ts";
import { redact } from "../rpc/redact.ts";

const KEPT_CHARS = 8_192;

/** Reads all of a child's stderr, since a full pipe would stop the child, and gives its last 8 KiB, redacted. */
export function stderrTail(stderr: Readable, sink: NonNullable<CommandTarget["stderr"]>): () => string {
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
