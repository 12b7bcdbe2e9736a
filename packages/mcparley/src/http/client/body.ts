import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";

const EXCERPT_BYTES = 1_024;
const DISCARDED_BYTES = 65_536;

/** Reads a body as text. Rejects with `LocalError` `too_large` as soon as it has more than `limit` bytes. */
export async function readText(response: Response, limit: number): Promise<string> {
  const length = response.headers.get("content-length");
  const isPlain = length !== null && !response.headers.has("content-encoding");
  // The protocol itself holds a plain body to its announced length; what is compressed may be any size in the end.
  if (isPlain && Number(length) <= limit) return response.text();
  const { text, isWhole } = await readStart(response, limit);
  if (isWhole) return text;
  throw new LocalError(
    "too_large",
    `The server answered with more than ${limit} bytes; see the limits of the target.`,
    {
      data: { limit },
    },
  );
}

/** The beginning of a body, on one line and without what looks like a secret: for errors. */
export async function excerptOf(response: Response): Promise<string> {
  try {
    const { text } = await readStart(response, EXCERPT_BYTES);
    return redact(text.replace(/\s+/g, " ").trim());
  } catch {
    return "";
  }
}

/** Ends a response that nobody reads. A short one is read, so that its connection can be used again. */
export function discard(response: Response): void {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const ending = isStream ? response.body?.cancel() : readStart(response, DISCARDED_BYTES);
  ending?.catch(() => {});
}

async function readStart(response: Response, limit: number): Promise<{ text: string; isWhole: boolean }> {
  const { body } = response;
  if (!body) return { text: "", isWhole: true };
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const kept = next.value.subarray(0, limit - size);
    parts.push(decoder.decode(kept, { stream: true }));
    size += next.value.length;
    if (size <= limit) continue;
    await reader.cancel().catch(() => {});
    return { text: parts.join(""), isWhole: false };
  }
  return { text: parts.join("") + decoder.decode(), isWhole: true };
}
