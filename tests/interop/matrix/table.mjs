// @ts-check

/** @import { Cell, Feature, Row } from "./types.ts" */

/** The columns, with their titles. @type {readonly (readonly [Feature, string])[]} */
const columns = [
  ["lifecycle", "life"],
  ["tools", "tools"],
  ["prompts", "prom"],
  ["resources", "res"],
  ["completion", "compl"],
  ["progress", "progr"],
  ["cancel", "canc"],
  ["elicitation", "elicit"],
  ["sampling", "sampl"],
  ["subscriptions", "subs"],
  ["close", "close"],
];

/** @type {Record<Cell["state"], string>} */
const marks = { ok: "ok", failed: "FAIL", known: "peer", lacking: "-" };

export const legend =
  "ok: did it. peer: failed by a defect of the peer, see tests/interop/matrix/known.json. -: one side cannot do it.";

/** @param {readonly Row[]} rows */
export function table(rows) {
  const head = ["client", "server", "over", "revision", ...columns.map(([, title]) => title)];
  const lines = rows.map(({ client, server, transport, revisionKind, revision, cells, notRun }) => [
    client,
    server,
    transport,
    revision ?? revisionKind,
    ...(cells ? columns.map(([feature]) => mark(cells[feature])) : [`not run: ${notRun}`]),
  ]);
  const widths = head.map((title, index) =>
    Math.max(
      title.length,
      ...lines.map((line) => (line.length === head.length || index < 4 ? (line[index]?.length ?? 0) : 0)),
    ),
  );
  return [head, ...lines]
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A feature that a client did not reach, because it ended early, has failed. @param {Cell | undefined} cell */
function mark(cell) {
  return cell ? marks[cell.state] : "?";
}

/** Whether something failed that no note explains, or was never come to. @param {Row} row */
export function isWrong({ cells }) {
  return cells !== undefined && columns.some(([feature]) => !cells[feature] || cells[feature].state === "failed");
}

/** Returns the failures, with the last lines of the transcript. @param {Row} row */
export function explanation({ client, server, transport, revisionKind, revision, cells = {}, transcript }) {
  const failed = columns.filter(([feature]) => cells[feature]?.state !== "ok" && cells[feature]?.state !== "lacking");
  const reasons = failed.map(([feature]) => `  ${feature}: ${cells[feature]?.reason ?? "never came to it"}`);
  const lines = transcript.map((line) => `    ${line.length > 600 ? `${line.slice(0, 600)}…` : line}`);
  return [`${client} → ${server} over ${transport}, ${revision ?? revisionKind}`, ...reasons, ...lines].join("\n");
}
