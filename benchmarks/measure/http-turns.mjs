// @ts-check
import path from "node:path";
import { programOf } from "../implementations/implementations.mjs";
import { Program } from "./program.mjs";
import { turnsOf } from "./turns.mjs";

/** @import { Implementation, LoadJob, Operation, ServerSettings, Turns } from "../types.ts" */

/** Requests one after another, or changes that are sent on open streams. */
const programs = { requests: "http-load.mjs", changes: "listen-load.mjs" };
const bothForms = "application/json, text/event-stream";

/** The revision that all implementations with sessions support. */
export const legacyRevision = "2025-06-18";
export const modernRevision = "2026-07-28";

/**
 * @typedef {object} HttpCase
 * @property {Omit<ServerSettings, "way">} settings
 * @property {Operation} operation
 * @property {number} connections
 * @property {boolean} [hasSessionEach] whether each call has a session of its own
 * @property {keyof typeof programs} [load] `requests` unless given
 */

/** Starts a server and a load, each in a new process. @param {Implementation} implementation @param {HttpCase} httpCase @param {string} peers @returns {Promise<Turns>} */
export async function httpTurns(implementation, httpCase, peers) {
  const { program, port } = await startServer(implementation, { way: "http", ...httpCase.settings }, peers);
  const load = new Program({ side: "load", file: loadProgram(programs[httpCase.load ?? "requests"]), args: [] });
  load.tell(jobOf(implementation, httpCase, port));
  return turnsOf({
    load,
    cpu: () => program.ask("cpu"),
    end: () => Promise.all([load.end(), program.end()]),
  });
}

/** @param {string} name */
export function loadProgram(name) {
  return path.join(import.meta.dirname, "../load", name);
}

/** Starts a server that is asked over HTTP. @param {Implementation} implementation @param {ServerSettings} settings @param {string} peers */
export async function startServer(implementation, settings, peers) {
  const file = programOf(implementation, peers);
  const program = new Program({
    side: "server",
    file,
    args: [JSON.stringify(settings)],
    node: settings.runtime,
    isProbed: true,
  });
  try {
    const url = new URL(await program.firstLine());
    return { program, port: Number(url.port) };
  } catch (error) {
    await program.end();
    throw error;
  }
}

/** @param {Implementation} implementation @param {HttpCase} httpCase @param {number} port @returns {LoadJob} */
export function jobOf({ http }, { settings, operation, connections, hasSessionEach = false }, port) {
  return {
    port,
    connections,
    operation,
    sessions: hasSessionEach ? "each" : settings.mode === "session" ? "one" : "none",
    revision: settings.mode === "modern" ? modernRevision : legacyRevision,
    accept: http?.accept?.[settings.answers] ?? bothForms,
  };
}
