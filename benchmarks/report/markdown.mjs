// @ts-check

/** @import { Measure, Results, Row, Summary, WorkloadResult } from "../types.ts" */

/** All results, to be read. @param {Results} results */
export function markdownOf(results) {
  const { environment, depth, seconds, workloads } = results;
  const { date, commit, node, platform, processor, cores, pinned, load, versions } = environment;
  const sections = [...new Set(workloads.map(({ section }) => section))];
  const busy = load.map((one) => one.toFixed(1)).join(", ");
  return [
    `# Benchmark results, ${date.slice(0, 10)}`,
    "",
    `A ${depth} run of ${(seconds / 60).toFixed(1)} minutes at ${commit}: Node ${node}, ${platform}, ${processor}, ${cores} cores, ${pinned}.`,
    `Load of the machine before it began: ${busy}. [How to read this](../README.md).`,
    "",
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
    "",
    ...sections.flatMap((section) => [
      `## ${section}`,
      "",
      ...workloads.filter((one) => one.section === section).map((one) => `${tableOf(one)}\n`),
    ]),
  ].join("\n");
}

/** One workload. @param {WorkloadResult} result */
export function tableOf({ id, title, reference, measures, rows }) {
  const head = [
    "",
    ...measures.map(({ title }) => title),
    ...(reference === undefined ? [] : [`× ${reference}`]),
    "spread",
  ];
  const ran = rows.filter(({ notRun }) => notRun === undefined);
  const lines = ran.map((row) => cellsOf(row, measures, reference));
  const notRun = rows.filter((row) => row.notRun !== undefined).map(notRunLine);
  return [
    `### ${title}`,
    "",
    `\`${id}\``,
    "",
    ...alignedTable([head, ...lines]),
    ...(notRun.length === 0 ? [] : ["", ...notRun]),
  ].join("\n");
}

/** @param {Row} row @param {readonly Measure[]} measures @param {string | undefined} reference */
function cellsOf({ name, figures, ratios }, measures, reference) {
  const [main] = measures;
  const ratio = main && ratios[main.key];
  const spread = main && figures[main.key];
  return [
    name,
    ...measures.map(({ key, digits }) => numberOf(figures[key], digits)),
    ...(reference === undefined ? [] : [ratio ? ratio.median.toFixed(2) : "–"]),
    spread ? `± ${(spread.spread * 100).toFixed(0)} %` : "–",
  ];
}

/** @param {Row} row */
function notRunLine({ name, notRun = "" }) {
  return `- ${name}: not run. ${notRun.replaceAll(/\s+/g, " ")}`;
}

/** @param {Summary | undefined} summary @param {number} digits */
function numberOf(summary, digits) {
  if (!summary) return "–";
  return summary.median.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A table of Markdown that can be read as it is. @param {readonly (readonly string[])[]} rows */
export function alignedTable(rows) {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  const [first = "", ...others] = rows.map(line);
  return [first, rule, ...others];
}
