import fc from "fast-check";
import { expect, test } from "vitest";
import { Shares } from "./shares.ts";

test("the largest holder, the counts and the order are those of a plain list", () => {
  const step = fc.record({
    what: fc.constantFrom("add", "add", "delete"),
    caller: fc.constantFrom("a", "b", "c"),
    item: fc.integer({ min: 0, max: 5 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const shares = new Shares<number>();
      const model = new Map<string, number[]>([
        ["a", []],
        ["b", []],
        ["c", []],
      ]);
      for (const { what, caller, item } of steps) {
        shares[what](caller, item);
        const items = model.get(caller)!;
        const others = items.filter((other) => other !== item);
        if (what === "delete") model.set(caller, others);
        else if (!items.includes(item)) model.set(caller, [...others, item]);
        const most = Math.max(...[...model.values()].map(({ length }) => length));
        const { largest } = shares;
        expect(largest === undefined ? 0 : shares.count(largest)).toBe(most);
        for (const [name, expected] of model) {
          expect([...shares.itemsOf(name)]).toEqual(expected);
          expect(shares.count(name)).toBe(expected.length);
        }
        expect(shares.size).toBe([...model.values()].flat().length);
      }
    }),
  );
});
