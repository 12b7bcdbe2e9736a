import fc from "fast-check";
import { expect, test } from "vitest";
import { Place, Queue, Ranking } from "./ranked-queues.ts";

test("the first of a ranking is that of a sorted list, after additions, changes and removals", () => {
  const step = fc.record({
    what: fc.constantFrom("update", "update", "remove"),
    item: fc.integer({ min: 0, max: 30 }),
    rank: fc.integer({ min: 0, max: 10 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const items = Array.from({ length: 31 }, () => ({ index: -1, rank: 0 }));
      const ranking = new Ranking<(typeof items)[number]>((a, b) => a.rank < b.rank);
      const model = new Set<(typeof items)[number]>();
      for (const { what, item, rank } of steps) {
        const changed = items[item];
        if (!changed) throw new Error(`There is no item ${item}.`);
        if (what === "remove") {
          ranking.remove(changed);
          model.delete(changed);
        } else {
          changed.rank = rank;
          ranking.update(changed);
          model.add(changed);
        }
        const lowest = Math.min(...[...model].map((one) => one.rank));
        expect(ranking.first?.rank ?? Infinity).toBe(lowest);
      }
      for (let left = model.size; left > 0; left--) ranking.remove(ranking.first!);
      expect(ranking.first).toBeUndefined();
    }),
  );
});

test("a queue has its items in the order in which they were last appended", () => {
  const [one, two] = [new Queue<number>(), new Queue<number>()];
  const [first, second, third, fourth] = [new Place(0), new Place(1), new Place(2), new Place(3)];
  for (const place of [first, second, third, fourth]) one.append(place);
  one.append(second);
  two.append(first);
  one.remove(fourth);
  const itemsOf = (queue: Queue<number>): number[] => {
    const items = [];
    for (let place = queue.first; place; place = place.next) items.push(place.item);
    return items;
  };
  expect([itemsOf(one), one.size]).toEqual([[2, 1], 2]);
  expect([itemsOf(two), two.size]).toEqual([[0], 1]);
});
