import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { clients } from "../implementations/clients.mjs";
import { implementations } from "../implementations/implementations.mjs";
import { summarise } from "../measure/statistics.mjs";
import type { Row, Target, WorkloadResult } from "../types.ts";
import { allWorkloads } from "../workloads/all.mjs";
import { planOf } from "../workloads/plan.mjs";
import { appliesTo, judge, verdictsTable } from "./check.mjs";
import { tableOf } from "./markdown.mjs";

const targets = JSON.parse(readFileSync(new URL("../targets.json", import.meta.url), "utf8")) as Target[];
const workloads = allWorkloads(planOf(false, { implementations, clients, peers: "" }));
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

test("each target has an existing workload and a limit", () => {
  const byId = new Map(workloads.map((workload) => [workload.id, workload]));
  for (const target of targets) {
    const { workload: id, contender = "mcparley", to = contender, measure, atLeast, atMost } = target;
    const workload = byId.get(id) ?? workloads.find((one) => appliesTo(target, one, targets));
    for (const wanted of [contender, to]) {
      const found = workload?.contenders.find(({ name }) => name === wanted);
      expect(found?.start ?? found?.sample, `${id}, ${wanted}`).toBeDefined();
    }
    expect(workload?.measures.map(({ key }) => key)).toContain(measure);
    expect([atLeast, atMost].filter((limit) => limit !== undefined)).toHaveLength(1);
  }
});

test("workloads have unique ids", () => {
  const ids = workloads.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  [0.85, true],
  [0.84, false],
])("a ratio of %d against 0.85", (ratio, reached) => {
  expect(judge([target], [result(ratio, 1)])[0]?.reached).toBe(reached);
});

test("a target of several workloads applies to those without a target of their own", () => {
  const all: Target = { workload: "w*", measure: "cpu", of: "figure", atMost: 10 };
  const one: Target = { ...all, workload: "w", atMost: 20 };
  const slow = result(1, 1.5);
  expect(judge([all], [slow])).toMatchObject([{ target: { workload: "w" }, reached: false }]);
  expect(judge([all, one], [slow, { ...slow, id: "w2" }, { ...slow, id: "v" }])).toMatchObject([
    { target: { workload: "w2" }, reached: false },
    { target: { workload: "w" }, reached: true },
  ]);
});

test("accepts a low throughput with a sufficient CPU time per answer", () => {
  expect(judge([target], [result(0.3, 1.1)], { byCpu: true })[0]).toMatchObject({ reached: true });
  expect(judge([target], [result(0.9, 1.3)], { byCpu: true })[0]).toMatchObject({ reached: false });
});

test("accepts a figure at its target, and misses one above", () => {
  const memory: Target = { workload: "w", measure: "cpu", of: "figure", atMost: 10 };
  expect(judge([memory], [result(1, 1)])[0]?.reached).toBe(true);
  expect(judge([memory], [result(1, 1.1)])[0]?.reached).toBe(false);
});

describe("a ratio to another contender", () => {
  const toOurs: Target = {
    workload: "w",
    contender: "theirs",
    measure: "cpu",
    of: "ratio",
    to: "mcparley",
    atLeast: 8,
  };
  const rowOf = (name: string, cpu: number[]): Row => ({
    name,
    samples: cpu.map((one) => ({ cpu: one })),
    figures: { cpu: summarise(cpu) },
    ratios: { cpu: summarise(cpu.map((one) => one / 1_000)) },
  });
  const withRows = (...rows: Row[]): WorkloadResult[] => [{ ...result(1, 1), rows }];

  test("is that of samples of the same round, and not of the medians or to the reference", () => {
    const [verdict] = judge([toOurs], withRows(rowOf("theirs", [80, 1_600, 90]), rowOf("mcparley", [10, 200, 9])));
    expect(verdict).toMatchObject({ reached: true, got: { median: 8, lowest: 8, highest: 10 } });
  });

  test("compares the rounds in which both took part", () => {
    const [verdict] = judge([toOurs], withRows(rowOf("theirs", [79]), rowOf("mcparley", [10, 1, 1])));
    expect(verdict).toMatchObject({ reached: false, got: { median: 7.9 } });
  });

  test("is missed if one of the two did not run, and names the reason", () => {
    const failed = { name: "mcparley", notRun: "It broke.", samples: [], figures: {}, ratios: {} };
    const [verdict] = judge([toOurs], withRows(rowOf("theirs", [80]), failed));
    expect(verdict).toMatchObject({ reached: false, got: undefined, notRun: "It broke." });
    const [alone] = judge([toOurs], withRows(rowOf("theirs", [80])));
    expect(alone).toMatchObject({ reached: false, notRun: "It was not compared." });
  });

  test("is named in the table", () => {
    const verdicts = judge([toOurs], withRows(rowOf("theirs", [80]), rowOf("mcparley", [10])));
    expect(verdictsTable(verdicts)).toContain(
      "| w, theirs | cpu, ratio to mcparley |    ≥ 8 | 8.00 | 8.00 to 8.00 |  ok |",
    );
  });
});

test("names workloads that did not run as not reached, and omits workloads that were not requested", () => {
  const failed = {
    ...result(1, 1),
    rows: [{ name: "mcparley", notRun: "It broke.", samples: [], figures: {}, ratios: {} }],
  };
  const verdicts = judge([target, { ...target, workload: "other" }], [failed]);
  expect(verdicts).toMatchObject([{ reached: false }]);
  expect(verdictsTable(verdicts)).toMatch(/\| w +\| +perSecond, ratio \| +≥ 0.85 \| +– \| It broke. \| not run \|/);
});

test("shows each measure with ratio and spread, and the contenders that did not run", () => {
  const one = result(0.9, 1.25);
  const rows = [...one.rows, { name: "theirs", notRun: "It has\nno sessions.", samples: [], figures: {}, ratios: {} }];
  const table = tableOf({ ...one, rows });
  expect(table).toContain("| mcparley |       900 |    12.5 |    0.90 |        1.25 |  ± 0 % |   1 |");
  expect(table).toContain("- theirs: not run. It has no sessions.");
});
