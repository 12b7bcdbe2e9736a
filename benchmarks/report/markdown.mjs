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
export function tableOf({ id, title, measures, rows }) {
  const compared = measures.filter(({ ratio }) => ratio !== undefined);
  const head = ["", ...measures.map(({ title }) => title), ...compared.map(({ ratio = "" }) => ratio), "spread", "n"];
  const ran = rows.filter(({ notRun }) => notRun === undefined);
  const lines = ran.map((row) => cellsOf(row, measures, compared));
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

/** @param {Row} row @param {readonly Measure[]} measures @param {readonly Measure[]} compared */
function cellsOf({ name, figures, ratios, samples }, measures, compared) {
  const spread = figures[measures[0]?.key ?? ""]?.spread;
  return [
    name,
    ...measures.map(({ key, digits }) => numberOf(figures[key], digits)),
    ...compared.map(({ key }) => numberOf(ratios[key], 2)),
    spread === undefined ? "–" : `± ${(spread * 100).toFixed(0)} %`,
    String(samples.length),
  ];
}

/** @param {Row} row */
function notRunLine({ name, notRun = "" }) {
  return `- ${name}: not run. ${notRun.replaceAll(/\s+/g, " ")}`;
}

/** @param {Summary | undefined} summary @param {number} digits */
function numberOf(summary, digits) {
  if (!summary || !Number.isFinite(summary.median)) return "–";
  return summary.median.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Returns a Markdown table with aligned columns. @param {readonly (readonly string[])[]} rows */
export function alignedTable(rows) {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  const [first = "", ...others] = rows.map(line);
  return [first, rule, ...others];
}
