// @ts-check
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { installInto } from "../artifact/install.mjs";
import { root } from "../ready.mjs";
import { commandSamples } from "./read-samples.mjs";

/** @typedef {import("../artifact/checks.mjs").Checks} Checks */

const sampleUrl = "http://127.0.0.1:3333/mcp";

/**
 * Installs the command into an empty project, and runs the command lines of READMEs with it: `serve` with a client, and the others
 * with a server of the handbook example.
 *
 * @param {{ readmes: readonly string[]; project: string; tarballs: readonly string[]; checks: Checks }} options
 */
export async function runCommands({ readmes, project, tarballs, checks }) {
  installInto(project, tarballs);
  const command = path.join(project, "node_modules/@mcparley/cli/dist/main.js");
  const server = await serve(command);
  try {
    for (const readme of readmes) {
      for (const line of new Set(commandSamples(readme))) runLine(line, { readme, command, url: server.url, checks });
    }
  } finally {
    server.stop();
  }
}

/** @param {string} line @param {{ readme: string; command: string; url: string; checks: Checks }} context */
function runLine(line, { readme, command, url, checks }) {
  const words = wordsOf(line.replaceAll(sampleUrl, url));
  // A server on stdio is started by a client. Without --stdio it is the server of the other lines.
  if (words[0] === "serve" && !words.includes("--stdio")) words.push("--stdio");
  const args = words[0] === "serve" ? ["list", "--", process.execPath, command, ...words] : words;
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
  });
  checks.check(`${readme}: ${line}`, status === 0 && stdout !== "", `${stdout}${stderr}`);
}

/** Serves the handbook on a free port. @param {string} command */
async function serve(command) {
  const folder = path.join(root, "examples/handbook");
  const child = spawn(process.execPath, [command, "serve", folder, "--port", "0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("failed: mcparley serve ended.")));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(line);
        if (found) resolve(found[0]);
      });
    }
  });
  return { url, stop: () => child.kill() };
}

/** The words after `mcparley`: quotes hold words together, and `node` is the Node that runs this program. @param {string} line */
function wordsOf(line) {
  const words = line.replace(/\s+# .*$/, "").match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  return words.slice(1).map((word) => (word === "node" ? process.execPath : word.replaceAll('"', "")));
}
