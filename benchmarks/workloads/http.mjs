// @ts-check
import { floor } from "../implementations/implementations.mjs";
import { httpTurns } from "../measure/http-turns.mjs";
import { roundsOf } from "./plan.mjs";
import { add, echo, getPrompt, listTools, readBook, readItem, readPage } from "./operations.mjs";

/** @import { Answers, Implementation, Measure, Mode, Operation, Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

/** @type {readonly Measure[]} */
export const measures = [
  { key: "perSecond", title: "answers/s", better: "higher", digits: 0, ratio: "× floor" },
  { key: "cpu", title: "server CPU, µs", better: "lower", digits: 1, ratio: "CPU × floor" },
  { key: "p50", title: "p50, ms", better: "lower", digits: 2 },
  { key: "p99", title: "p99, ms", better: "lower", digits: 2, ratio: "p99 × floor" },
  { key: "busy", title: "load busy, %", better: "lower", digits: 0 },
];

/** @type {readonly Mode[]} */
const modes = ["stateless", "session", "modern"];
/** @type {Readonly<Record<Mode, string>>} */
export const modeNames = { stateless: "2025 stateless", session: "2025 session", modern: "2026 modern" };
/** @type {Readonly<Record<Answers, string>>} */
export const answerNames = { json: "JSON", sse: "SSE" };
const many = 32;

/**
 * @typedef {object} Variant
 * @property {string} id
 * @property {Operation} operation
 * @property {Mode} mode
 * @property {Answers} [answers]
 * @property {number} [connections]
 * @property {number} [tools]
 */

/** Returns the workloads over HTTP, with one request after another on each connection. @param {Plan} plan @returns {Workload[]} */
export function httpWorkloads(plan) {
  return [...calls(plan), ...others(plan)].map((variant) => workloadOf(variant, plan));
}

/** @param {Plan} plan @returns {Variant[]} */
function calls({ isQuick }) {
  const counts = isQuick ? [many] : [many, 1, 256];
  /** @type {Variant[]} */
  const variants = [];
  for (const connections of counts) {
    for (const answers of /** @type {const} */ (["json", "sse"])) {
      for (const mode of modes)
        variants.push({ id: `call/${answers}/${mode}/${connections}`, operation: echo, mode, answers, connections });
    }
  }
  return variants;
}

/** @param {Plan} plan @returns {Variant[]} */
function others({ isQuick }) {
  return [
    ...inBothEras("add", add),
    ...inBothEras("list/50", listTools(50), { tools: 50 }),
    ...inBothEras("prompt", getPrompt),
    ...inBothEras("read/64k", readPage),
    ...inBothEras("read/template", readItem),
    ...(isQuick ? [] : inBothEras("read/10m", readBook(), { connections: 4 })),
  ];
}

/** @param {string} id @param {Operation} operation @param {Partial<Variant>} more @returns {Variant[]} */
function inBothEras(id, operation, more = {}) {
  return [
    { id: `${id}/stateless`, operation, mode: "stateless", ...more },
    { id: `${id}/modern`, operation, mode: "modern", ...more },
  ];
}

/** @param {Variant} variant @param {Plan} plan @returns {Workload} */
function workloadOf(variant, plan) {
  const { id, operation, mode, answers = "json", connections = many, tools = 2 } = variant;
  const httpCase = { settings: { mode, answers, tools }, operation, connections };
  const plural = connections === 1 ? "connection" : "connections";
  const rounds = connections === many ? plan.rounds : plan.sideRounds;
  return {
    id,
    section: "HTTP",
    title: `${operation.name}, ${answerNames[answers]}, ${modeNames[mode]}, ${connections} ${plural}`,
    reference: floor,
    measures,
    amount: plan.amount,
    rounds: rounds.own,
    contenders: plan.implementations.map((one) => {
      const notRun = cannot(one, variant);
      if (notRun !== undefined) return { name: one.name, notRun };
      const start = () => httpTurns(one, httpCase, plan.peers);
      return { name: one.name, start, rounds: roundsOf(one.name, rounds) };
    }),
  };
}

/** Returns the reason why an implementation cannot serve such requests, or undefined. @param {Implementation} implementation @param {Pick<Variant, "id" | "mode" | "answers">} variant */
export function cannot({ http, lacks = {} }, { id, mode, answers = "json" }) {
  if (!http) return "It does not speak HTTP.";
  if (!http.modes.includes(mode)) return `It has no ${modeNames[mode]} requests.`;
  const lacking = Object.keys(lacks).find((prefix) => id.startsWith(prefix));
  if (lacking !== undefined) return lacks[lacking];
  return http.answers.includes(answers) ? undefined : `It cannot be set to answer with ${answerNames[answers]}.`;
}
