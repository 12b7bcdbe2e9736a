// @ts-check
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { noteFor } from "./known.mjs";
import { proxy } from "./proxy.mjs";

/** @import { Cell, Command, RevisionKind, Feature, Known, Row, TransportKind } from "./types.ts" */

/**
 * A client and a server to connect.
 *
 * @typedef {object} Pairing
 * @property {string} client
 * @property {string} server
 * @property {TransportKind} transport
 * @property {RevisionKind} revisionKind
 * @property {string} revision the revision of our client
 * @property {Command} clientCommand
 * @property {Command} serverCommand
 * @property {Partial<Record<Feature, string>>} lacks the features that one of the two lacks
 * @property {Record<string, unknown>} names
 * @property {readonly Known[]} known
 */

/** Milliseconds that one pairing may take in all. */
const limit = 120_000;
/** Lines of a transcript that are shown with a failure. */
const shown = 24;

/**
 * Runs one pairing to its end.
 *
 * @param {Pairing} pairing
 * @param {string} folder where transcripts are kept
 * @returns {Promise<Row>}
 */
export async function runPairing(pairing, folder) {
  const { client, server, transport, revisionKind, revision } = pairing;
  mkdirSync(folder, { recursive: true });
  const file = path.join(
    folder,
    `${[client, server, transport, revisionKind, revision].join(" ").replaceAll(/[^\w.]+/g, "-")}.txt`,
  );
  rmSync(file, { force: true });
  const reports = await runners[transport](pairing, file);
  const said = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  const spoken = revisionKindOf(said);
  if (spoken !== undefined && spoken !== revisionKind) {
    reports.push({ feature: "lifecycle", ok: false, error: `the client and the server used a ${spoken} revision` });
  }
  return {
    client,
    server,
    transport,
    revisionKind,
    cells: cellsOf(pairing, reports),
    transcript: said.split("\n").slice(-shown),
    complaints: said.split("\n").filter((line) => line.startsWith("! ")),
  };
}

/** Returns the kind of revision of the recorded tool call. Each modern request contains its version. @param {string} said @returns {RevisionKind | undefined} */
function revisionKindOf(said) {
  const call = said.split("\n").find((line) => /"method":\s*"tools\/call"/.test(line));
  if (call === undefined) return undefined;
  return call.includes('"io.modelcontextprotocol/protocolVersion"') ? "modern" : "legacy";
}

/** @typedef {{ feature: Feature, ok: boolean, error?: string }} Report */

/** @type {Record<TransportKind, (pairing: Pairing, file: string) => Promise<Report[]>>} */
const runners = {
  http: overHttp,
  stdio: underTap,
  // The client starts its server, and no message can be recorded.
  port: (pairing) => runClient(pairing, {}),
};

/** @param {Pairing} pairing @param {string} file @returns {Promise<Report[]>} */
function underTap(pairing, file) {
  const { program, args } = pairing.serverCommand;
  const tap = path.join(import.meta.dirname, "tap.mjs");
  return runClient(pairing, { command: process.execPath, args: [tap, file, program, ...args] });
}

/** @param {Pairing} pairing @param {string} file @returns {Promise<Report[]>} */
async function overHttp(pairing, file) {
  const { program, args, env } = pairing.serverCommand;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
    appendFileSync(file, `! ${String(chunk).trim()}\n`);
  });
  try {
    const url = await urlOf(child).catch((error) => {
      throw new Error(`${error.message} ${said.trim().slice(-500)}`);
    });
    const relay = await proxy(url, file);
    const reports = await runClient(pairing, { url: relay.url });
    relay.close();
    return reports;
  } catch (error) {
    return [{ feature: "lifecycle", ok: false, error: `the server did not start: ${String(error)}` }];
  } finally {
    child.kill();
  }
}

/** The URL that a server writes as a line. @param {import("node:child_process").ChildProcess} child @returns {Promise<string>} */
function urlOf(child) {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error("It has no output."));
    const timer = setTimeout(() => reject(new Error("It named no URL within 30 s.")), 30_000);
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url !== undefined) resolve(url);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`It ended with ${code}.`)));
    child.once("exit", () => clearTimeout(timer));
  });
}

/** @param {Pairing} pairing @param {{ url?: string, command?: string, args?: string[] }} where @returns {Promise<Report[]>} */
function runClient({ clientCommand, revisionKind, revision, names, lacks }, where) {
  const { program, args, env } = clientCommand;
  const setup = JSON.stringify({ where, revisionKind, revision, names, skip: Object.keys(lacks) });
  const child = spawn(program, [...args, setup], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    timeout: limit,
  });
  /** @type {Report[]} */
  const reports = [];
  let said = "";
  child.stderr.on("data", (chunk) => (said += String(chunk)));
  createInterface({ input: child.stdout }).on("line", (line) => {
    try {
      reports.push(JSON.parse(line));
    } catch {
      said += `${line}\n`;
    }
  });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve([{ feature: "lifecycle", ok: false, error: String(error) }]));
    child.once("close", (code) => {
      if (reports.length > 0) return resolve(reports);
      resolve([
        { feature: "lifecycle", ok: false, error: `the client ended with ${code}: ${said.trim().slice(-1500)}` },
      ]);
    });
  });
}

/** @param {Pairing} pairing @param {readonly Report[]} reports @returns {Partial<Record<Feature, Cell>>} */
function cellsOf(pairing, reports) {
  /** @type {Partial<Record<Feature, Cell>>} */
  const cells = {};
  for (const [feature, reason] of Object.entries(pairing.lacks)) {
    cells[/** @type {Feature} */ (feature)] = { state: "lacking", reason };
  }
  for (const { feature, ok, error } of reports) {
    const known = ok ? undefined : noteFor(pairing.known, pairing, feature);
    cells[feature] = ok
      ? { state: "ok" }
      : { state: known ? "known" : "failed", reason: known ? known.reason : (error ?? "no reason given") };
  }
  return cells;
}
