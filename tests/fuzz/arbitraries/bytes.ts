import fc from "fast-check";
import type { Growing } from "../../support/linear-time.ts";

/** Bytes, and the lengths of the pieces in which they arrive. */
export interface Chunked {
  bytes: Uint8Array;
  cuts: number[];
}

/** Texts of random characters and of the words that mean something to a parser. */
export function textOf(...words: string[]): fc.Arbitrary<string> {
  return fc.array(pieceOf(words), { maxLength: 40 }).map((pieces) => pieces.join(""));
}

function pieceOf(words: readonly string[]): fc.Arbitrary<string> {
  const random = fc.oneof(fc.string({ unit: "binary", maxLength: 6 }), fc.string({ maxLength: 6 }));
  return words.length === 0 ? random : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, random);
}

/** Such texts, or random bytes between them, cut anywhere. */
export function chunkedOf(...words: string[]): fc.Arbitrary<Chunked> {
  const piece = fc.oneof(
    { weight: 8, arbitrary: pieceOf(words).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)) },
  );
  return fc.record({
    bytes: fc.array(piece, { maxLength: 40 }).map((pieces) => new Uint8Array(Buffer.concat(pieces))),
    cuts: fc.array(fc.nat(9), { maxLength: 60 }),
  });
}

export function chunksOf({ bytes, cuts }: Chunked): Uint8Array[] {
  let start = 0;
  const chunks = cuts.map((length) => bytes.subarray(start, (start += length)));
  return [...chunks, bytes.subarray(start)];
}

/** The bytes of a text in pieces of one size. */
export function evenChunks(text: string, size: number): Uint8Array[] {
  const bytes = new Uint8Array(Buffer.from(text));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

/** Inputs for measuring: the same few words over and over. */
export function growingOf(...words: string[]): fc.Arbitrary<Growing> {
  const word = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...words) },
    fc.string({ unit: "binary", maxLength: 2 }),
  );
  const some = fc.array(word, { maxLength: 3 }).map((pieces) => pieces.join(""));
  const unit = fc.array(word, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("") || "x");
  return fc.record({ head: some, unit, tail: some });
}

/** A web stream of the chunks. */
export function webStream(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const next = iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
  });
}
