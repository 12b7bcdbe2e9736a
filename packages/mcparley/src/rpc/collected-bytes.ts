/** An array buffer that can change its size in place. TypeScript declares it since ES2024. */
interface ResizableBuffer extends ArrayBuffer {
  readonly maxByteLength: number;
  resize(bytes: number): void;
}

const Resizable = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => ResizableBuffer;

/** Memory up to this size is reused for the next text. */
const KEPT_BYTES = 65_536;
/** Maximum growth in bytes. `clear` overwrites all memory before it returns it, so unused memory would become resident. */
const GROWTH_BYTES = 4_194_304;
/** Maximum address space that is reserved, in bytes. A longer text is copied when it grows. */
const MAX_RESERVED_BYTES = 1_073_741_824;

/**
 * Collects the bytes of one text after another.
 *
 * The memory of a long text grows in place, so its bytes are not copied to a larger buffer. `clear` returns it to the system
 * at once. With a garbage collection later, the bytes would still be there while their text is parsed.
 */
export class CollectedBytes {
  #bytes: Uint8Array = new Uint8Array(0);
  /** The memory of `#bytes`, if it is more than `KEPT_BYTES`. */
  #memory: ResizableBuffer | undefined;
  #size = 0;

  /** The number of bytes. */
  get size(): number {
    return this.#size;
  }

  /** Returns the bytes. They are valid until the next change. */
  get view(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** Adds bytes. `expectedLength` is the number of bytes that the text may have. */
  add(bytes: Uint8Array, expectedLength: number): void {
    const total = this.#size + bytes.length;
    if (total > this.#bytes.length) {
      const { length } = this.#bytes;
      this.#grow(Math.max(total, Math.min(length * 2, length + GROWTH_BYTES, expectedLength), 1_024), expectedLength);
    }
    this.#bytes.set(bytes, this.#size);
    this.#size = total;
  }

  /** Drops all bytes except the first `count`. */
  keepStart(count: number): void {
    const start = this.view.slice(0, count);
    this.clear();
    this.add(start, count);
  }

  /** Drops all bytes. */
  clear(): void {
    this.#size = 0;
    if (!this.#memory) return;
    this.#bytes = new Uint8Array(0);
    this.#memory.resize(0);
    this.#memory = undefined;
  }

  #grow(length: number, expectedLength: number): void {
    const memory = this.#memory;
    if (memory && length <= memory.maxByteLength) {
      memory.resize(length);
      this.#bytes = new Uint8Array(memory, 0, length);
      return;
    }
    const oldBytes = this.view;
    const maxByteLength = Math.max(length, Math.min(expectedLength, MAX_RESERVED_BYTES));
    this.#memory = length > KEPT_BYTES ? new Resizable(length, { maxByteLength }) : undefined;
    this.#bytes = this.#memory ? new Uint8Array(this.#memory, 0, length) : new Uint8Array(length);
    this.#bytes.set(oldBytes);
    memory?.resize(0);
  }
}
