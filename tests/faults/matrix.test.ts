import { beforeAll, describe, expect, test } from "vitest";
import { type Cell, allCells, faults, keysOf, nameOf, operations, transports } from "./dimensions.ts";
import { differences } from "./expected/compare.ts";
import { type Outcome } from "./expected/outcome.ts";
import { applies, expectedOf, rules } from "./expected/rules.ts";
import { exclusions } from "./expected/exclusions.ts";
import { pending, pendingFor } from "./pending.ts";
import { preload } from "./preload.ts";
import { type Observed, runCells } from "./run-cell.ts";

const cells = allCells();
const possible = cells.filter((cell) => typeof expectedOf(cell) !== "string");

beforeAll(preload);

describe("the fault matrix", () => {
  test("has an outcome or a reason for each cell", () => {
    for (const cell of cells) {
      const expected = expectedOf(cell);
      if (typeof expected === "string") expect(expected, nameOf(cell)).toMatch(/^[A-Z0-9].*\.$/);
      else expect(Object.values(expected).length, nameOf(cell)).toBeGreaterThanOrEqual(4);
    }
  });

  test("uses each rule, reason and exception in at least one cell", () => {
    expect(rules.filter((rule) => !possible.some((cell) => applies(rule, cell)))).toEqual([]);
    expect(exclusions.filter(({ when }) => !cells.some(when))).toEqual([]);
    expect(pending.flatMap((one) => one.cells).filter((name) => !possible.some(pendingFor(name)))).toEqual([]);
  });

  test("applies each fault to each operation on at least one transport", () => {
    for (const operation of keysOf(operations)) {
      const struck = new Set(possible.filter((cell) => cell.operation === operation).map(({ fault }) => fault));
      const missing = [...faults.keys()].filter((fault) => !struck.has(fault));
      expect(missing, operation).toEqual(missing.filter((fault) => exceptions[operation]?.includes(fault)));
    }
  });
});

/** The faults that an operation cannot meet on any transport. */
const exceptions: Partial<Record<string, readonly string[]>> = {
  connect: ["session-404", "session-404-for-long", "process-exit", "redefined", "closed"],
  "call-with-input": ["session-404-for-long"],
  task: ["session-404-for-long"],
  "standalone-stream": ["session-404-for-long", "hang", "process-exit", "aborted"],
};

for (const operation of keysOf(operations)) {
  for (const transport of transports) {
    const group = possible.filter((cell) => cell.operation === operation && cell.transport === transport);
    if (group.length > 0) describe(`${operation} over ${transport}`, () => testCells(group));
  }
}

function testCells(group: readonly Cell[]): void {
  const observed = new Map<Cell, Observed>();

  beforeAll(async () => {
    for (const [cell, result] of await runCells(group)) observed.set(cell, result);
  });

  test.each(group.map((cell) => ({ cell, ...cell })))("$fault, $revision", ({ cell }) => {
    const found = differences(cell, expectedOf(cell) as Outcome, observed.get(cell)!);
    const known = pending.filter((one) => one.cells.some((name) => pendingFor(name)(cell)));
    if (known.length === 0) expect(found).toEqual([]);
    else expect(found, "This cell does what it must. Remove it from pending.ts").not.toEqual([]);
  });
}
