// @ts-check
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { install } from "../matrix/install.mjs";

/**
 * The official SDK for Python as the reader of our texts. Each text was cut in half an emoji before it was sent: without a repair, Python
 * refuses the message that contains it.
 *
 * @typedef {{ what: string, ok: boolean, error?: string }} Line
 * @typedef {{ name: string, lines?: Line[], notRun?: string }} Reading
 */

const half = "cut \ud83d";
const server = path.join(import.meta.dirname, "server.mjs");
/**
 * A version of the SDK for Python, the tools that install it, and the kinds of revisions that it has.
 *
 * @typedef {{ name: string, needs: "python-v1" | "python", revisionKinds: readonly ("legacy" | "modern")[] }} TextReader
 */

/** @type {readonly TextReader[]} */
export const textReaders = [
  { name: "mcp 1 (Python SDK)", needs: "python-v1", revisionKinds: ["legacy"] },
  { name: "mcp 2 (Python SDK)", needs: "python", revisionKinds: ["legacy", "modern"] },
];

/** Runs all readings. @param {readonly TextReader[]} readers @param {string} tools the folder of on-demand tools @returns {Promise<Reading[]>} */
export async function readTexts(readers, tools) {
  const readings = [];
  for (const { name, needs, revisionKinds } of readers) {
    const { reason } = install(needs, tools);
    if (reason !== undefined) {
      readings.push({ name, notRun: reason });
      continue;
    }
    const python = path.join(tools, needs, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
    for (const revisionKind of revisionKinds) {
      const stdio = { command: process.execPath, args: [server, "stdio"] };
      readings.push({
        name: `${name} reads mcparley, stdio, ${revisionKind}`,
        lines: await readOurs(python, stdio, revisionKind),
      });
      readings.push({
        name: `${name} reads mcparley, http, ${revisionKind}`,
        lines: await readOverHttp(python, revisionKind),
      });
      readings.push({
        name: `${name} receives from mcparley, stdio, ${revisionKind}`,
        lines: await sendOurs(python, revisionKind),
      });
    }
  }
  return readings;
}

/** @param {string} python @param {object} where @param {string} revisionKind @returns {Promise<Line[]>} */
async function readOurs(python, where, revisionKind) {
  const script = path.join(import.meta.dirname, "client.py");
  const client = spawn(python, [script, JSON.stringify({ where, revisionKind })], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  client.stderr.on("data", (chunk) => (complaints += String(chunk)));
  /** @type {Line[]} */
  const lines = [];
  for await (const line of createInterface({ input: client.stdout })) lines.push(JSON.parse(line));
  const code = client.exitCode ?? (await new Promise((resolve) => client.once("exit", resolve)));
  if (code !== 0) lines.push({ what: "the end of the client", ok: false, error: complaints.trim().slice(-1000) });
  return lines;
}

/** @param {string} python @param {string} revisionKind @returns {Promise<Line[]>} */
async function readOverHttp(python, revisionKind) {
  const program = spawn(process.execPath, [server, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await new Promise((resolve) => createInterface({ input: program.stdout }).once("line", resolve));
    return await readOurs(python, { url }, revisionKind);
  } finally {
    program.kill();
  }
}

/** @param {string} python @param {"legacy" | "modern"} revisionKind @returns {Promise<Line[]>} */
async function sendOurs(python, revisionKind) {
  // The script builds the packages after it has imported this file.
  const { connect } = await import("mcparley/client");
  /** @type {Line[]} */
  const lines = [];
  const command = { command: python, args: [path.join(import.meta.dirname, "server.py")] };
  const client = await connect(command, {
    info: { name: "texts", version: half },
    revision: revisionKind === "modern" ? "2026-07-28" : "2025-11-25",
    elicit: () => ({ action: "accept", content: { name: half } }),
    sample: () => ({ role: "assistant", model: half, content: { type: "text", text: half } }),
  });
  /** @param {string} what @param {() => Promise<unknown>} run */
  const attempt = async (what, run) => {
    try {
      const got = await run();
      lines.push(JSON.parse(typeof got === "string" ? got : Object(got).result));
    } catch (error) {
      lines.push({ what, ok: false, error: String(error) });
    }
  };
  const limited = { timeout: { total: 20_000 } };
  await attempt("argument of a tool", () => client.callTool("receive", { text: half }, limited));
  await attempt("version of the client", () => client.callTool("client_version", {}, limited));
  await attempt("answer to an elicitation", () => client.callTool("ask", {}, limited));
  await attempt("answer to a sampling", () => client.callTool("sample", {}, limited));
  await attempt("argument of a prompt", async () => {
    const { messages } = await client.getPrompt("write", { topic: half }, limited);
    return Object(messages[0]?.content).text;
  });
  await attempt("value to complete", async () => {
    const ref = /** @type {const} */ ({ type: "ref/prompt", name: "write" });
    return (await client.complete(ref, { name: "topic", value: half }, limited)).values[0];
  });
  await client.close();
  return lines;
}

/** Returns the report of the readings: one line each, and the failures. @param {readonly Reading[]} readings */
export function reportOfTexts(readings) {
  return readings
    .map(({ name, lines = [], notRun }) => {
      if (notRun !== undefined) return `texts: ${name}: not run (${notRun})`;
      const failed = lines.filter(({ ok }) => !ok);
      const failures = failed.map(({ what, error }) => `\n  ${what}: ${error}`).join("");
      return `texts: ${name}: ${lines.length - failed.length} of ${lines.length} arrive${failures}`;
    })
    .join("\n");
}
