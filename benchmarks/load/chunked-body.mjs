// @ts-check

const lineFeed = 10;

/** Joins a chunked body (RFC 9112, section 7.1). */
export class ChunkedBody {
  /** @type {Buffer[]} */
  #parts = [];
  #size = 0;
  /** Remaining bytes of the chunk. From -2 to 0 while the line end after the chunk is read. */
  #left = 0;
  /** @type {"size" | "data" | "end" | "trailer"} */
  #state = "size";
  #line = "";

  /** Reads the bytes from `at` on. Returns the position after the body, or -1 if the body is incomplete. @param {Buffer} arrived @param {number} at */
  push(arrived, at) {
    let place = at;
    while (place < arrived.length) {
      if (this.#state === "data") {
        const end = Math.min(place + this.#left, arrived.length);
        this.#parts.push(arrived.subarray(place, end));
        this.#size += end - place;
        this.#left -= end - place;
        place = end;
        if (this.#left === 0) this.#state = "end";
        continue;
      }
      const end = arrived.indexOf(lineFeed, place);
      this.#line += arrived.toString("latin1", place, end === -1 ? arrived.length : end);
      if (end === -1) return -1;
      place = end + 1;
      const line = this.#line.replace(/\r$/, "");
      this.#line = "";
      if (this.#isLast(line)) return place;
    }
    return -1;
  }

  /** @returns {Buffer} */
  body() {
    const [only] = this.#parts;
    return this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts, this.#size);
  }

  /** Takes a line that is not of the data. @param {string} line */
  #isLast(line) {
    if (this.#state === "trailer") return line === "";
    if (this.#state === "end") {
      if (line !== "") throw new Error("A chunk is longer than its size.");
      this.#state = "size";
      return false;
    }
    const size = /^[0-9a-f]+(?=$|[; ])/i.exec(line);
    if (!size) throw new Error(`"${line.slice(0, 40)}" is not a chunk size.`);
    this.#left = Number.parseInt(size[0], 16);
    this.#state = this.#left === 0 ? "trailer" : "data";
    return false;
  }
}
