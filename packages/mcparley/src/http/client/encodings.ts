import { LocalError } from "../../rpc/errors.ts";

/** Maximum number of content encodings of a reply. Each one needs a decoder, and servers use one. */
const MAX_ENCODINGS = 3;

/**
 * Returns the names in a `content-encoding` header, the one that was applied last first. Throws `LocalError` `too_large` for more
 * than three names, `identity` and unknown ones included.
 */
export function readEncodings(header: string): string[] {
  const names = header.toLowerCase().split(",", MAX_NAMES);
  const encodings = names.map((name) => name.trim()).filter((name) => name !== "");
  if (encodings.length <= MAX_ENCODINGS && names.length < MAX_NAMES) return encodings.toReversed();
  const message = `The reply has more than ${MAX_ENCODINGS} content encodings. It was not decoded. Correct the server or its proxy.`;
  throw new LocalError("too_large", message, { data: { limit: MAX_ENCODINGS } });
}

/** Maximum number of parts of a header that are read. A list may have empty parts. */
const MAX_NAMES = 16;
