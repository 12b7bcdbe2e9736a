// @ts-check
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";
import { Program } from "../measure/program.mjs";
import { residentOf, resetPeak } from "../measure/resident.mjs";

/** @import { Sample } from "../types.ts" */
/** @import { Resident } from "../measure/resident.mjs" */

/** The transport, and how the server has the bytes: in memory, or in a file that it streams. @typedef {{ way: LargeWay, source: "bytes" | "file" }} LargeCase */
/** @typedef {"json" | "sse" | "stdio" | "command"} LargeWay */

const mebi = 2 ** 20;
const size = 64 * mebi;
const encoded = Math.ceil(size / 3) * 4;
const limit = 128 * mebi;
const folder = path.join(root, ".tools/benchmarks/large");
const server = path.join(import.meta.dirname, "server.mjs");

/**
 * Reads a resource of 64 MiB once. Returns the growth of the peak resident memory of server and client beyond their idle
 * memory, in multiples of the encoded bytes.
 *
 * @param {LargeCase} large @returns {Promise<Sample>}
 */
export async function largeSample({ way, source }) {
  if (!residentOf()) throw new Error("Peak memory is measured on Linux only.");
  const args = [JSON.stringify({ way: way === "stdio" ? way : "http", size, file: fileOf() })];
  if (way === "command") return commandSample(args);
  const http = way === "stdio" ? undefined : new Program({ side: "server", file: server, args, isProbed: true });
  try {
    const target = http
      ? { url: await http.firstLine(), limits: { message: limit } }
      : { command: process.execPath, args: ["--expose-gc", server, ...args], maxLineBytes: limit };
    const isStream = way === "sse";
    const revision = isStream ? "2025-11-25" : "2026-07-28";
    return await readOnce({ target, source, revision, form: isStream ? "events" : "json" });
  } finally {
    await http?.end();
  }
}

/** @param {{ target: object, source: string, revision: string, form: string }} reading @returns {Promise<Sample>} */
async function readOnce(reading) {
  const job = JSON.stringify({ ...reading, encoded });
  const file = path.join(import.meta.dirname, "client.mjs");
  const client = new Program({ side: "load", file, args: [job], isProbed: true });
  try {
    const { serverPid } = await answerOf(client);
    const pids = [serverPid, client.child.pid ?? 0];
    for (const pid of pids) resetPeak(pid);
    const idle = pids.map(memoryOf);
    client.tell("read");
    await answerOf(client);
    const [forServer = NaN, forClient = NaN] = pids.map(
      (pid, index) => (memoryOf(pid).peak - (idle[index]?.now ?? NaN)) / encoded,
    );
    return { server: forServer, client: forClient };
  } finally {
    await client.end();
  }
}

/** The command is compared with a command that reads a small resource, because it has no idle phase. @param {readonly string[]} args @returns {Promise<Sample>} */
async function commandSample(args) {
  const program = new Program({ side: "server", file: server, args, isProbed: true });
  try {
    const url = await program.firstLine();
    const small = await commandPeak(url, "small");
    return { client: ((await commandPeak(url, "bytes")) - small) / encoded };
  } finally {
    await program.end();
  }
}

/** Returns the peak resident memory of `mcparley read` in bytes. @param {string} url @param {string} source @returns {Promise<number>} */
async function commandPeak(url, source) {
  const file = path.join(import.meta.dirname, "command.mjs");
  const output = path.join(folder, "output.bin");
  const words = ["read", url, `large://${source}/json`, "--output", output, "--max-reply", "128MiB"];
  const command = new Program({ side: "load", file, args: words });
  try {
    const { peak } = await answerOf(command);
    return peak;
  } finally {
    await command.end();
  }
}

/** @param {Program} program @returns {Promise<any>} */
async function answerOf(program) {
  const message = await program.message(120_000);
  if (message.failed !== undefined) throw new Error(message.failed);
  return message;
}

/** @param {number} pid @returns {Resident} */
function memoryOf(pid) {
  const memory = residentOf(pid);
  if (!memory) throw new Error(`Process ${pid} has ended.`);
  return memory;
}

/** Writes the file of the size once. @returns {string} */
function fileOf() {
  const file = path.join(folder, `${size}.bin`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, Buffer.alloc(size, "0123456789abcdef!"));
  return file;
}
