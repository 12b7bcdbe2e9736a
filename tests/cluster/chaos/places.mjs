// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { post, readReply } from "./raw.mjs";

/** Number of tasks that may run in one process of the chaos run. */
export const places = 100;
/** Milliseconds for which tasks of ended conversations may still run. */
const patience = 30_000;

/**
 * Fills each process with tasks, and empties it again. Returns the processes that do not have all of their places free.
 *
 * @param {readonly { index: number, url: string }[]} nodes
 * @returns {Promise<{ looked: number, taken: string[] }>}
 */
export async function findTakenPlaces(nodes) {
  const taken = await Promise.all(
    nodes.map(async ({ index, url }) => {
      for (const end = Date.now() + patience; ; await pause(500)) {
        const free = await countFree(url);
        if (free === places) return [];
        if (Date.now() > end) return `process ${index} has ${free} of ${places} places free`;
      }
    }),
  );
  return { looked: nodes.length, taken: taken.flat() };
}

/** Starts more tasks than there are places, and cancels those that were accepted. @param {string} url */
async function countFree(url) {
  const answers = await Promise.all(
    Array.from({ length: places + 20 }, () => task(url, "tools/call", { name: "hold" })),
  );
  const ids = answers.flatMap(({ result }) => result?.taskId ?? []);
  await Promise.all(ids.map((taskId) => cancel(url, taskId)));
  return ids.length;
}

/** Cancels a task, also if the store is not back yet. @param {string} url @param {string} taskId */
async function cancel(url, taskId) {
  for (const end = Date.now() + patience; Date.now() < end; await pause(100)) {
    if ((await task(url, "tasks/cancel", { taskId })).result) return;
  }
}

/** @param {string} url @param {string} method @param {{ name?: string, taskId?: string }} params */
async function task(url, method, params) {
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const answer = await post(url, method, { params: { arguments: {}, ...params }, capabilities });
  return readReply(answer);
}
