// @ts-check
"use strict";
const { execFile, execFileSync } = require("node:child_process");
const { readdirSync, readFileSync } = require("node:fs");

/*
 * The program of the watchdog. It reads the starts and ends of servers from its input until that ends, and then ends the
 * servers that remain.
 *
 * Argument: the environment variable that marks the servers of the host, as `NAME=value`.
 */

/** @typedef {{ pid: number; start: string | undefined }} Group A process group, and the start time of its leader. */

const marker = process.argv.at(-1) ?? "";
/** The servers by the number of their start. The value is undefined until the process id is known. */
const servers = new Map(/** @type {[string, Group | undefined][]} */ ([]));
let isOrderly = false;
let rest = "";

// The host decides when to end. The watchdog follows at the end of its input.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.title = "mcparley-watchdog";
process.stdin.on("error", () => {});
process.stdin.setEncoding("latin1").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) read(line);
});
process.stdin.once("close", endServers);

/** @param {string} line */
function read(line) {
  const [event, number = "", pid] = line.split(" ");
  if (event === "starting") servers.set(number, undefined);
  if (event === "started") servers.set(number, { pid: Number(pid), start: startOf(Number(pid)) });
  if (event === "ended") servers.delete(number);
  if (event === "close") isOrderly = true;
}

/** Sends SIGTERM to the groups that remain, and SIGKILL after 1.5 seconds. */
function endServers() {
  const groups = [...servers.values()].filter((group) => group !== undefined);
  if (!isOrderly && groups.length < servers.size) groups.push(...unreportedGroups(groups));
  if (process.platform === "win32") {
    for (const { pid } of groups) execFile("taskkill", ["/pid", String(pid), "/T", "/F"], () => {});
    return;
  }
  const began = Date.now();
  for (const group of groups) send(group, "SIGTERM");
  const poll = setInterval(() => {
    const passed = Date.now() - began;
    // A group of processes that have ended remains until init has read their exit codes.
    const remaining = groups.filter((group) => send(group, passed < 1_500 ? 0 : "SIGKILL"));
    if (remaining.length === 0 || passed > 3_000) clearInterval(poll);
  }, 50);
}

/**
 * Finds the servers that the host created just before its death, without reporting their process ids. Only on Linux.
 *
 * They run their programs by now, with the marker in their environment: until then they have a copy of the pipe.
 *
 * @param {Group[]} reported
 */
function unreportedGroups(reported) {
  if (process.platform !== "linux") return [];
  const known = new Set([process.pid, ...reported.map(({ pid }) => pid)]);
  const pids = readdirSync("/proc").map(Number).filter(Boolean);
  return pids.filter((pid) => !known.has(pid) && isMarked(pid)).map((pid) => ({ pid, start: startOf(pid) }));
}

/** Returns whether a process leads a session, as each server does, and has the marker. @param {number} pid */
function isMarked(pid) {
  if (statOf(pid)?.[3] !== String(pid)) return false;
  return (
    attempt(() => readFileSync(`/proc/${pid}/environ`, "latin1"))
      ?.split("\0")
      .includes(marker) === true
  );
}

/**
 * Sends a signal to a group. Returns false if it has ended, or if its id belongs to another process now.
 *
 * @param {Group} group
 * @param {string | number} signal
 */
function send({ pid, start }, signal) {
  const now = startOf(pid);
  if (now !== undefined && start !== undefined && now !== start) return false;
  return attempt(() => process.kill(-pid, signal)) === true;
}

/** Returns the start time of a process. Undefined if it has ended, or if the time is unknown. @param {number} pid */
function startOf(pid) {
  if (process.platform === "win32") return undefined;
  if (process.platform === "linux") return statOf(pid)?.[19];
  // The text depends on the locale and the time zone.
  const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
  const args = ["-o", "lstart=", "-p", String(pid)];
  return attempt(() => execFileSync("ps", args, { encoding: "utf8", timeout: 500, env }));
}

/** Returns the fields of `/proc/PID/stat` after the name: state, parent, group, session and others. @param {number} pid */
function statOf(pid) {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Returns undefined if the function throws, because a process has ended or belongs to another user. @template T @param {() => T} run */
function attempt(run) {
  try {
    return run();
  } catch {
    return undefined;
  }
}
