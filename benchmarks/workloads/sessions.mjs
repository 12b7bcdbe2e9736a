// @ts-check
import { floor } from "../implementations/implementations.mjs";
import { httpTurns } from "../measure/http-turns.mjs";
import { memorySample } from "../measure/memory-sample.mjs";
import { cannot, measures } from "./http.mjs";
import { change, echo } from "./operations.mjs";
import { roundsOf } from "./plan.mjs";

/** @import { HttpCase } from "../measure/http-turns.mjs" */
/** @import { Answers, Contender, Implementation, Measure, Sample, Turns, Workload } from "../types.ts" */
/** @import { Plan, Rounds } from "./plan.mjs" */

/** @type {readonly Measure[]} */
const memoryMeasures = [
  { key: "heap", title: "heap per session, KB", better: "lower", digits: 2 },
  { key: "rss", title: "RSS per session, KB", better: "lower", digits: 2 },
];

/** What stays open: sessions, and streams of changes. @param {Plan} plan @returns {Workload[]} */
export function sessionWorkloads(plan) {
  const counts = plan.isQuick ? [1_000] : [1_000, 10_000];
  return [cycle(plan), ...counts.map((count) => memory(count, plan)), listeners(plan)];
}

/** @param {Plan} plan @returns {Workload} */
function cycle(plan) {
  /** @type {HttpCase} */
  const httpCase = {
    settings: { mode: "session", answers: "json", tools: 2 },
    operation: echo,
    connections: 32,
    hasSessionEach: true,
  };
  const { rounds } = plan;
  return {
    id: "sessions/cycle",
    section: "Sessions and streams",
    title: "a session opened, used for one call, and closed; 32 connections",
    reference: floor,
    measures: measures.map((one) => (one.key === "perSecond" ? { ...one, title: "sessions/s" } : one)),
    amount: plan.amount,
    rounds: rounds.own,
    contenders: contenders(plan, {
      id: "sessions/cycle",
      rounds,
      mode: "session",
      start: (one) => httpTurns(one, inAForm(one, httpCase), plan.peers),
    }),
  };
}

/** @param {number} count @param {Plan} plan @returns {Workload} */
function memory(count, plan) {
  const id = `sessions/memory/${count}`;
  const rounds = { own: plan.isQuick ? 1 : 3, others: 1 };
  return {
    id,
    section: "Sessions and streams",
    title: `memory of an idle session, of ${count.toLocaleString("en-US")}`,
    reference: floor,
    measures: memoryMeasures,
    rounds: rounds.own,
    contenders: contenders(plan, {
      id,
      rounds,
      mode: "session",
      sample: (one) => memorySample(one, count, plan.peers),
    }),
  };
}

/** @param {Plan} plan @returns {Workload} */
function listeners(plan) {
  /** @type {HttpCase} */
  const httpCase = {
    settings: { mode: "modern", answers: "sse", tools: 1, hasChange: true },
    operation: change,
    connections: 1_000,
    load: "changes",
  };
  const { rounds } = plan;
  return {
    id: "listen/1000",
    section: "Sessions and streams",
    title: "a change told on 1,000 open streams",
    reference: floor,
    measures: measures.map((one) => (one.key === "perSecond" ? { ...one, title: "changes/s" } : one)),
    amount: { ...plan.amount, duration: Math.max(1_000, plan.amount.duration) },
    rounds: rounds.own,
    contenders: contenders(plan, {
      id: "listen/1000",
      rounds,
      mode: "modern",
      answers: "sse",
      start: (one) => httpTurns(one, httpCase, plan.peers),
    }),
  };
}

/**
 * How each contender is measured.
 *
 * @typedef {object} HowTo
 * @property {string} id
 * @property {Rounds} rounds
 * @property {"session" | "modern"} mode
 * @property {Answers} [answers]
 * @property {(one: Implementation) => Promise<Turns>} [start]
 * @property {(one: Implementation) => Promise<Sample>} [sample]
 */

/** One that answers with streams alone does so here. @param {Implementation} implementation @param {HttpCase} httpCase @returns {HttpCase} */
function inAForm({ http }, httpCase) {
  /** @type {Answers} */
  const answers = http?.answers.includes("json") ? "json" : "sse";
  return { ...httpCase, settings: { ...httpCase.settings, answers } };
}

/**
 * @param {Plan} plan
 * @param {HowTo} how
 * @returns {Contender[]}
 */
function contenders(plan, { id, rounds, mode, answers, start, sample }) {
  return plan.implementations.map((one) => {
    const notRun = cannot(one, { id, mode, answers: answers ?? one.http?.answers[0] ?? "json" });
    if (notRun !== undefined) return { name: one.name, notRun };
    return {
      name: one.name,
      ...(start && { start: () => start(one) }),
      ...(sample && { sample: () => sample(one) }),
      rounds: roundsOf(one.name, rounds),
    };
  });
}
