// @ts-check
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

/*
 * A server on stdio that ends in a particular way. Each process appends its id to a file.
 *
 * Arguments: the file, and the kind of the server:
 *
 * - obedient: exits at the end of its input
 * - deaf: ignores the end of its input, and exits on SIGTERM
 * - stubborn: ignores the end of its input, SIGINT, SIGHUP and SIGTERM
 * - family: stubborn, and starts a stubborn process in its group
 * - launcher: starts a stubborn server on its own streams, as npx does, and exits on SIGTERM
 * - daemon: obedient, and starts a process in a session of its own
 */
const [program = "", file = "", kind = ""] = process.argv.slice(1);

if (kind === "stubborn" || kind === "family" || kind === "loose") {
  for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"]) process.on(signal, () => {});
}
if (kind !== "obedient" && kind !== "daemon") setInterval(() => {}, 60_000);
if (kind === "family") spawn(process.execPath, [program, file, "loose"], { stdio: "ignore" });
if (kind === "daemon") {
  spawn(process.execPath, [program, file, "loose"], { stdio: "ignore", detached: true }).unref();
}
if (kind === "launcher") spawn(process.execPath, [program, file, "stubborn"], { stdio: "inherit" });
else if (kind !== "loose") createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
appendFileSync(file, `${process.pid}\n`);

/** @param {{ id?: number, method: string }} message */
function answer({ id, method }) {
  if (id === undefined) return;
  const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: kind, version: "1.0.0" } };
  const error = { code: -32601, message: `The method ${method} does not exist.` };
  const reply = method === "initialize" ? { result } : { error };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
