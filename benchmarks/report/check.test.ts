import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { implementations } from "../implementations/implementations.mjs";
import { summarise } from "../measure/statistics.mjs";
import type { Row, Target, WorkloadResult } from "../types.ts";
import { allWorkloads } from "../workloads/all.mjs";
import { planOf } from "../workloads/plan.mjs";
import { judge, verdictsTable } from "./check.mjs";
import { tableOf } from "./markdown.mjs";

const targets = JSON.parse(readFileSync(new URL("../targets.json", import.meta.url), "utf8")) as Target[];
const target: Target = { workload: "w", measure: "perSecond", of: "ratio", atLeast: 0.85 };
const measures = [
  { key: "perSecond", title: "answers/s", better: "higher" as const, digits: 0, ratio: "× floor" },
  { key: "cpu", title: "CPU, µs", better: "lower" as const, digits: 1, ratio: "CPU × floor" },
];

function result(ratio: number, cpu: number): WorkloadResult {
  const samples = [{ perSecond: ratio * 1_000, cpu: cpu * 10 }];
  const figures = { perSecond: summarise([ratio * 1_000]), cpu: summarise([cpu * 10]) };
  const ratios = { perSecond: summarise([ratio]), cpu: summarise([cpu]) };
  const rows: Row[] = [{ name: "mcparley", samples, figures, ratios }];
  return { id: "w", section: "HTTP", title: "Work", reference: "floor", measures, rows };
}

test("every target is of something that is measured, and has a limit", () => {
  const workloads = new Map(
    allWorkloads(planOf(false, { implementations, peers: "" })).map((workload) => [workload.id, workload]),
  );
  for (const { workload: id, contender = "mcparley", measure, atLeast, atMost } of targets) {
    const workload = workloads.get(id);
    const found = workload?.contenders.find(({ name }) => name === contender);
    expect(found?.start ?? found?.sample, id).toBeDefined();
    expect(workload?.measures.map(({ key }) => key)).toContain(measure);
    expect([atLeast, atMost].filter((limit) => limit !== undefined)).toHaveLength(1);
  }
});

test("workloads have ids of their own", () => {
  const ids = allWorkloads(planOf(false, { implementations, peers: "" })).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  [0.85, true],
  [0.84, false],
])("a ratio of %d against 0.85", (ratio, reached) => {
  expect(judge([target], [result(ratio, 1)])[0]?.reached).toBe(reached);
});

test("judged by CPU time, a throughput that other work took away is not missed", () => {
  expect(judge([target], [result(0.3, 1.1)], { byCpu: true })[0]).toMatchObject({ reached: true });
  expect(judge([target], [result(0.9, 1.3)], { byCpu: true })[0]).toMatchObject({ reached: false });
});

test("a figure may be at most what its target says", () => {
  const memory: Target = { workload: "w", measure: "cpu", of: "figure", atMost: 10 };
  expect(judge([memory], [result(1, 1)])[0]?.reached).toBe(true);
  expect(judge([memory], [result(1, 1.1)])[0]?.reached).toBe(false);
});

test("what did not run is missed, and what was not asked for is left out", () => {
  const failed = {
    ...result(1, 1),
    rows: [{ name: "mcparley", notRun: "It broke.", samples: [], figures: {}, ratios: {} }],
  };
  const verdicts = judge([target, { ...target, workload: "other" }], [failed]);
  expect(verdicts).toHaveLength(1);
  expect(verdictsTable(verdicts)).toMatch(/\| w +\| +perSecond, ratio \| +≥ 0.85 \| +– \| It broke. \| MISSED \|/);
});

test("a table shows every measure, its ratio, its spread, and who did not run", () => {
  const one = result(0.9, 1.25);
  const rows = [...one.rows, { name: "theirs", notRun: "It has\nno sessions.", samples: [], figures: {}, ratios: {} }];
  const table = tableOf({ ...one, rows });
  expect(table).toContain("| mcparley |       900 |    12.5 |    0.90 |        1.25 |  ± 0 % |   1 |");
  expect(table).toContain("- theirs: not run. It has no sessions.");
});
