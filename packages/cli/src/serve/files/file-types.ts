import mime from "mime";

/** File extensions of source text that the registry lacks or maps to another type. */
const ownTypes = new Map([
  ["ts", "text/x-typescript"],
  ["mts", "text/x-typescript"],
  ["cts", "text/x-typescript"],
  ["tsx", "text/x-typescript"],
  ["liquid", "text/x-liquid"],
]);

/** Returns the MIME type of a file by its name. If the name has no known extension, `isText` decides. */
export function mimeTypeOf(name: string, isText: () => boolean): string {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return ownTypes.get(ending) ?? mime.getType(name) ?? (isText() ? "text/plain" : "application/octet-stream");
}

/**
 * Returns whether bytes look like text: valid UTF-8 without NUL.
 *
 * The bytes may be the beginning of a file, so an incomplete character at the end is allowed.
 */
export function looksLikeText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Decodes a whole file without its byte order mark. Returns undefined if the file is not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
