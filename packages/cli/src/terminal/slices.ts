/** Characters that are converted at a time. A multiple of 4, so that each slice of base64 can be decoded by itself. */
const sliceChars = 1_048_576;

/** Decodes base64 in slices. Only one of them is in memory at a time. */
export function* decodedSlices(base64: string): Generator<Buffer> {
  // Line breaks or other characters would move the borders of the groups of four.
  if (!/^[\w+/-]*={0,2}$/.test(base64)) {
    yield Buffer.from(base64, "base64");
    return;
  }
  for (let start = 0; start < base64.length; start += sliceChars) {
    yield Buffer.from(base64.slice(start, start + sliceChars), "base64");
  }
}

/** Encodes text as UTF-8 in slices. */
export function* encodedSlices(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length;) {
    let end = start + sliceChars;
    const last = text.charCodeAt(end - 1);
    // The halves of a surrogate pair are encoded together.
    if (last >= 0xd800 && last < 0xdc00) end--;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}
