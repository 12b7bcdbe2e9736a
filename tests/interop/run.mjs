// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { install } from "./matrix/install.mjs";
import { staleNotes } from "./matrix/known.mjs";
import { hostPairingsWith, pairingsWith } from "./matrix/pairings.mjs";
import { peers } from "./matrix/peers.mjs";
import { runPairing } from "./matrix/run-pairing.mjs";
import { explanation, isWrong, legend, table } from "./matrix/table.mjs";
import { issuers } from "./sign-in/issuers.mjs";
import { runSignIns as signInAt, signIns, signInTable } from "./sign-in/sign-ins.mjs";
import { readTexts, reportOfTexts, textReaders } from "./texts/run.mjs";
import { root } from "../../scripts/ready.mjs";
import { only, readOptions } from "../support/runner.mjs";

/**
 * @import { Known, Peer, Row } from "./matrix/types.ts"
 * @import { Issuer } from "./sign-in/issuers.mjs"
 * @import { SignInRow } from "./sign-in/sign-ins.mjs"
 * @import { TextReader } from "./texts/run.mjs"
 */

const help = `npm run check -- interop [options]

Runs this library against other implementations, in both directions, over stdio and HTTP, with legacy and modern revisions, and prints the results.
It installs the other implementations into .tools/interop, and reports those that it cannot install as not run.

  --only NAME      the peers whose names contain this; may be given more than once
  --host           the host of @mcparley/host in place of the client, and only the servers of the peers
  --sign-in        only the sign-ins, of the library, the command and the host, at the issuers of the peers
  --texts          only the texts that were cut in half an emoji, with the SDK for Python as client and as server
  --verbose        show the transcripts of failures that are known to be the peer's, too
`;

const values = readOptions(help, {
  only,
  host: { type: "boolean", default: false },
  "sign-in": { type: "boolean", default: false },
  texts: { type: "boolean", default: false },
  verbose: { type: "boolean", default: false },
});
process.exitCode = await main();

async function main() {
  const names = new Set([...peers, ...issuers, ...textReaders].map(({ name }) => name));
  // A whole name, such as "tmcp", selects no other name that contains it.
  const isSelected = (/** @type {{ name: string }} */ { name }) =>
    values.only.length === 0 || values.only.some((part) => (names.has(part) ? name === part : name.includes(part)));
  const isWhole = !values["sign-in"] && !values.texts;
  const selectedPeers = isWhole ? peers.filter(isSelected) : [];
  const selectedIssuers = values["sign-in"] || (isWhole && !values.host) ? issuers.filter(isSelected) : [];
  const selectedReaders = values.texts || (isWhole && !values.host) ? textReaders.filter(isSelected) : [];
  if (selectedPeers.length + selectedIssuers.length + selectedReaders.length === 0) {
    const names = new Set([...peers, ...issuers, ...textReaders].map(({ name }) => name));
    process.stderr.write(`No peer has this name. Available: ${[...names].join(", ")}.\n`);
    return 1;
  }
  const areSignedIn = await runSignIns(selectedIssuers);
  const arePaired = await runPeers(selectedPeers);
  const areTextsWhole = await runTexts(selectedReaders);
  return areSignedIn && arePaired && areTextsWhole ? 0 : 1;
}

/** Runs and prints the pairings with the peers. Returns whether none has failed without a reason in `known.json`. @param {readonly Peer[]} selected */
async function runPeers(selected) {
  if (selected.length === 0) return true;
  const rows = [];
  for (const peer of selected) rows.push(...(await runPeer(peer)));
  const wrong = rows.filter(isWrong);
  const known = rows.filter(({ cells }) => Object.values(cells ?? {}).some(({ state }) => state === "known"));
  for (const row of values.verbose ? [...wrong, ...known] : wrong) process.stdout.write(`\n${explanation(row)}\n`);
  process.stdout.write(`\n${table(rows)}\n\n${legend}\n${summary(rows, wrong.length)}\n`);
  const stale = staleNotes(readKnown(), rows);
  for (const { peer, features } of stale) {
    process.stdout.write(`known.json excuses ${peer} for ${features.join(", ")}, and it works: take the note out.\n`);
  }
  return wrong.length + stale.length === 0;
}

/** One pairing after the other, as each has a program or two of its own. @param {Peer} peer @returns {Promise<Row[]>} */
async function runPeer(peer) {
  const tools = path.join(root, ".tools/interop");
  const { node = process.execPath, reason } = install(peer.needs, tools);
  const pairings = values.host
    ? hostPairingsWith(peer, readKnown(), { tools, node })
    : pairingsWith(peer, readKnown(), { tools, node });
  const rows = [];
  for (const pairing of pairings) {
    const { client, server, transport, revisionKind } = pairing;
    process.stderr.write(`${client} → ${server}, ${transport}, ${revisionKind}\n`);
    if (reason === undefined) rows.push(await runPairing(pairing, path.join(tools, "transcripts")));
    else rows.push({ client, server, transport, revisionKind, notRun: reason, transcript: [] });
  }
  return rows;
}

/** Runs and prints the sign-ins at the issuers. Returns whether none has failed. @param {readonly Issuer[]} selected */
async function runSignIns(selected) {
  const tools = path.join(root, ".tools/interop");
  /** @type {SignInRow[]} */
  const rows = [];
  for (const issuer of selected) {
    const { name, needs } = issuer;
    const { reason } = install(needs, tools);
    process.stderr.write(`sign-ins at ${name}\n`);
    if (reason === undefined) rows.push(...(await signInAt(issuer, tools)));
    else rows.push(...signIns().map((signIn) => ({ issuer: name, ...signIn, notRun: reason })));
  }
  const failed = rows.flatMap(({ failed: failure, ...row }) => (failure ? [{ ...row, ...failure }] : []));
  for (const { client, issuer, registration, methods, step, reason } of failed) {
    process.stdout.write(`\n${client} → ${issuer}, ${registration}, ${methods.join(" ")}\n  ${step}: ${reason}\n`);
  }
  const isRun = rows.filter(({ notRun }) => notRun === undefined).length;
  const summary = `${rows.length} sign-ins: ${isRun} run, ${rows.length - isRun} not run, ${failed.length} failed.`;
  if (rows.length > 0) process.stdout.write(`\n${signInTable(rows)}\n\n${summary}\n`);
  return failed.length === 0;
}

/** Runs and prints the readings of texts. Returns whether each text arrived. @param {readonly TextReader[]} selected */
async function runTexts(selected) {
  if (selected.length === 0) return true;
  const readings = await readTexts(selected, path.join(root, ".tools/interop"));
  process.stdout.write(`\n${reportOfTexts(readings)}\n`);
  return readings.every(({ lines = [] }) => lines.every(({ ok }) => ok));
}

/** @returns {Known[]} */
function readKnown() {
  return JSON.parse(readFileSync(path.join(root, "tests/interop/matrix/known.json"), "utf8"));
}

/** @param {readonly Row[]} rows @param {number} wrong */
function summary(rows, wrong) {
  const run = rows.filter(({ cells }) => cells !== undefined).length;
  return `${rows.length} pairings: ${run} run, ${rows.length - run} not run, ${wrong} with failures that are not explained.`;
}
