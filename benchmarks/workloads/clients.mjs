// @ts-check
import { floor, own } from "../implementations/implementations.mjs";
import { clientTurns } from "../measure/client-turns.mjs";
import { answerNames, modeNames } from "./http.mjs";
import { roundsOf } from "./plan.mjs";

/** @import { ClientImplementation, Contender, Measure, Workload } from "../types.ts" */
/** @import { ClientCase } from "../measure/client-turns.mjs" */
/** @import { Plan, Rounds } from "./plan.mjs" */

/** @type {readonly Measure[]} */
const measures = [
  { key: "cpu", title: "client CPU, µs", better: "lower", digits: 1, ratio: "CPU × floor" },
  { key: "perSecond", title: "calls/s", better: "higher", digits: 0, ratio: "× floor" },
  { key: "p50", title: "p50, ms", better: "lower", digits: 3 },
  { key: "p99", title: "p99, ms", better: "lower", digits: 3 },
];

const wayNames = { memory: "memory", stdio: "stdio", http: "HTTP" };
const many = 32;
const listed = 50;

/** @typedef {Pick<ClientCase, "way" | "mode"> & Partial<ClientCase> & { isSide?: boolean }} Variant `isSide`: it has no target */

/** Returns the workloads of clients over each transport. The server is on the other core, or a function in memory. @param {Plan} plan @returns {Workload[]} */
export function clientWorkloads(plan) {
  return [...variants().map((variant) => workloadOf(variant, plan)), signalWorkload(plan)];
}

/** Returns the workload of calls with a signal, compared with the same calls without one. @param {Plan} plan @returns {Workload} */
function signalWorkload(plan) {
  const names = [own, "mcparley-with-signal"];
  const clientCase = /** @type {const} */ ({
    way: "memory",
    mode: "modern",
    answers: "json",
    operation: "call",
    atOnce: 1,
    tools: 2,
  });
  return {
    id: "client/memory/signal/modern",
    section: "Clients",
    title: "callTool echo with a signal, memory, modern, one call after another",
    reference: own,
    measures: measures.map((measure) =>
      measure.ratio ? { ...measure, ratio: measure.ratio.replace("floor", own) } : measure,
    ),
    amount: plan.amount,
    rounds: plan.rounds.own,
    contenders: names.map((name) => ({
      name,
      start: () => clientTurns({ name, isPeer: false, modes: { memory: ["modern"] } }, clientCase, plan.peers),
    })),
  };
}

/** The targets are for modern requests over HTTP, and for all calls in memory. @returns {Variant[]} */
function variants() {
  const list = /** @type {const} */ ({ operation: "list", tools: listed });
  const http = /** @type {const} */ ({ way: "http", mode: "modern" });
  const legacy = /** @type {const} */ ({ way: "http", mode: "stateless", isSide: true });
  return [
    { way: "memory", mode: "stateless" },
    { way: "memory", mode: "modern" },
    { way: "memory", mode: "stateless", ...list },
    { way: "memory", mode: "modern", ...list },
    { way: "stdio", mode: "stateless", isSide: true },
    { way: "stdio", mode: "modern", isSide: true },
    { ...http, answers: "json" },
    { ...http, answers: "json", atOnce: many },
    { ...http, answers: "sse" },
    { ...http, answers: "sse", atOnce: many },
    { ...http, ...list },
    { ...legacy, answers: "json" },
    { ...legacy, answers: "json", atOnce: many },
    { ...legacy, answers: "sse" },
  ];
}

/** @param {Variant} variant @param {Plan} plan @returns {Workload} */
function workloadOf({ isSide = false, way, mode, answers = "json", operation = "call", atOnce = 1, tools = 2 }, plan) {
  const clientCase = { way, mode, answers, operation, atOnce, tools };
  const rounds = isSide ? plan.sideRounds : plan.rounds;
  const isOverHttp = way === "http";
  const what = operation === "call" ? "call" : `list/${tools}`;
  const form = isOverHttp && operation === "call" ? [answers] : [];
  const title = [
    operation === "call" ? "callTool echo" : `listTools, ${tools} tools`,
    wayNames[way],
    ...(isOverHttp ? [answerNames[answers]] : []),
    modeNames[mode],
    atOnce === 1 ? "one call after another" : `${atOnce} calls at a time`,
  ];
  return {
    id: ["client", way, what, ...form, mode, ...(isOverHttp ? [atOnce] : [])].join("/"),
    section: "Clients",
    title: title.join(", "),
    reference: floor,
    measures:
      way === "memory" ? measures.map(({ key, title, better, digits }) => ({ key, title, better, digits })) : measures,
    amount: plan.amount,
    rounds: rounds.own,
    contenders: plan.clients.map((client) => contenderOf(client, clientCase, { plan, rounds })),
  };
}

/** @param {ClientImplementation} client @param {ClientCase} clientCase @param {{ plan: Plan, rounds: Rounds }} how @returns {Contender} */
function contenderOf(client, clientCase, { plan, rounds }) {
  const { name, isPeer, modes } = client;
  const { way, mode } = clientCase;
  const can = modes[way];
  if (!can) return { name, notRun: `It has no client for ${wayNames[way]}.` };
  if (!can.includes(mode)) return { name, notRun: `Its client does not speak ${modeNames[mode]}.` };
  return {
    name,
    start: () => clientTurns(client, clientCase, plan.peers),
    rounds: roundsOf(name, rounds),
    warmup: plan.amount.warmup * (way === "http" ? warmups(client) : 1),
    needsPeers: isPeer,
  };
}

/**
 * The warm-up of a client over HTTP, as a multiple of that of a server. The CPU time of a call falls for that long: a client sends fewer requests
 * in the same time than a server answers, and `fetch` needs more than 4 seconds.
 *
 * @param {ClientImplementation} client
 */
function warmups({ usesFetch = false }) {
  return usesFetch ? 4 : 2;
}
