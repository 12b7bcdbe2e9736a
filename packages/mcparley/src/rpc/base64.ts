/** Bytes per call of `String.fromCharCode`: below the limit on arguments, and a multiple of 3 so that no piece is padded. */
const chunkSize = 6_144;

/**
 * Bytes that are not shared with another thread, as web APIs require. Declarations cannot name this type, because
 * `Uint8Array` has a type parameter only since TypeScript 5.7.
 */
export type Bytes = ReturnType<TextEncoder["encode"]>;

/** The part of the `Buffer` of Node, Bun and Deno that encodes. */
type NodeBuffer = { from(...bytes: unknown[]): { toString(encoding: "base64"): string } };

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  const { Buffer } = globalThis as { Buffer?: NodeBuffer };
  // It is five times as fast. Its result is one string, while a string of many pieces is copied when it is read.
  if (Buffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  let text = "";
  for (let start = 0; start < bytes.length; start += chunkSize) {
    // Spread arguments take six times as long.
    const binary: string = Reflect.apply(String.fromCharCode, undefined, bytes.subarray(start, start + chunkSize));
    text += btoa(binary);
  }
  return text;
}

/**
 * Encodes a stream of bytes as base64. A large file is in memory only once, encoded.
 *
 * Base64 encodes three bytes at a time, so the rest of a chunk is encoded with the next chunk.
 */
export async function streamToBase64(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: string[] = [];
  let remainder: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    let bytes = chunk;
    if (remainder.length > 0) {
      bytes = new Uint8Array(remainder.length + chunk.length);
      bytes.set(remainder);
      bytes.set(chunk, remainder.length);
    }
    const wholeLength = bytes.length - (bytes.length % 3);
    pieces.push(toBase64(bytes.subarray(0, wholeLength)));
    remainder = bytes.slice(wholeLength);
  }
  pieces.push(toBase64(remainder));
  return pieces.join("");
}

/** Decodes base64. Throws if the text is not base64. */
export function fromBase64(text: string): Bytes {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  // `Uint8Array.from` with a function takes twenty times as long.
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/**
 * Returns whether a text is base64 with its padding.
 *
 * It searches the first character that is no digit of base64. The search never returns to an earlier character of a long text.
 */
export function isBase64(text: string): boolean {
  const end = text.search(/[^A-Za-z0-9+/]/);
  return text.length % 4 === 0 && (end === -1 || /^={1,2}$/.test(text.slice(end)));
}

/** Encodes bytes as base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** The values of the digits of base64url by their codes, and -1 for other codes. */
const digits = /* @__PURE__ */ Int8Array.from({ length: 128 }, (_, code) =>
  alphabet.indexOf(String.fromCharCode(code)),
);

/** Decodes base64url. Returns undefined if the text differs from what `toBase64Url` writes for the same bytes. */
export function fromBase64Url(text: string): Bytes | undefined {
  const bytes = new Uint8Array((text.length * 3) >> 2);
  let buffer = 0;
  let bits = 0;
  let length = 0;
  // `atob` needs the digits of base64, and to replace them takes a second for a text of megabytes.
  for (let index = 0; index < text.length; index++) {
    const digit = digits[text.charCodeAt(index)] ?? -1;
    if (digit < 0) return undefined;
    buffer = (buffer << 6) | digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = buffer >> bits;
  }
  // The last digit can have unused bits. Without this check one value would have several encodings.
  const hasUnusedBits = (buffer & ((1 << bits) - 1)) !== 0;
  return bits === 6 || hasUnusedBits ? undefined : bytes;
}
