// @ts-check
import childProcess from "node:child_process";
import { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect } from "mcparley/client";

/*
 * A host in a process of its own. It prints a line of JSON for each command that it reads from its input, except for those
 * that end it.
 *
 * Arguments: the path of the bundled watchdog, the file to which servers append their process ids, and optionally the path of
 * the program that runs the watchdog.
 */
const [library = "", file = "", node] = process.argv.slice(2);
const { openWatchdog } = await import(library);
const server = fileURLToPath(new URL("server.mjs", import.meta.url));

/** @type {string[]} */
const errors = [];
/** @type {import("mcparley/client").Client[]} */
const clients = [];
const watchdog = openWatchdog({ onError: (/** @type {Error} */ { message }) => errors.push(message), node });

/** @param {object} line */
const print = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

/** Connects a server of each kind, and reports the process of the watchdog. @param {string[]} kinds */
async function start(...kinds) {
  const connected = kinds.map((kind) => {
    const target = { command: process.execPath, args: [server, file, kind] };
    return connect(watchdog.watched(target), { revision: "2025-11-25" });
  });
  clients.push(...(await Promise.all(connected)));
  print({ watchdog: watchdog.pid });
}

/** Starts a server, and dies before the watchdog receives its process id. @param {string} kind */
async function dieInStart(kind) {
  await start("obedient");
  const { spawn } = childProcess;
  childProcess.spawn = /** @type {typeof spawn} */ (
    (/** @type {Parameters<typeof spawn>} */ ...args) => {
      spawn(...args);
      process.kill(process.pid, "SIGKILL");
    }
  );
  syncBuiltinESMExports();
  process.kill(watchdog.pid, "SIGSTOP");
  await start(kind);
}

/** @type {Record<string, (...args: string[]) => unknown>} */
const commands = {
  start,
  dieInStart,
  errors: () => print({ errors }),
  endWatchdog: () => process.kill(watchdog.pid, "SIGKILL"),
  watchdog: () => print({ watchdog: watchdog.pid ?? null }),
  exit: () => process.exit(),
  abort: () => process.abort(),
  throw: () => setImmediate(() => JSON.parse("")),
  reject: () => void Promise.reject(new Error("unhandled")),
  /** Closes all connections, and ends because nothing keeps the process alive. */
  async drain() {
    await Promise.all(clients.map((client) => client.close()));
    input.close();
    process.stdin.unref();
  },
  /** Closes the watchdog, which then ends the servers, and stays. */
  close() {
    watchdog.close();
    print({});
  },
};

const input = createInterface({ input: process.stdin }).on("line", (line) => {
  const [command = "", ...args] = line.trim().split(" ");
  void commands[command]?.(...args);
});
print({ host: process.pid });
