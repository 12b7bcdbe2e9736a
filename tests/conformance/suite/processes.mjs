// @ts-check
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Milliseconds after which a program that should have ended is ended. */
const limit = 600_000;

/**
 * Runs a program to its end. Returns its exit code and its output, with stdout and stderr combined.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {Promise<{ code: number | null, output: string }>}
 */
export function runToEnd(program, args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout: limit });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
    child.on("error", (error) => resolve({ code: null, output: String(error) }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/**
 * Starts a separate server for one use, and stops it afterwards.
 *
 * @template T
 * @param {string} file a script that prints its URL as its first line
 * @param {(url: string) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withServer(file, use) {
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  try {
    return await use(await firstLine(child.stdout));
  } finally {
    child.kill();
    await ended;
  }
}

/** @param {import("node:stream").Readable} stream @returns {Promise<string>} */
function firstLine(stream) {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stream });
    lines.once("line", resolve);
    lines.once("close", () => reject(new Error("The server ended before it printed its URL.")));
  });
}

/**
 * Runs tasks in order, at most `atOnce` at a time. Returns their results in the same order.
 *
 * @template T
 * @param {readonly (() => Promise<T>)[]} tasks
 * @param {number} atOnce
 * @returns {Promise<T[]>}
 */
export async function inParallel(tasks, atOnce) {
  /** @type {T[]} */
  const results = [];
  const left = [...tasks.entries()];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await next[1]();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}
