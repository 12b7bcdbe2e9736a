import fc from "fast-check";
import { expect, test } from "vitest";
import { LineReader } from "./line-reader.mjs";

test("lines are the same, however they arrive", () => {
  const text = "first\n\nthird, with ünïcode\nlast\nnot ended";
  const bytes = Buffer.from(text);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 10 }), (cuts) => {
      const reader = new LineReader();
      const lines: string[] = [];
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      for (const [index, end] of places.slice(1).entries()) {
        reader.push(bytes.subarray(places[index], end), (line) => lines.push(line.toString()));
      }
      expect(lines).toEqual(text.split("\n").slice(0, -1));
    }),
    { numRuns: 200 },
  );
});
