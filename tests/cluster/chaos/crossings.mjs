// @ts-check
import { McpError } from "mcparley";
import { connect } from "mcparley/client";
import { followTasks, tasksOf } from "mcparley/tasks";
import { post as postModern, readReply } from "./raw.mjs";

/** @import { Outcome, ServerName } from "./types.ts" */

/** Number of tasks of each server that are looked for on the other, and of sessions and sealed states. */
const maxTasks = 100;
const samples = 20;

/**
 * Looks for state of one server that the other accepts or shows, though both use one store.
 *
 * @param {Record<ServerName, string>} urls
 * @param {readonly Outcome[]} outcomes
 * @returns {Promise<{ looked: number, found: string[] }>}
 */
export async function findCrossings(urls, outcomes) {
  /** @type {string[]} */
  const found = [];
  let looked = 0;
  for (const [own, strange] of /** @type {const} */ ([
    ["cluster", "other"],
    ["other", "cluster"],
  ])) {
    const tasks = outcomes.flatMap((outcome) => (outcome.server === own ? outcome.tasks : []));
    for (const look of [
      () => findTasks(urls[strange], tasks.slice(-maxTasks)),
      () => findSessions(urls[own], urls[strange]),
      () => findStates(urls[own], urls[strange]),
      () => findTools(urls[strange], strange),
    ]) {
      const { count, wrong } = await look();
      looked += count;
      found.push(...wrong.map((what) => `${what} of ${own} on ${strange}`));
    }
  }
  return { looked, found };
}

/** Tasks that the other server shows. @param {string} url @param {readonly string[]} ids */
async function findTasks(url, ids) {
  const client = await connect(url, { revision: "2026-07-28", extensions: [followTasks()], cache: false });
  /** @type {string[]} */
  const wrong = [];
  try {
    for (const id of ids) {
      const shown = await tasksOf(client)
        .get(id)
        .then(
          () => "a task",
          (error) => (error instanceof McpError && error.message.includes("task does not exist") ? "" : String(error)),
        );
      if (shown !== "") wrong.push(`${shown} (${id})`);
    }
  } finally {
    await client.close();
  }
  return { count: ids.length, wrong };
}

/** Sessions that the other server serves. @param {string} own @param {string} strange */
async function findSessions(own, strange) {
  /** @type {string[]} */
  const wrong = [];
  for (let n = 0; n < samples; n++) {
    const clientInfo = { name: "raw", version: "1.0.0" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const opened = await post(own, { method: "initialize", params });
    await opened.text();
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const [there, here] = [
      await post(strange, { method: "ping" }, headers),
      await post(own, { method: "ping" }, headers),
    ];
    await Promise.all([there.text(), here.text()]);
    if (there.status !== 404 || here.status !== 200) wrong.push(`a session (${there.status}, ${here.status})`);
  }
  return { count: samples, wrong };
}

/** Sealed states that the other server opens, although both have the same `stateKeys`. @param {string} own @param {string} strange */
async function findStates(own, strange) {
  /** @type {string[]} */
  const wrong = [];
  for (let n = 0; n < samples; n++) {
    const asked = await modern(own, { tag: `t${n}` });
    const { requestState, inputRequests = {} } = asked.result ?? {};
    const [key = ""] = Object.keys(inputRequests);
    const consent = { requestState, inputResponses: { [key]: { action: "accept", content: { word: "yes" } } } };
    const refused = await modern(strange, { tag: `t${n}` }, consent);
    const accepted = await modern(own, { tag: `t${n}` }, consent);
    const isRight = refused.error?.code === -32602 && accepted.result?.content !== undefined;
    if (!isRight) wrong.push(`a sealed state (${JSON.stringify([refused, accepted])})`);
  }
  return { count: samples, wrong };
}

/** Tools that belong to the other server alone. @param {string} url @param {ServerName} name */
async function findTools(url, name) {
  const client = await connect(url, { cache: false });
  try {
    const names = (await client.listTools().all()).map((tool) => tool.name);
    return { count: 1, wrong: names.includes("multiply") === (name === "other") ? [] : ["a list of tools"] };
  } finally {
    await client.close();
  }
}

/** Calls `ask` in one request of 2026-07-28. @param {string} url @param {object} args @param {object} [more] */
async function modern(url, args, more = {}) {
  const params = { name: "ask", arguments: args, ...more };
  const answer = await postModern(url, "tools/call", { params, capabilities: { elicitation: { form: {} } } });
  return readReply(answer);
}

/** @param {string} url @param {{ method: string, params?: object }} message @param {Record<string, string>} [headers] */
function post(url, message, headers = {}) {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
}
