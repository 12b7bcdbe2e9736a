// @ts-check
import path from "node:path";
import { programOf } from "../implementations/implementations.mjs";
import { Program } from "./program.mjs";
import { warmUp } from "./warm-up.mjs";

/** @import { Implementation, LoadJob, LoadReport, Operation, Sample, ServerSettings } from "../types.ts" */

/** Requests one after another, or changes that are sent on open streams. */
const programs = { requests: "http-load.mjs", changes: "listen-load.mjs" };
const bothForms = "application/json, text/event-stream";

/** The revision that all implementations of sessions speak. */
export const legacyRevision = "2025-06-18";
export const modernRevision = "2026-07-28";

/** How long a server works before it is measured, in milliseconds of its CPU time, and how long it is. @typedef {{ warmup: number, duration: number }} Amount */

/**
 * @typedef {object} HttpCase
 * @property {Omit<ServerSettings, "way">} settings
 * @property {Operation} operation
 * @property {number} connections
 * @property {Amount} amount
 * @property {boolean} [hasSessionEach] whether each call has a session of its own
 * @property {keyof typeof programs} [load] `requests` unless given
 */

/** Takes a sample: a server and a load, each in a new process. @param {Implementation} implementation @param {HttpCase} httpCase @param {string} peers @returns {Promise<Sample>} */
export async function httpSample(implementation, httpCase, peers) {
  const server = await startServer(implementation, { way: "http", ...httpCase.settings }, peers);
  const job = jobOf(implementation, httpCase, server.port);
  const file = loadProgram(programs[httpCase.load ?? "requests"]);
  const asking = new Program({ side: "load", file, args: [] });
  asking.tell(job);
  try {
    expectPhase(await asking.message());
    await warmUp(server.program, httpCase.amount.warmup);
    const before = await server.program.ask("cpu");
    asking.tell("count");
    const report = expectReport(await asking.message());
    const after = await server.program.ask("cpu");
    return figuresOf(report, after - before);
  } finally {
    await Promise.all([asking.end(), server.program.end()]);
  }
}

/** @param {string} name */
export function loadProgram(name) {
  return path.join(import.meta.dirname, "../load", name);
}

/** Starts a server that is asked over HTTP. @param {Implementation} implementation @param {ServerSettings} settings @param {string} peers */
export async function startServer(implementation, settings, peers) {
  const file = programOf(implementation, peers);
  const program = new Program({ side: "server", file, args: [JSON.stringify(settings)], isProbed: true });
  try {
    const url = new URL(await program.firstLine());
    return { program, port: Number(url.port) };
  } catch (error) {
    await program.end();
    throw error;
  }
}

/** @param {Implementation} implementation @param {HttpCase} httpCase @param {number} port @returns {LoadJob} */
export function jobOf({ http }, { settings, operation, connections, amount, hasSessionEach = false }, port) {
  return {
    port,
    connections,
    duration: amount.duration,
    operation,
    sessions: hasSessionEach ? "each" : settings.mode === "session" ? "one" : "none",
    revision: settings.mode === "modern" ? modernRevision : legacyRevision,
    accept: http?.accept?.[settings.answers] ?? bothForms,
  };
}

/** @param {unknown} message */
function expectPhase(message) {
  if (message !== "running") throw failureOf(message);
}

/** @param {any} message @returns {LoadReport} */
export function expectReport(message) {
  if (typeof message?.answers !== "number") throw failureOf(message);
  return message;
}

/** @param {any} message */
function failureOf(message) {
  return new Error(message?.failed ?? `The load said ${JSON.stringify(message)}.`);
}

/** @param {LoadReport} report @param {number} cpu microseconds @returns {Sample} */
export function figuresOf({ answers, elapsed, p50, p99, busy }, cpu) {
  if (answers === 0) throw new Error("Nothing was answered in time.");
  return { perSecond: (answers * 1000) / elapsed, cpu: cpu / answers, p50, p99, busy: busy * 100 };
}
