// @ts-check
import path from "node:path";
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

const [kind = "", ...words] = process.argv.slice(2);
const name = words[0]?.startsWith("-") ? "" : (words.shift() ?? "");
const file = programs[kind]?.[name];
if (file === undefined) {
  const names = Object.keys(programs[kind] ?? {}).filter((one) => one !== "");
  process.stderr.write(`There is no npm run ${kind} -- ${name}. There are: ${names.join(", ")}.\n`);
  process.exitCode = 1;
} else {
  makeReady();
  process.exitCode = await runProgram([path.join(import.meta.dirname, file), ...words]);
}
