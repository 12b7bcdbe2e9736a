// @ts-check
import { legacyRevision, loadProgram, startServer } from "./http-turns.mjs";
import { Program } from "./program.mjs";
import { expect } from "./turns.mjs";

/** @import { Implementation, LoadJob, Sample } from "../types.ts" */

/** Sessions that are opened before the heap is measured for the first time, so that all code has run. */
const first = 200;

/** Measures the memory of an idle session, with `count` open sessions. @param {Implementation} implementation @param {number} count @param {string} peers @returns {Promise<Sample>} */
export async function memorySample(implementation, count, peers) {
  const settings = /** @type {const} */ ({ way: "http", mode: "session", answers: "json", tools: 2 });
  const { program, port } = await startServer(implementation, settings, peers);
  /** @type {Partial<LoadJob>} */
  const job = { port, connections: 8, revision: legacyRevision, accept: "application/json, text/event-stream" };
  const clients = new Program({ side: "load", file: loadProgram("open-sessions.mjs"), args: [] });
  clients.tell(job);
  try {
    expect(await clients.message(), "running");
    clients.tell(first);
    expect(await clients.message(), "opened");
    const before = await program.ask("heap");
    clients.tell(count - first);
    expect(await clients.message(120_000), "opened");
    const after = await program.ask("heap");
    const each = (/** @type {"heapUsed" | "rss"} */ key) => (after[key] - before[key]) / (count - first) / 1_000;
    return { heap: each("heapUsed"), rss: each("rss") };
  } finally {
    await Promise.all([clients.end(), program.end()]);
  }
}
