// @ts-check
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";

/** @import { Peer } from "../matrix/types.ts" */

/**
 * A server that is its own issuer.
 *
 * @typedef {{ name: string, needs: Peer["needs"], file: string }} Issuer
 */

/** @type {readonly Issuer[]} */
export const issuers = [
  { name: "mcp 1 (Python SDK)", needs: "python-v1", file: "python_sdk.py" },
  { name: "mcp 2 (Python SDK)", needs: "python", file: "python_sdk.py" },
  { name: "fastmcp 4 (Python)", needs: "python-fastmcp", file: "python_fastmcp.py" },
];

/** Milliseconds until a started issuer must have written its URL. */
const startTime = 60_000;

/** The state of an issuer. @typedef {{ registrations: number, tokenRequests: number, accessTokens: number }} Counts */

/**
 * A running issuer.
 *
 * @typedef {object} RunningIssuer
 * @property {string} url the URL of its MCP server
 * @property {(command?: object) => Promise<Counts>} control sends a command to `Controlled` of `issuers/serve.py`
 * @property {() => void} close
 */

/** Starts an issuer with the packages in a folder of tools. @param {Issuer} issuer @param {string} tools @returns {Promise<RunningIssuer>} */
export async function startIssuer({ needs, file }, tools) {
  const program = path.join(tools, needs, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const child = spawn(program, [path.join(import.meta.dirname, "issuers", file)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ reason) => reject(new Error(`${file} ${reason} ${errors.trim().slice(-500)}`));
    const timer = setTimeout(() => fail("has not written its URL."), startTime);
    createInterface({ input: child.stdout }).once("line", (line) => {
      clearTimeout(timer);
      resolve(line);
    });
    child.once("error", (error) => fail(String(error)));
    child.once("exit", (code) => fail(`has ended with ${code}.`));
  });
  return {
    url,
    async control(command = {}) {
      const response = await fetch(new URL("/control", url), { method: "POST", body: JSON.stringify(command) });
      return /** @type {Promise<Counts>} */ (response.json());
    },
    close: () => void child.kill(),
  };
}
