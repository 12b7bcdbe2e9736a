// @ts-check
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { root } from "../scripts/ready.mjs";
import { PseudoTerminal } from "../tests/chat/support/pseudo-terminal.mjs";
import { startEndpoint } from "../tests/chat/support/scripted-endpoint.mjs";
import { allowed, judgeGrowth, measure } from "./chat-soak/memory.mjs";
import { Person } from "./chat-soak/person.mjs";
import { answerAsModel, round } from "./chat-soak/turns.mjs";
import { alignedTable } from "./report/markdown.mjs";

/** @import { Moment } from "./chat-soak/memory.mjs" */
/** @typedef {Moment & { seconds: number, turns: number }} Row */

const help = `npm run soak -- chat [options]

Talks to \`mcparley chat\` in a pseudo-terminal: calls with approvals, forms, prompts, resources, cancelled calls, and a server that
dies and comes back. Measures the memory of the chat, and fails if it grows from the second third of the time to the last one by more
than ${allowed.heap.share * 100} % of the heap or ${allowed.rss.share * 100} % of the resident memory.

  --minutes N   duration; default 60
  --seconds N   duration in seconds, for a short run
`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    seconds: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});

/** Seconds between two measurements of a long run. A short run has 12 measurements. */
const longInterval = 60;
const fewestMoments = 12;

if (values.help) process.stdout.write(help);
else process.exitCode = await main(values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds));

/** @param {number} seconds */
async function main(seconds) {
  if (!(seconds > 0)) {
    process.stderr.write(`${help}\nThe duration must be more than 0.\n`);
    return 1;
  }
  const folder = await mkdtemp(path.join(tmpdir(), "mcparley chat soak-"));
  const endpoint = await startEndpoint(answerAsModel);
  try {
    const rows = await soak(seconds, folder, endpoint.url);
    return report(rows);
  } finally {
    await endpoint.close();
    await rm(folder, { recursive: true });
  }
}

/** Talks to a chat for a time. @param {number} seconds @param {string} folder @param {string} url */
async function soak(seconds, folder, url) {
  const file = path.join(folder, "memory");
  const terminal = new PseudoTerminal({ ...chatProgram(folder, file, url), scrollback: 200, rawLimit: 100_000 });
  const stage = { terminal, person: new Person(terminal) };
  /** @type {Row[]} */
  const rows = [];
  try {
    await stage.person.ready();
    const begin = performance.now();
    const elapsed = () => (performance.now() - begin) / 1_000;
    const interval = Math.min(longInterval, seconds / fewestMoments);
    for (let turns = 0; elapsed() < seconds; turns++) {
      await round[turns % round.length]?.(stage, turns);
      if (elapsed() < (rows.length + 1) * interval) continue;
      rows.push({ seconds: elapsed(), turns, ...(await measure(terminal.pid, file)) });
      process.stderr.write(`${describe(rows.at(-1))}\n`);
    }
    return rows;
  } finally {
    await terminal.close();
  }
}

/** Returns the chat with the test server, whose memory can be measured. @param {string} folder @param {string} memory @param {string} url */
function chatProgram(folder, memory, url) {
  const server = path.join(root, "tests/chat/support/test-server/server.mjs");
  const probe = path.join(import.meta.dirname, "chat-soak/memory-on-signal.mjs");
  const chat = [path.join(root, "packages/cli/bin/mcparley.cjs"), "chat", "--model", "small", "--base-url", url];
  /** @type {[string, ...string[]]} */
  const command = [process.execPath, "--expose-gc", "--import", probe, ...chat, "--", process.execPath, server];
  const env = { PATH: process.env["PATH"], HOME: folder, TERM: "xterm-256color", MEMORY_FILE: memory };
  return { command, env, cwd: folder };
}

/** @param {Row | undefined} row */
function describe(row) {
  const { seconds, turns, heap, rss } = row ?? { seconds: 0, turns: 0, heap: 0, rss: 0 };
  return `${Math.round(seconds)} s, ${turns} turns: ${heap.toFixed(1)} MB of heap, ${rss.toFixed(1)} MB resident`;
}

/** Prints the moments and the findings, and returns the exit code. @param {readonly Row[]} rows */
function report(rows) {
  const cells = rows.map(({ seconds, turns, heap, rss }) => [
    String(Math.round(seconds)),
    String(turns),
    heap.toFixed(1),
    rss.toFixed(1),
  ]);
  process.stdout.write(
    `${alignedTable([["seconds", "turns", "heap in MB", "resident in MB"], ...cells]).join("\n")}\n\n`,
  );
  if (rows.length < 3) {
    process.stdout.write(`Only ${rows.length} measurements were made, and 3 are needed. Let it run longer.\n`);
    return 1;
  }
  const findings = [judgeGrowth("heap", rows), judgeGrowth("rss", rows)];
  const lines = findings.map(({ what, isGood, found }) => [what, isGood ? "ok" : "FAILED", found]);
  process.stdout.write(`${alignedTable([["", "", "found"], ...lines]).join("\n")}\n`);
  return findings.every(({ isGood }) => isGood) ? 0 : 1;
}
