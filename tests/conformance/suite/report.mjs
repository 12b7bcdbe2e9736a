// @ts-check
/** @import { Run, Scenarios, State, Verdict } from "./types.ts" */

/**
 * Writes the table of runs: of how many scenarios each consisted, and what became of them.
 *
 * @param {readonly Run[]} runs
 * @param {readonly Verdict[]} verdicts
 * @param {Scenarios} scenarios
 * @returns {string}
 */
export function table(runs, verdicts, scenarios) {
  const head = ["run", "ran", "passed", "baselined", "failed", "scored", "checks ok/failed/warned/skipped"];
  const rows = runs.map((run) => {
    const own = verdicts.filter((verdict) => verdict.run === run);
    const count = (/** @type {State} */ state) => String(own.filter((verdict) => verdict.state === state).length);
    const ran = `${own.length}/${run.scenarios.length}`;
    return [
      run.id,
      ran,
      count("passed"),
      count("baselined"),
      count("failed"),
      scored(run, own, scenarios),
      checks(own),
    ];
  });
  return align([head, ...rows]);
}

/**
 * How many of those passed that count towards a requirement set.
 *
 * @param {Run} run @param {readonly Verdict[]} verdicts @param {Scenarios} scenarios
 */
function scored({ release, leg, requirements }, verdicts, scenarios) {
  if (requirements === undefined) return "";
  const counted = verdicts.filter(
    ({ scenario }) => scenarios[release]?.[leg][scenario]?.sets?.[requirements] === "scored",
  );
  return `${counted.filter(({ state }) => state === "passed").length}/${counted.length}`;
}

/** @param {readonly Verdict[]} verdicts */
function checks(verdicts) {
  const all = verdicts.flatMap((verdict) => verdict.checks);
  const statuses = ["SUCCESS", "FAILURE", "WARNING", "SKIPPED"];
  return statuses.map((status) => all.filter((check) => check.status === status).length).join("/");
}

/**
 * Writes how the suites within a run of all scenarios did: `active 31/31`.
 *
 * @param {readonly Run[]} runs @param {readonly Verdict[]} verdicts @param {Scenarios} scenarios @returns {string}
 */
export function suiteTable(runs, verdicts, scenarios) {
  const whole = runs.filter(({ requirements, version }) => requirements === undefined && version === undefined);
  const lines = whole.flatMap((run) => {
    const own = verdicts.filter((verdict) => verdict.run === run);
    const suitesOf = (/** @type {Verdict} */ { scenario }) => scenarios[run.release]?.[run.leg][scenario]?.suites ?? [];
    const names = [...new Set(own.flatMap(suitesOf))];
    const parts = names.map((name) => {
      const inside = own.filter((verdict) => suitesOf(verdict).includes(name));
      return `${name} ${inside.filter(({ state }) => state === "passed").length}/${inside.length}`;
    });
    return parts.length === 0 ? [] : [`${run.id}, passed by suite: ${parts.join(", ")}`];
  });
  return lines.join("\n");
}

/**
 * Writes each failing check once, with the runs in which it fails.
 *
 * @param {readonly Verdict[]} verdicts @returns {string}
 */
export function failureList(verdicts) {
  /** @type {Map<string, { message: string, runs: string[] }>} */
  const found = new Map();
  for (const { run, scenario, failures, state } of verdicts) {
    if (state !== "failed") continue;
    for (const { check, message } of failures) {
      const key = `${run.leg} ${scenario}:${check}`;
      const entry = found.get(key) ?? { message, runs: [] };
      entry.runs.push(run.id);
      found.set(key, entry);
    }
  }
  const lines = [...found].map(
    ([key, { message, runs }]) => `  ${key}\n    ${oneLine(message)}\n    in ${runs.join("; ")}`,
  );
  return lines.join("\n");
}

/** @param {string} text */
function oneLine(text) {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 400);
}

/** @param {readonly (readonly string[])[]} rows */
function align(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const pad = (/** @type {string} */ cell, /** @type {number} */ column) => {
    const width = widths[column] ?? 0;
    return column === 0 ? cell.padEnd(width) : cell.padStart(width);
  };
  return rows.map((row) => row.map(pad).join("  ").trimEnd()).join("\n");
}
