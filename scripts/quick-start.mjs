// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { NotAvailable, freePort, fromTarballs, startServer, withEachNode } from "./packed.mjs";
import { root } from "./ready.mjs";

const help = `npm run quick-start [-- options]

Follows docs/quick-start.md in an empty folder: writes its files, runs its commands in their order, and compares their output with the page. The packages
of this repository are installed from their tarballs, and others from the registry of npm.

  --node VERSION   the version of Node, such as 22.23.3; may be given more than once (the Node that runs this program)
`;

/** @typedef {{ kind: "file"; name: string; code: string } | { kind: "run"; commands: string[]; output: string[] }} Step */

/** @typedef {import("./artifact/pack.mjs").Packed} Packed */

await withEachNode(help, async ({ folder, label, env, packed }) => {
  const port = await freePort();
  const state = { folder, env };
  for (const step of readPage(String(port))) {
    if (step.kind === "file") writeFileSync(path.join(state.folder, step.name), step.code);
    else await runStep(step, state, packed);
  }
  process.stdout.write(`ok      ${label}: every command of docs/quick-start.md\n`);
  await withoutLoader(label, state);
});

/**
 * Returns the steps of the page. A file is a block that a paragraph such as "Write \`tsconfig.json\`:" introduces, or whose
 * first line is a comment with its name. A block of commands is marked \`shell\`. The block \`text\` after it has lines of its output.
 *
 * @param {string} port
 * @returns {Step[]}
 */
function readPage(port) {
  const page = readFileSync(path.join(root, "docs/quick-start.md"), "utf8").replaceAll("3000", port);
  /** @type {Step[]} */
  const steps = [];
  for (const [, before = "", language, code = ""] of page.matchAll(/(.*)\n\n^```(\w+).*\n([\s\S]*?)^```$/gm)) {
    const name = /^Write `([\w./-]+)`:$|^.* Write `([\w./-]+)`:$/.exec(before);
    const comment = /^\/\/ ([\w.-]+)\n/.exec(code);
    const last = steps.at(-1);
    if (name) steps.push({ kind: "file", name: name[1] ?? name[2] ?? "", code });
    else if (comment?.[1]) steps.push({ kind: "file", name: comment[1], code });
    else if (language === "shell") steps.push({ kind: "run", commands: code.trim().split("\n"), output: [] });
    else if (language === "text" && last?.kind === "run") last.output = code.trimEnd().split("\n");
    else if (language !== "sh")
      throw new Error(`A block of the page is neither a file nor commands nor output:\n${code}`);
  }
  return steps;
}

/**
 * Runs commands in their order, and compares their output with that of the page.
 *
 * @param {Extract<Step, { kind: "run" }>} step
 * @param {{ folder: string; env: NodeJS.ProcessEnv }} state
 * @param {readonly Packed[]} packed
 */
async function runStep({ commands, output }, state, packed) {
  let printed = "";
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    for (const line of commands) {
      const [command = "", comment = ""] = line.split(" # ");
      const folder = /^(mkdir|cd) (\w+)$/.exec(command);
      if (folder?.[1] === "mkdir") mkdirSync(path.join(state.folder, folder[2] ?? ""));
      else if (folder) state.folder = path.join(state.folder, folder[2] ?? "");
      else if (comment.startsWith("keeps running")) {
        process.stderr.write(`$ ${command} &\n`);
        const { first, stop } = await startServer(command.split(" "), { cwd: state.folder, env: state.env });
        stops.push(stop);
        printed += first;
      } else printed += await runToEnd(installed(command, packed), comment === "fails", state);
    }
  } finally {
    for (const stop of stops) await stop();
  }
  // Versions of Node print other marks before the same text.
  const lines = printed.split("\n");
  const missing = output.filter((expected) => !lines.some((line) => line.endsWith(expected)));
  if (missing.length > 0)
    throw new Error(`The page has lines that were not printed:\n${missing.join("\n")}\n\n${printed}`);
}

/** @param {string} command @param {readonly Packed[]} packed */
function installed(command, packed) {
  const words = command.split(" ");
  if (words[0] !== "npm" || words[1] !== "install") return command;
  return ["npm", "install", ...fromTarballs(words.slice(2), packed).map((word) => `"${word}"`)].join(" ");
}

/** @param {string} command @param {boolean} fails @param {{ folder: string; env: NodeJS.ProcessEnv }} state */
async function runToEnd(command, fails, { folder, env }) {
  process.stderr.write(`$ ${command}\n`);
  const child = spawn(command, { cwd: folder, env, shell: true, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
  const [code] = await once(child, "close");
  if ((code !== 0) === fails) return printed;
  if (/\b(ENOTFOUND|ETIMEDOUT|ECONNREFUSED|EAI_AGAIN)\b/.test(printed))
    throw new NotAvailable("The registry is unavailable.");
  throw new Error(`"${command}" ended with code ${code}.\n${printed}`);
}

/** Runs the server without `tsx`, if this Node removes types. @param {string} label @param {{ folder: string; env: NodeJS.ProcessEnv }} state */
async function withoutLoader(label, state) {
  const supports = await runToEnd('node -p "Boolean(process.features.typescript)"', false, state);
  if (supports.trim() !== "true") return;
  await runToEnd("npx mcparley call add a=1 b=2 -- node server.ts", false, state);
  process.stdout.write(`ok      ${label}: node server.ts\n`);
}
