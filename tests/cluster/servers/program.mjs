// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

/** A program that runs for a test, and ends with it. */
export class Program {
  /** @type {import("node:child_process").ChildProcess} */
  #child;
  #output = "";

  /** @param {string} command @param {readonly string[]} args @param {import("node:child_process").SpawnOptions} [options] */
  constructor(command, args, options = {}) {
    this.#child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (/** @type {Buffer} */ chunk) => {
        // The end of its output is enough to find the reason of a failure.
        this.#output = (this.#output + chunk.toString()).slice(-20_000);
        this.onOutput();
      });
    }
    this.#child.on("error", (error) => (this.#output += error.message));
    this.#child.on("exit", () => this.onOutput());
  }

  onOutput() {}

  get pid() {
    return this.#child.pid;
  }

  get output() {
    return this.#output;
  }

  get hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
  }

  /** Waits until its output matches a pattern. @param {RegExp} pattern @returns {Promise<RegExpExecArray>} */
  says(pattern) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.#output);
        if (match) resolve(match);
        else if (this.hasEnded)
          reject(new Error(`${this.#child.spawnfile} ended before it said ${pattern}:\n${this.#output}`));
      };
      this.onOutput = look;
      look();
    });
  }

  /** @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#child.kill(signal);
  }

  /** Ends it and waits until it is gone. @param {NodeJS.Signals} [signal] */
  async end(signal = "SIGTERM") {
    if (this.hasEnded) return;
    const gone = once(this.#child, "exit");
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await gone;
    clearTimeout(timer);
  }
}

/** Returns ports of loopback that are free now. @param {number} count @returns {Promise<number[]>} */
export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => /** @type {import("node:net").AddressInfo} */ (server.address()).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
