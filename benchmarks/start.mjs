// @ts-check
import path from "node:path";
import { incompleteness, recordOption, runAndRecord } from "../scripts/last-runs.mjs";
import { makeReady } from "../scripts/ready.mjs";
import { runProgram } from "../scripts/run-program.mjs";

/**
 * Starts a program of `npm run bench` or `npm run soak`, such as `npm run bench -- host --check`. Installs and builds missing parts.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, string>>>>}
 */
const programs = {
  bench: { "": "run.mjs", host: "host.mjs", workers: "workers.mjs" },
  soak: { "": "soak.mjs", client: "client-soak.mjs", host: "host-soak.mjs", chat: "chat-soak.mjs" },
};

const isRecorded = process.argv.includes(recordOption);
const [kind = "", ...words] = process.argv.slice(2).filter((word) => word !== recordOption);
const name = words[0]?.startsWith("-") ? "" : (words.shift() ?? "");
const file = programs[kind]?.[name];
if (file === undefined) {
  const names = Object.keys(programs[kind] ?? {}).filter((one) => one !== "");
  process.stderr.write(`There is no npm run ${kind} -- ${name}. There are: ${names.join(", ")}.\n`);
  process.exitCode = 1;
} else if (isRecorded && incompleteness(words)) {
  process.stderr.write(`${incompleteness(words)}\n`);
  process.exitCode = 1;
} else {
  makeReady();
  const program = [path.join(import.meta.dirname, file), ...words];
  const command = `npm run ${kind}${name && ` -- ${name}`}`;
  if (!isRecorded) process.exitCode = await runProgram(program);
  else process.exitCode = (await runAndRecord(command, [program])) ? 0 : 1;
}
