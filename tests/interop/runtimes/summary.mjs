// @ts-check
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../../scripts/ready.mjs";
import { lackedBy, revisions } from "./sides.mjs";

/** @import { Result, RuntimeRow } from "./run-runtime.mjs" */

const head = `# Results of the runtimes

This page has the results of \`npm run check -- runtimes\`, which writes it with \`--update\`. It is for readers who choose a
runtime. [Runtimes](../serve/runtimes.md) describes the conversations and the limits of each runtime. A cell contains the number of
conversations that worked, of those that the revision has.
`;
const transports = { http: "HTTP", stdio: "stdio", port: "messages" };

/** Returns a table in Markdown: a line for each runtime, role and transport. @param {readonly Result[]} results */
export function summaryTable(results) {
  const head = ["Runtime", "Role", "Over", "Function", ...revisions];
  const lines = results.flatMap((result) =>
    sidesOf(result.rows).map((rows) => {
      const [{ role, transport, by }] = rows;
      return [nameOf(result), role, transports[transport], shown(by), ...rows.map(outcome)];
    }),
  );
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Returns the functions of a side as code, and the names of a platform as text. @param {string} by */
export function shown(by) {
  const parts = by.split(", ").map((part) => (/^[A-Z]\w* [A-Z]/.test(part) ? part : `\`${part}\``));
  return parts.join(", ");
}

/** Returns the runtime with its version, such as `Node 20.20.2`. @param {Result} result */
function nameOf({ runtime: { title }, version }) {
  return version === undefined ? title : `${title.split(" ")[0]} ${version}`;
}

/** Returns the rows of each role and transport. @param {readonly RuntimeRow[]} rows */
function sidesOf(rows) {
  /** @type {Map<string, [RuntimeRow, ...RuntimeRow[]]>} */
  const sides = new Map();
  for (const row of rows) {
    const key = [row.role, row.transport, row.by].join();
    const side = sides.get(key);
    if (side) side.push(row);
    else sides.set(key, [row]);
  }
  return [...sides.values()];
}

/** Returns the number of conversations that worked, of those that the revision has. @param {RuntimeRow} row */
function outcome({ cells, revision, notRun }) {
  if (!cells) return `not run: ${notRun}`;
  const possible = Object.entries(cells).filter(([feature]) => !(feature in lackedBy(revision)));
  return `${possible.filter(([, { state }]) => state === "ok").length} of ${possible.length}`;
}

/** Returns a line for each reason why conversations are missing. @param {readonly Result[]} results */
function reasonsOf(results) {
  /** @type {Map<string, { head: string; end: string; features: Set<string>; revisions: Set<string> }>} */
  const found = new Map();
  for (const { runtime, rows } of results) {
    for (const { cells = {}, by, role, revision } of rows) {
      for (const [feature, { state, reason = "" }] of Object.entries(cells)) {
        if (state === "ok" || feature in lackedBy(revision)) continue;
        const head = `- ${runtime.title} as ${role} with ${shown(by)}:`;
        const end = `${state === "lacking" ? "not run" : "failed"}, because ${reason}.`;
        const entry = found.get(head + end) ?? { head, end, features: new Set(), revisions: new Set() };
        entry.features.add(feature);
        entry.revisions.add(revision);
        found.set(head + end, entry);
      }
    }
  }
  return [...found.values()].map(
    ({ head, end, features, revisions }) =>
      `${head} ${[...features].join(", ")} in ${[...revisions].join(", ")} ${end}`,
  );
}

/** Returns the failures of the parts of a runtime. @param {Result} result */
export function failedParts(result) {
  const failed = (result.parts ?? []).filter(({ error }) => error !== undefined);
  return failed.map(({ part, error }) => `FAIL ${nameOf(result)}: ${part}: ${error}`);
}

/** Returns a line for all runtimes whose parts worked. @param {readonly Result[]} results */
export function partsOf(results) {
  const worked = results.filter(({ parts }) => parts?.every(({ error }) => error === undefined));
  const parts = (worked[0]?.parts ?? []).map(({ part }) => part);
  if (parts.length === 0) return [];
  const [entries, others] = [true, false].map((isEntry) =>
    parts.filter((part) => part.startsWith("mcparley") === isEntry),
  );
  const names = (others ?? []).map((part) => `\`${part}\``).join(" and ");
  return [`- ${worked.map(nameOf).join(", ")}: all ${entries?.length} entry points load, and ${names} write and read.`];
}

/** Writes the page with the table, the date and the reasons. @param {readonly Result[]} results */
export function writePage(results) {
  const page = path.join(root, "docs/reference/runtime-results.md");
  const date = new Date().toISOString().slice(0, 10);
  const measured = `Measured on ${date}. The other side was Node ${process.versions.node} on ${process.platform}.`;
  const lists = [...reasonsOf(results), ...partsOf(results)];
  writeFileSync(page, `${[head, measured, "", summaryTable(results), "", ...lists].join("\n")}\n`);
  spawnSync(process.execPath, [path.join(root, "node_modules/oxfmt/bin/oxfmt"), page], { stdio: "inherit" });
}
