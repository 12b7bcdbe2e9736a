// @ts-check
import { Random } from "./random.mjs";

/** @import { Conversation, Fault, Plan, ServerName, Step } from "./types.ts" */

const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/** Milliseconds after the beginning in which nothing is broken, and on average from one fault to the next. */
const calm = 1_000;
const interval = 1_500;

/**
 * Returns the plan of a run for a seed. How it interleaves is the machine's to decide.
 *
 * @param {number} seed
 * @param {{ conversations: number, seconds: number, nodes: number }} size
 * @returns {Plan}
 */
export function makePlan(seed, { conversations, seconds, nodes }) {
  const random = new Random(seed);
  return {
    seed,
    conversations: Array.from({ length: conversations }, (_, index) => makeConversation(random, index)),
    faults: makeFaults(random, seconds * 1_000, nodes),
  };
}

/** @param {Random} random @param {number} index @returns {Conversation} */
function makeConversation(random, index) {
  const revision = random.of(revisions);
  const name = `c${index}`;
  /** @type {ServerName} */
  const server = index % 3 === 2 ? "other" : "cluster";
  const steps = Array.from({ length: random.between(3, 7) }, (_, step) =>
    makeStep(random, `${name}-${step}`, revision),
  );
  return { name, server, revision, steps };
}

/** @param {Random} random @param {string} tag @param {string} revision @returns {Step} */
function makeStep(random, tag, revision) {
  const does = random.of(
    /** @type {const} */ (["add", "add", "count", "ask", "think", "keep", "keep", "watch", "job"]),
  );
  switch (does) {
    case "add":
      return { does, a: random.between(0, 1e9), b: random.between(0, 1e9) };
    case "count":
      return { does, to: random.between(3, 15), pause: random.between(0, 40) };
    case "ask":
      return revision < "2025-06-18" ? { does: "think", tag } : { does, tag };
    case "keep":
      return { does, key: tag, value: `${tag} = ${random.between(0, 1e9)}` };
    case "watch":
      return { does, id: tag };
    case "job":
      // Earlier revisions have no tasks.
      if (revision < "2025-11-25") return { does: "keep", key: tag, value: `${tag} = ${random.between(0, 1e9)}` };
      return { does, tag, steps: random.between(1, 6), pause: random.between(10, 150) };
    default:
      return { does, tag };
  }
}

/** @param {Random} random @param {number} ms @param {number} nodes @returns {Fault[]} */
function makeFaults(random, ms, nodes) {
  /** @type {Fault[]} */
  const faults = [];
  for (let at = calm; at < ms; at += random.between(interval / 3, (interval * 5) / 3)) {
    faults.push({ at, ...makeFault(random, random.between(0, nodes - 1)) });
  }
  return faults;
}

/** @param {Random} random @param {number} node */
function makeFault(random, node) {
  const kinds = /** @type {const} */ ([
    "node",
    "node",
    "redis",
    "connections",
    "connections",
    "reply",
    "reply",
    "reach",
    "speed",
    "pace",
    "step",
    "step",
    "step",
  ]);
  const breaks = random.of(kinds);
  switch (breaks) {
    case "node":
      return { breaks, node, for: random.between(0, 2_000) };
    case "redis":
      return { breaks, for: random.between(0, 1_500) };
    case "reach":
      return { breaks, node, for: random.between(200, 4_000) };
    case "speed":
      return { breaks, node, by: random.between(20, 200), for: random.between(500, 3_000) };
    case "step":
      return { breaks, node, after: random.between(0, 40), for: random.between(0, 1_500) };
    case "pace":
      return { breaks, node, for: random.between(200, 2_500) };
    default:
      return { breaks, node };
  }
}
