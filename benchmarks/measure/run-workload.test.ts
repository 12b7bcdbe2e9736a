import { expect, test, vi } from "vitest";
import type { Contender, Workload } from "../types.ts";
import { runWorkload } from "./run-workload.mjs";

function workload(contenders: Contender[], rounds = 4): Workload {
  const measures = [{ key: "perSecond", title: "answers/s", better: "higher" as const, digits: 0 }];
  return { id: "w", section: "HTTP", title: "Work", reference: "floor", measures, rounds, contenders };
}

/** A contender whose samples are given, and that notes when each was taken. */
function contender(name: string, samples: number[], taken: string[] = []): Contender {
  const rest = [...samples];
  return {
    name,
    sample: () => {
      taken.push(name);
      return Promise.resolve({ perSecond: rest.shift() ?? Number.NaN });
    },
  };
}

test("every round takes one sample of each, and every other round the other way round", async () => {
  const taken: string[] = [];
  const names = ["floor", "ours", "theirs"];
  await runWorkload(
    workload(
      names.map((name) => contender(name, [1, 1, 1, 1], taken)),
      3,
    ),
  );
  expect(taken).toEqual([...names, ...names.toReversed(), ...names]);
});

test("ratios are of samples of the same round, so that a slow moment of the machine does not change them", async () => {
  const { rows } = await runWorkload(
    workload([contender("floor", [100, 50, 10, 200]), contender("ours", [90, 45, 9, 180])]),
  );
  expect(rows[1]?.ratios.perSecond?.median).toBeCloseTo(0.9);
  expect(rows[1]?.ratios.perSecond?.spread).toBeCloseTo(0);
  expect(rows[1]?.figures.perSecond?.median).toBe(67.5);
});

test("one that fails is not run, with the reason, and stops nobody else", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const failing = { name: "theirs", sample: vi.fn(() => Promise.reject(new Error("ended with 1"))) };
  const { rows } = await runWorkload(workload([failing, contender("ours", [1, 2, 3, 4])]));
  written.mockRestore();
  expect(rows[0]).toMatchObject({ name: "theirs", notRun: "ended with 1", samples: [] });
  expect(rows[1]?.samples.length).toBe(4);
  expect(failing.sample).toHaveBeenCalledTimes(1);
});

test("where the reference fails there are figures, and no ratios", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const failing = { name: "floor", sample: () => Promise.reject(new Error("no")) };
  const { rows } = await runWorkload(workload([failing, contender("ours", [1, 2, 3, 4])]));
  written.mockRestore();
  expect(rows[1]?.ratios).toEqual({});
  expect(rows[1]?.figures.perSecond?.median).toBe(2.5);
});

test("one that cannot be run is never asked", async () => {
  const { rows } = await runWorkload(workload([{ name: "theirs", notRun: "It has no sessions." }]));
  expect(rows[0]).toMatchObject({ notRun: "It has no sessions.", samples: [] });
});
