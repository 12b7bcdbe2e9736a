// @ts-check
import childProcess from "node:child_process";
import { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/*
 * A host in a process of its own. It prints a line of JSON for each command that it reads from its input, except for those
 * that end it.
 *
 * Arguments: the path of the bundled host, the file to which servers append their process ids, and optionally the path of the
 * program that runs the watchdog.
 */
const [library = "", file = "", watchdogProgram] = process.argv.slice(2);
const server = fileURLToPath(new URL("server.mjs", import.meta.url));
const node = process.execPath;
const { spawn } = childProcess;
/** Replaces `spawn` for all modules. @param {(...args: Parameters<typeof spawn>) => ReturnType<typeof spawn>} replacement */
function replaceSpawn(replacement) {
  childProcess.spawn = /** @type {typeof spawn} */ (replacement);
  syncBuiltinESMExports();
}

/** The process id of the watchdog, while it runs. @type {number | undefined} */
let watchdog;
replaceSpawn((...args) => {
  const child = spawn(...args);
  if (!isWatchdog(args)) return child;
  watchdog = child.pid;
  child.once("exit", () => (watchdog = watchdog === child.pid ? undefined : watchdog));
  return child;
});
// The host starts the watchdog with the program of this process.
if (watchdogProgram !== undefined) process.execPath = watchdogProgram;

const { createHost } = await import(library);
/** @type {import("@mcparley/host").Host} */
const host = await createHost({ folder: false, policy: { trust: "configured", review: "changes" } });
/** The errors that belong to no server. @type {string[]} */
const errors = [];
host.subscribe((event) => {
  if (event.type === "error" && event.server === undefined) errors.push(event.error.message);
});
let servers = 0;

/** @param {Parameters<typeof spawn>} args */
function isWatchdog([, args]) {
  return Array.isArray(args) && args.some((arg) => arg.startsWith("MCPARLEY_HOST_ID="));
}

/** @param {object} line */
const print = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

/** Connects a server of each kind, and reports the process of the watchdog. @param {string[]} kinds */
async function start(...kinds) {
  const connected = kinds.map(async (kind) => {
    const target = { command: node, args: [server, file, kind] };
    const added = await host.add(`server-${++servers}`, { target, revision: "2025-11-25" });
    await added.connect();
  });
  await Promise.all(connected);
  print({ watchdog });
}

/** Starts a server, and dies before the watchdog receives its process id. @param {string} kind */
async function dieInStart(kind) {
  await start("obedient");
  replaceSpawn((...args) => {
    const child = spawn(...args);
    process.kill(process.pid, "SIGKILL");
    return child;
  });
  process.kill(watchdog ?? 0, "SIGSTOP");
  await start(kind);
}

/** @type {Record<string, (...args: string[]) => unknown>} */
const commands = {
  start,
  dieInStart,
  errors: () => print({ errors }),
  endWatchdog: () => process.kill(watchdog ?? 0, "SIGKILL"),
  watchdog: () => print({ watchdog: watchdog ?? null }),
  exit: () => process.exit(),
  abort: () => process.abort(),
  throw: () => setImmediate(() => JSON.parse("")),
  reject: () => void Promise.reject(new Error("unhandled")),
  /** Closes the host, and ends because nothing keeps the process alive. */
  async drain() {
    await host.close();
    input.close();
    process.stdin.unref();
  },
  /** Closes the host, and stays. */
  async close() {
    await host.close();
    print({});
  },
};

const input = createInterface({ input: process.stdin }).on("line", (line) => {
  const [command = "", ...args] = line.trim().split(" ");
  void commands[command]?.(...args);
});
print({ host: process.pid });
