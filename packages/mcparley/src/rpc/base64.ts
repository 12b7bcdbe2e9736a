/** Bytes per call of `String.fromCharCode`, below the limit on arguments; a multiple of 3, so that pieces join up. */
const chunkSize = 24_576;

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let encoded = "";
  for (let start = 0; start < bytes.length; start += chunkSize) {
    encoded += btoa(String.fromCharCode(...bytes.subarray(start, start + chunkSize)));
  }
  return encoded;
}

/**
 * Encodes a stream of bytes as base64, so that a large file is held once, encoded, and never beside its bytes.
 *
 * Base64 works on three bytes at a time, so what is left over of a chunk waits for the next one.
 */
export async function streamToBase64(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: string[] = [];
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : concat(rest, chunk);
    const whole = bytes.length - (bytes.length % 3);
    pieces.push(toBase64(bytes.subarray(0, whole)));
    rest = bytes.slice(whole);
  }
  pieces.push(toBase64(rest));
  return pieces.join("");
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Decodes base64url, or gives undefined for what is not, or is not written as `toBase64Url` writes it. */
export function fromBase64Url(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(encoded)) return undefined;
  try {
    const binary = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    // The last character may hold bits that are not used: without this, one value had several texts.
    return toBase64Url(bytes) === encoded ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
