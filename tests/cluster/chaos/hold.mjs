// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { McpError, LocalError } from "mcparley";
import { connect } from "mcparley/client";
import { followTasks, tasksOf } from "mcparley/tasks";

/** @import { Client } from "mcparley/client" */
/** @import { Conversation, Outcome, Step } from "./types.ts" */

/** Milliseconds that a call may be silent, and take, as the client has it by itself: beyond them something hangs. */
const patience = { idle: 60_000, total: 120_000 };
/** Milliseconds for which a failed step is repeated, and within which a notified change must arrive. */
const persistence = 60_000;
const delivery = 60_000;

/** A wrong answer, or a loss that the protocol and the server exclude. */
class Broken extends Error {
  /** @param {"wrong" | "lost" | "hung"} verdict @param {string} message */
  constructor(verdict, message) {
    super(message);
    this.verdict = verdict;
  }
}

/**
 * Holds a conversation, step by step. A step that fails is repeated, as a careful user would: each of them may be.
 *
 * @param {string} url
 * @param {Conversation} conversation
 * @returns {Promise<Outcome>}
 */
export async function hold(url, { name, server, revision, steps }) {
  /** @type {string[]} */
  const errors = [];
  /** @type {string[]} */
  const noted = [];
  /** @type {string[]} */
  const tasks = [];
  const at = { conversation: `${name} (${revision}, ${server})`, errors, server, tasks };
  /** @type {Client | undefined} */
  let client;
  try {
    client = await persist(() => open(url, revision, (error) => noted.push(error.message)), errors);
    for (const step of steps) await take(client, step, { server, errors, noted, tasks });
    return { ...at, verdict: errors.length === 0 ? "undisturbed" : "after repeating" };
  } catch (error) {
    const why = [error instanceof Error ? error.message : String(error), ...noted.slice(-5)].join("\n      ");
    if (error instanceof Broken) return { ...at, verdict: error.verdict, why };
    return { ...at, verdict: isClear(error) ? "failed clearly" : "failed unclearly", why };
  } finally {
    await client?.close().catch(() => {});
  }
}

/** @param {string} url @param {string} revision @param {(error: Error) => void} onError */
function open(url, revision, onError) {
  return connect(url, {
    revision,
    elicit: ({ message }) => ({ action: "accept", content: { word: `word for ${message}` } }),
    sample: ({ messages }) => ({
      role: "assistant",
      model: "scripted",
      content: { type: "text", text: `thought of ${JSON.stringify(messages)}` },
    }),
    extensions: [followTasks()],
    timeout: patience,
    cache: false,
    onError,
  });
}

/**
 * The server of a conversation, its errors, the errors that the client reported, and the tasks.
 *
 * @typedef {Pick<Outcome, "server" | "errors" | "tasks"> & { noted: string[] }} Notes
 */

/** The text of a result as its server signs it. @param {Pick<Notes, "server">} notes @param {string} text */
const signed = ({ server }, text) => (server === "cluster" ? text : `${server}: ${text}`);

/** @param {Client} client @param {Step} step @param {Notes} notes */
async function take(client, step, notes) {
  const { errors } = notes;
  /** @param {string} name @param {import("mcparley").JsonObject} args */
  const call = (name, args) => persist(() => client.callTool(name, args), errors);
  switch (step.does) {
    case "add":
      return expectSame(await call("add", { a: step.a, b: step.b }), signed(notes, String(step.a + step.b)));
    case "count":
      return persist(() => count(client, step, notes), errors);
    case "ask":
      return expectSame(
        await call("ask", { tag: step.tag }),
        signed(notes, `${step.tag} is word for A word for ${step.tag}?`),
      );
    case "think": {
      const asked = [{ role: "user", content: { type: "text", text: step.tag } }];
      return expectSame(await call("think", { tag: step.tag }), signed(notes, `thought of ${JSON.stringify(asked)}`));
    }
    case "keep":
      expectSame(await call("keep", { key: step.key, value: step.value }), "kept");
      return expectSame(await call("recall", { key: step.key }), step.value, "lost");
    case "watch":
      return persist(() => watch(client, step.id, notes), errors);
    case "job":
      return work(client, step, notes);
  }
}

/**
 * Checks that all progress arrives in order before the result.
 *
 * @param {Client} client @param {Step & { does: "count" }} step @param {Notes} notes
 */
async function count(client, { to, pause: ms }, notes) {
  /** @type {number[]} */
  const heard = [];
  const result = await client.callTool(
    "count",
    { to, pause: ms },
    { onProgress: ({ progress }) => heard.push(progress) },
  );
  expectSame(result, signed(notes, `counted to ${to}`));
  expectSame(heard.join(), Array.from({ length: to }, (_, n) => n + 1).join(), "lost");
}

/** Checks that a change on any node reaches the subscriber. @param {Client} client @param {string} id @param {Notes} notes */
async function watch(client, id, { errors, noted }) {
  /** @type {() => void} */
  let wake = () => {};
  const heard = new Promise((resolve) => (wake = () => resolve(undefined)));
  const subscription = await client.listen({ uris: [`note://${id}`] }, () => wake());
  try {
    await persist(() => client.callTool("change", { id }), errors);
    const late = new AbortController();
    const told = pause(delivery, "late", { signal: late.signal }).catch(() => "heard");
    if ((await Promise.race([heard, told])) === "late") {
      const said = noted.find((message) =>
        /its notifications are lost|answered notifications\/initialized/.test(message),
      );
      if (said !== undefined) throw new LocalError("closed", said);
      throw new Broken("lost", `nobody heard that note://${id} changed`);
    }
    late.abort();
  } finally {
    await subscription.close().catch(() => {});
  }
}

/** Follows a task to its result. @param {Client} client @param {Step & { does: "job" }} step @param {Notes} notes */
async function work(client, { tag, steps, pause: ms }, notes) {
  const { errors } = notes;
  const tasks = tasksOf(client);
  const { task, result } = await persist(() => tasks.start("job", { tag, steps, pause: ms }), errors);
  if (task) notes.tasks.push(task.taskId);
  const { content } = task ? await persist(() => tasks.result(task.taskId), errors, "lost") : result;
  expectSame(content.map((block) => (block.type === "text" ? block.text : "")).join(), signed(notes, `${tag} is done`));
}

/**
 * Repeats an action that failed with a documented error.
 *
 * @template T
 * @param {() => Promise<T>} act
 * @param {string[]} errors
 * @param {"lost"} [ifNever] the meaning if it never succeeds
 * @returns {Promise<T>}
 */
async function persist(act, errors, ifNever) {
  for (const end = Date.now() + persistence; ; await pause(100)) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof Broken || !isClear(error)) throw error;
      if (error instanceof LocalError && error.code === "timeout") throw new Broken("hung", error.message);
      errors.push(inGeneral(error));
      if (isFinal.test(error.message)) throw error;
      if (Date.now() < end) continue;
      throw ifNever === undefined ? error : new Broken(ifNever, error.message);
    }
  }
}

/** Returns whether a repetition cannot succeed: the error is that of a task that ran and failed. */
const isFinal = /process(?:es)? that ran this task ended before the task/;

/** @param {unknown} error @returns {error is McpError} */
function isClear(error) {
  return error instanceof McpError && error.message.length > 0;
}

/** Returns the text of an error without ids and times. @param {McpError} error */
function inGeneral({ name, code, message }) {
  const general = message
    .replaceAll(/[0-9a-f-]{16,}/g, "…")
    .replaceAll(/\d+/g, "N")
    .slice(0, 200);
  return `${name} ${code}: ${general}`;
}

/** @param {unknown} found @param {unknown} expected @param {"wrong" | "lost"} [verdict] */
function expectSame(found, expected, verdict = "wrong") {
  if (found === expected) return;
  throw new Broken(verdict, `got ${JSON.stringify(found)} where ${JSON.stringify(expected)} is right`);
}
