// @ts-check
import { hostileCalls } from "../hostile-tools.mjs";
import { defaults, limits, rate } from "../limits.mjs";
import { inSession, initialize, message, modern, modernHeaders, post } from "./requests.mjs";

/** @import { Attacker, Site } from "./site.mjs" */

const call = "tools/call";
const complete = "completion/complete";
const ref = { type: "ref/prompt", name: "trip" };

/** Has more slow calls in flight than one caller may. @type {Attacker} */
const slowCalls = {
  name: "floods slow calls",
  reaches: ["limits.inFlight"],
  allows: ["limits.requests"],
  pause: 200,
  prepare: (site) => {
    const request = modern(call, { name: "wait" });
    return () => site.flood(limits.inFlight + 16, limits.inFlight + 16, () => request);
  },
};

/** Has more bytes of slow calls in flight than one caller may. @type {Attacker} */
const largeSlowCalls = {
  name: "floods slow calls with large bodies",
  reaches: ["limits.bodies"],
  pause: 1_000,
  prepare: (site) => {
    const request = modern(call, { name: "wait", _meta: { padding: "x".repeat(3_900_000) } });
    const count = Math.ceil(limits.bodies / 2 / request.length) + 3;
    return () => site.flood(count, count, () => request);
  },
};

/** Makes completions faster than `rateLimit` allows. @type {Attacker} */
const floodingCompletions = {
  name: "exhausts the rate limit",
  reaches: ["rateLimit"],
  pause: 1_000,
  prepare: (site) => {
    const request = modern(complete, { ref, argument: { name: "city", value: "b" } });
    return () => site.flood(8, rate.burst * 3, () => request);
  },
};

/** Completes values at the limit and over it. @type {Attacker} */
const largeCompletions = {
  name: "completions over the limit",
  reaches: ["limits.completionLength"],
  pause: 500,
  prepare: (site) => {
    const { completionLength } = defaults;
    const requests = [
      completion(completionLength),
      completion(completionLength + 1),
      completion(3_900_000),
      completion(1, { arguments: { city: "B".repeat(completionLength + 1) } }),
    ];
    return () => site.flood(1, requests.length, (index) => /** @type {Buffer} */ (requests[index]));
  },
};

/** Calls tools with arguments that are expensive to validate. @type {Attacker} */
const expensiveArguments = {
  name: "arguments that are expensive to validate",
  reaches: ["too complex"],
  allows: ["tool error"],
  pause: 250,
  prepare: (site) => {
    const requests = hostileCalls.map(({ name, value }) => modern(call, { name, arguments: { value: value() } }));
    const connection = site.connection();
    let turn = 0;
    return async () => {
      const index = turn++ % hostileCalls.length;
      const { tool, valid } = /** @type {typeof hostileCalls[number]} */ (hostileCalls[index]);
      const verdict = await site.ask(connection, /** @type {Buffer} */ (requests[index]));
      const isRight = verdict === "too complex" || verdict === (valid ? "ok" : "tool error");
      if (!isRight) site.surprise(`${tool.title}: ${verdict}`);
    };
  },
};

/** Sends messages over the limits of nesting, values, batches, ids and progress tokens. @type {Attacker} */
const oversizedMessages = {
  name: "messages over the limits",
  reaches: ["limits.depth", "limits.elements", "limits.batch", "limits.idLength"],
  allows: ["404", "sessions.max", "-32602"],
  pause: 500,
  prepare: (site) => {
    const { depth, elements, idLength } = defaults;
    const deep = nest(100_000);
    const requests = [
      echo({ arguments: { text: JSON.parse(nest(depth)) } }),
      echo({ arguments: { text: Array.from({ length: elements }, () => 1) } }),
      rawCall(`"arguments":{"text":${deep}}`),
      rawCall(`"padding":${deep}`),
      post(
        message("initialize", { protocolVersion: "2025-11-25", clientInfo: { name: "a", version: "1" } }).replace(
          '"clientInfo"',
          `"capabilities":{"x":${deep}},"clientInfo"`,
        ),
      ),
      echo({ _meta: { progressToken: "t".repeat(idLength) } }, "i".repeat(idLength)),
      echo({ _meta: { progressToken: "t".repeat(idLength + 1) } }),
      echo({ _meta: { progressToken: "t".repeat(3_900_000) } }),
      echo({ _meta: { progressToken: {} } }),
      echo({}, "i".repeat(idLength + 1)),
      echo({}, "i".repeat(3_900_000)),
    ];
    return async () => {
      await site.flood(1, requests.length, (index) => /** @type {Buffer} */ (requests[index]));
      await sendBatches(site);
    };
  },
};

/** Leaves input requests without an answer, and answers others after their state has expired. @type {Attacker} */
const lateAnswers = {
  name: "never answers input requests",
  reaches: ["limits.askTimeout", "limits.stateTtl"],
  allows: ["404", "sessions.max"],
  pause: 200,
  prepare: (site) => async () => {
    await Promise.all([neverAnswer(site), answerLate(site)]);
  },
};

/** @param {Site} site */
async function neverAnswer(site) {
  const connection = site.connection();
  const id = await site.open(connection, { request: initialize(undefined, { elicitation: {} }) });
  if (id !== undefined) {
    const { verdict, answer } = await site.send(connection, inSession(id, message(call, { name: "ask" })));
    const isTimeout = /"isError":true|"error":/.test(answer?.body.toString("latin1") ?? "");
    site.note(isTimeout && verdict !== "404" ? "limits.askTimeout" : verdict);
  }
  connection.close();
}

/** @param {Site} site */
async function answerLate(site) {
  const connection = site.connection();
  const { verdict, answer } = await site.send(connection, modern(call, { name: "ask" }));
  site.note(verdict);
  const result = JSON.parse(answer?.body.toString("utf8") ?? "{}").result ?? {};
  const given = { action: "accept", content: { colour: "green" } };
  const inputResponses = Object.fromEntries(Object.keys(result.inputRequests ?? {}).map((key) => [key, given]));
  await site.pause(limits.stateTtl + 500);
  if (!site.isOver) {
    const late = modern(call, { name: "ask", inputResponses, requestState: result.requestState });
    const again = await site.send(connection, late);
    site.note(again.verdict === "-32602" || again.verdict === "400" ? "limits.stateTtl" : again.verdict);
  }
  connection.close();
}

/** Sends a batch at the limit and one over it, in a session of the revision that has batches. @param {Site} site */
async function sendBatches(site) {
  const revision = "2025-03-26";
  const connection = site.connection();
  const id = await site.open(connection, { request: initialize(undefined, {}, revision) });
  for (const size of [defaults.batch, defaults.batch + 1]) {
    if (id === undefined || site.isOver) break;
    const batch = Array.from({ length: size }, (_, index) => message("ping", {}, index));
    await site.ask(connection, inSession(id, `[${batch.join(",")}]`, revision));
  }
  connection.close();
}

/** @param {number} length @param {object} context */
function completion(length, context = {}) {
  return modern(complete, { ref, argument: { name: "city", value: "B".repeat(length) }, context });
}

/** @param {object} more @param {string | number} id */
function echo(more, id = 1) {
  return modern(call, { name: "echo", arguments: { text: "" }, ...more }, id);
}

/** Returns a call whose params contain a text that is too deep for `JSON.stringify`. @param {string} params */
function rawCall(params) {
  const meta = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",${params},"_meta":{${meta}}}}`;
  return post(text, modernHeaders(call, "echo"));
}

/** @param {number} levels */
function nest(levels) {
  return "[".repeat(levels) + "]".repeat(levels);
}

export const callAttackers = [
  slowCalls,
  largeSlowCalls,
  floodingCompletions,
  largeCompletions,
  expensiveArguments,
  oversizedMessages,
  lateAnswers,
];
