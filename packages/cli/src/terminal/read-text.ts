import type { Readable } from "node:stream";
import { UsageError } from "./io.ts";
import { showSize } from "./show-content.ts";

/** A source of text, such as stdin. */
interface TextSource {
  /** The name for errors. */
  readonly name: string;
  /** The cure if the source has no text. */
  readonly cure: string;
}

interface LimitedSource extends TextSource {
  readonly maxBytes: number;
  /** The cure if the source has more bytes. */
  readonly sizeCure?: string;
}

/** Reads a stream to its end as UTF-8. Rejects with a `UsageError` if it has more bytes than the limit, or other content. */
export async function readText(stream: Readable, source: LimitedSource): Promise<string> {
  const { name, maxBytes, sizeCure } = source;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(chunk as Buffer);
    bytes += buffer.length;
    if (bytes > maxBytes) throw new UsageError(`${name} has more than ${showSize(maxBytes)}.`, sizeCure);
    chunks.push(buffer);
  }
  return decodeText(Buffer.concat(chunks), source);
}

/** Returns bytes as text, without a byte order mark. Throws a `UsageError` if they are not UTF-8. */
function decodeText(bytes: Uint8Array, { name, cure }: TextSource): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${name} is not UTF-8 text.`, cure);
  }
}
