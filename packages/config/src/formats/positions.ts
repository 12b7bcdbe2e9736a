/** Returns the line ending of a text: that of its first line. */
export function lineEnding(text: string): "\r\n" | "\n" {
  const end = text.indexOf("\n");
  return end > 0 && text[end - 1] === "\r" ? "\r\n" : "\n";
}

/** Returns the offset of the first character of a line. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** Returns the offset after the line break that ends a line, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end + 1;
}

/** Returns the white space at the beginning of the line of an offset. */
export function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** Returns one level of the indentation of a JSON text: that of its first indented key. Two spaces if there is none. */
export function indentUnit(text: string): string {
  return /(?:^|\n)([ \t]+)"/.exec(text)?.[1] ?? "  ";
}

/** Returns a text with another part between two offsets. */
export function splice(text: string, [start, end]: readonly [number, number], insertion: string): string {
  return text.slice(0, start) + insertion + text.slice(end);
}

/** Removes the byte order mark of a text. */
export function withoutMark(source: string): string {
  return source.startsWith("\uFEFF") ? source.slice(1) : source;
}
