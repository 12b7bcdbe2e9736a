// @ts-check

const lineFeed = 10;

/** Splits a stream into lines, in linear time. */
export class LineReader {
  /** @type {Buffer[]} */
  #parts = [];

  /** Calls `onLine` with each complete line, without its line break. @param {Buffer} arrived @param {(line: Buffer) => void} onLine */
  push(arrived, onLine) {
    let start = 0;
    for (let end = arrived.indexOf(lineFeed); end !== -1; end = arrived.indexOf(lineFeed, start)) {
      const part = arrived.subarray(start, end);
      const line = this.#parts.length === 0 ? part : Buffer.concat([...this.#parts, part]);
      this.#parts = [];
      start = end + 1;
      onLine(line);
    }
    if (start < arrived.length) this.#parts.push(arrived.subarray(start));
  }
}
