import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { unknownEntries } from "./judge.mjs";
import { allRuns, argumentsOfAll, argumentsOfOne, narrow } from "./plan.mjs";
import { inParallel } from "./processes.mjs";
import { readChecks } from "./read-checks.mjs";
import type { Excuse, Run, Scenarios } from "./types.ts";

const read = (name: string): unknown => JSON.parse(readFileSync(path.join(import.meta.dirname, "..", name), "utf8"));
const scenarios = read("scenarios.json") as Scenarios;
const runs = allRuns(scenarios);

test("each run has the expected number of scenarios", () => {
  expect(Object.fromEntries(runs.map((run) => [run.id, run.scenarios.length]))).toEqual({
    "0.2.0-alpha.12 server requirements 2025-11-25": 33,
    "0.2.0-alpha.12 server requirements 2026-07-28": 50,
    "0.2.0-alpha.12 server all": 65,
    "0.2.0-alpha.12 server all 2025-03-26": 1,
    "0.2.0-alpha.12 server all 2025-06-18": 27,
    "0.2.0-alpha.12 server all 2025-11-25": 33,
    "0.2.0-alpha.12 server all 2026-07-28": 40,
    "0.2.0-alpha.12 client requirements 2025-11-25": 25,
    "0.2.0-alpha.12 client requirements 2026-07-28": 39,
    "0.2.0-alpha.12 client all": 48,
    "0.2.0-alpha.12 client all 2025-03-26": 2,
    "0.2.0-alpha.12 client all 2025-06-18": 5,
    "0.2.0-alpha.12 client all 2025-11-25": 19,
    "0.2.0-alpha.12 client all 2026-07-28": 33,
    "0.1.16 server all": 32,
    "0.1.16 server all 2025-06-18": 26,
    "0.1.16 server all 2025-11-25": 32,
    "0.1.16 client all": 26,
    "0.1.16 client all 2025-03-26": 2,
    "0.1.16 client all 2025-06-18": 5,
    "0.1.16 client all 2025-11-25": 18,
  });
});

test("each requirement set has the expected number of scored scenarios", () => {
  const scored = (leg: "server" | "client", set: string): number =>
    Object.values(scenarios["0.2.0-alpha.12"]?.[leg] ?? {}).filter(({ sets }) => sets?.[set] === "scored").length;
  expect(scored("server", "2025-11-25")).toBe(30);
  expect(scored("client", "2025-11-25")).toBe(18);
  expect(scored("server", "2026-07-28")).toBe(37);
  expect(scored("client", "2026-07-28")).toBe(32);
});

test("the baseline contains only existing scenarios, each with a reason", () => {
  const baseline = read("baseline.json") as Excuse[];
  expect(unknownEntries(baseline, scenarios)).toEqual([]);
  expect(baseline.filter(({ reason }) => reason.length < 20)).toEqual([]);
});

test("a run is converted to arguments of the suite", () => {
  const base: Run = { id: "", release: "0.2.0-alpha.12", leg: "client", scenarios: [] };
  expect(argumentsOfAll({ ...base, requirements: "2025-11-25" })).toEqual(["--requirements", "2025-11-25"]);
  expect(argumentsOfAll({ ...base, version: "2025-11-25" })).toEqual([
    "--suite",
    "all",
    "--spec-version",
    "2025-11-25",
  ]);
  expect(argumentsOfAll(base)).toEqual(["--suite", "all"]);
  const one = ["--scenario", "x"];
  expect(argumentsOfOne(base, "x", { versions: [] })).toEqual(one);
  const pinned = { ...base, requirements: "2025-11-25" };
  const inRevision = [...one, "--spec-version", "2025-11-25"];
  expect(argumentsOfOne(pinned, "x", { versions: ["2025-11-25"] })).toEqual(inRevision);
  expect(argumentsOfOne(pinned, "x", { versions: ["extension"] })).toEqual([...inRevision, "--force"]);
});

test("narrowing removes runs without scenarios, and marks runs that lost scenarios", () => {
  const narrowed = narrow(runs, (run, scenario) => run.leg === "server" && scenario === "ping");
  expect(narrowed.every((run) => run.narrowed && run.scenarios.length === 1)).toBe(true);
  expect(narrowed.map(({ id }) => id)).not.toContain("0.2.0-alpha.12 server requirements 2026-07-28");
  expect(narrow(runs, () => true).some((run) => run.narrowed)).toBe(false);
});

test("the results of the suite are read by scenario, including names with slashes", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-checks-"));
  const checks = [{ id: "c", status: "SUCCESS" }];
  const write = (...parts: string[]): void => {
    const place = path.join(folder, ...parts);
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "checks.json"), JSON.stringify(checks));
  };
  write("auth", "metadata-var1-2026-11-20T15-30-49-069Z");
  write("server-server-sse-polling-2026-11-20T15-30-49-069Z");
  try {
    expect([...readChecks(folder, "client").keys()]).toContain("auth/metadata-var1");
    expect(readChecks(folder, "server").get("server-sse-polling")).toEqual({ checks, stderr: "" });
    expect(readChecks(path.join(folder, "none"), "client").size).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("tasks start in order, with limited concurrency, and return their results in that order", async () => {
  let running = 0;
  const most: number[] = [];
  const tasks = [3, 1, 2, 1].map((turns, index) => async () => {
    most.push(++running);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    running--;
    return index;
  });
  expect(await inParallel(tasks, 2)).toEqual([0, 1, 2, 3]);
  expect(Math.max(...most)).toBe(2);
});
