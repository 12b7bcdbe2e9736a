// @ts-check
import { spawnSync } from "node:child_process";
import path from "node:path";
import { runPairing } from "../matrix/run-pairing.mjs";
import { entryPoints, readManifest } from "../../../scripts/packages.mjs";
import { root } from "../../../scripts/ready.mjs";
import { obtain } from "./obtain.mjs";
import { pairingsOf } from "./pairings.mjs";

/**
 * @import { Known, Row } from "../matrix/types.ts"
 * @import { Place, Runtime } from "./sides.mjs"
 *
 * The outcome of a runtime in one role, over one transport, with one revision.
 * @typedef {Row & { role: "client" | "server"; by: string; revision: string }} RuntimeRow
 *
 * A part of the package on a runtime, and why it failed.
 * @typedef {{ part: string; error?: string }} Part
 *
 * All outcomes of a runtime. `parts` is undefined if it was not run or has no files.
 * @typedef {{ runtime: Runtime; version: string | undefined; rows: RuntimeRow[]; parts: Part[] | undefined }} Result
 */

/** Deno writes this once, whenever a program reads the signal of a request. Both behaviours of the signal are correct here. */
const harmless = /^! Deno\.serve: request\.signal aborts on successful responses/;

/**
 * Runs the conversations and the parts of a runtime. One pairing after the other, because each starts separate programs.
 *
 * @param {Runtime} runtime
 * @param {{ project: string; known: readonly Known[] }} options
 * @returns {Promise<Result>}
 */
export async function runRuntime(runtime, { project, known }) {
  const { program, version, reason } = obtain(runtime.name);
  const place = { program: program ?? "", project };
  /** @type {RuntimeRow[]} */
  const rows = [];
  for (const pairing of pairingsOf(runtime, place, known)) {
    const { client, server, transport, revisionKind, revision, role, by } = pairing;
    const head = { client, server, transport, revisionKind, revision, role, by };
    if (program === undefined) rows.push({ ...head, notRun: reason, transcript: [] });
    else {
      process.stderr.write(`${client} → ${server}, ${transport}, ${revision}\n`);
      const row = await runPairing(pairing, path.join(root, ".tools/runtimes/transcripts"));
      rows.push(checkServer({ ...row, ...head }));
    }
  }
  return { runtime, version, rows, parts: program === undefined ? undefined : tryParts(runtime, place) };
}

/**
 * Fails a row for defects that the conversations do not show: a server over stdio whose process did not exit at the end of
 * its input, and a server over HTTP that wrote to stderr, such as a platform that ended a request.
 *
 * @param {RuntimeRow} row
 * @returns {RuntimeRow}
 */
export function checkServer(row) {
  const { role, transport, cells, transcript, complaints = [] } = row;
  const complaint = complaints.find((line) => !harmless.test(line));
  if (role !== "server" || cells?.close?.state !== "ok") return row;
  const status = transcript.map((line) => /^the server ended with (\w+)$/.exec(line)?.[1]).find(Boolean);
  const wrong =
    transport === "stdio" && status !== "0"
      ? `the process ended with ${status ?? "SIGKILL"}, and not with 0 at the end of its input`
      : complaint && `the server wrote to stderr: ${complaint}`;
  return wrong ? { ...row, cells: { ...cells, close: { state: "failed", reason: wrong } } } : row;
}

/**
 * Imports each entry point of the installed package on a runtime, and uses the storage in files. Returns undefined if the
 * runtime has no files. Its entry points are then those that a bundler can include, which `tests/docs/runtimes.test.ts` checks.
 *
 * @param {Runtime} runtime
 * @param {Place} place
 * @returns {Part[] | undefined}
 */
function tryParts({ flags }, { program, project }) {
  if (flags === undefined) return undefined;
  const specifiers = entryPoints(readManifest("packages/mcparley")).map(({ specifier }) => specifier);
  const file = path.join(project, "runtimes/parts.mjs");
  const { stdout, stderr, status } = spawnSync(program, [...flags, file, ...specifiers], { encoding: "utf8" });
  const parts = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => /** @type {Part} */ (JSON.parse(line)));
  if (status !== 0 || parts.length === 0) return [...parts, { part: "parts.mjs", error: stderr.trim().slice(-500) }];
  return parts;
}
