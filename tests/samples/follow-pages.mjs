// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PseudoTerminal } from "../chat/support/pseudo-terminal.mjs";
import { tarballsOf } from "../../scripts/artifact/pack.mjs";
import { freePort, fromTarballs, useTarballs } from "../support/packed.mjs";
import { NotAvailable } from "../support/runner.mjs";
import { reasonAgainst } from "./not-run.mjs";
import { pagesWithCommands, readSteps } from "./read.mjs";
import { openWorld } from "./world.mjs";

/** @typedef {import("../../scripts/artifact/checks.mjs").Checks} Checks */
/** @typedef {import("../../scripts/artifact/pack.mjs").Packed} Packed */
/** @typedef {import("./world.mjs").World} World */

/** The pages that show the output of their commands. */
const pagesWithOutput = new Set([
  "README.md",
  "docs/start/deploy-a-server.md",
  "docs/start/first-folder.md",
  "docs/start/first-server.md",
  "docs/start/protect-a-server.md",
]);

/** The ports in samples. Free ports replace them. */
const namedPorts = ["3000", "3001", "3002", "3333", "4000", "6379", "8080"];

/** A line by which a server states that it accepts connections: a URL, or the text of Redis and of nginx. */
const readyLine = /https?:\/\/[\w.]+:\d+\/.*\n|Ready to accept connections|start worker process /;

/** Milliseconds in which a server that watches a folder must have read a change. */
const reloadTime = 30_000;

/**
 * What a page needs while its commands are run.
 *
 * @typedef {object} Reader
 * @property {string} page
 * @property {string} folder the current folder
 * @property {World} world
 * @property {readonly Packed[]} packed
 * @property {Checks} checks
 * @property {Map<string, string>} ports a port for each one that the page names
 * @property {(() => Promise<void>)[]} stops end the servers of the page
 * @property {boolean} hasGlobal whether the page has installed a global package, so that its commands are found
 */

/**
 * Follows the pages that have shell samples, each in an empty folder.
 *
 * @param {{ folder: string; env: NodeJS.ProcessEnv; packed: readonly Packed[]; checks: Checks; only?: readonly string[] }} options
 */
export async function followPages({ folder, env, packed, checks, only = [] }) {
  const pages = pagesWithCommands().filter((page) => only.length === 0 || only.includes(page));
  const world = await openWorld({ folder: path.join(folder, "world"), env, packed });
  try {
    for (const [index, page] of pages.entries()) {
      await followPage(page, { folder: path.join(folder, `page ${index}`), world, packed, checks });
    }
  } finally {
    await world.close();
  }
}

/**
 * Follows a page in an empty folder, with an empty home folder: writes its files, and runs its shell commands in their order. Each command must end with code 0. A
 * comment `# fails` marks one that ends with another code, and `# keeps running` a server, which runs until the end of the page or until a
 * server starts "in place of" it.
 *
 * @param {string} page
 * @param {{ folder: string; world: World; packed: readonly Packed[]; checks: Checks }} options
 */
async function followPage(page, { folder, world, packed, checks }) {
  // Servers that another page adds to hosts would have precedence over those of this one.
  rmSync(world.home, { recursive: true, force: true });
  for (const made of [folder, world.home]) mkdirSync(made, { recursive: true });
  const ports = new Map();
  for (const port of namedPorts) ports.set(port, String(await freePort()));
  /** @type {Reader} */
  const reader = { page, folder, world, packed, checks, ports, stops: [], hasGlobal: false };
  const steps = readSteps(page);
  // Guides name servers of the reader. A page that shows output writes its own.
  if (page.startsWith("docs/") && !pagesWithOutput.has(page)) world.writeServers(folder);
  try {
    for (const step of steps) {
      if (step.kind === "file") writeFileSync(path.join(reader.folder, step.name), withPorts(step.code, ports));
      else await runStep(step, reader);
    }
  } finally {
    for (const stop of reader.stops) await stop();
  }
}

/** @param {import("./read.mjs").RunStep} step @param {Reader} reader */
async function runStep({ lines, output }, reader) {
  let printed = "";
  if (pagesWithOutput.has(reader.page)) await untilReloaded(lines.at(-1) ?? "", output, reader);
  for (const line of lines) printed += (await runLine(line, reader)) ?? "";
  const isRun = (/** @type {string} */ line) => reasonAgainst(reader.page, line, reader.world.env.PATH) === undefined;
  if (!pagesWithOutput.has(reader.page) || !lines.every(isRun)) return;
  const missing = missingLines(output, printed, reader);
  reader.checks.check(
    `${reader.page}: ${lines.at(-1)} prints what the page shows`,
    missing.length === 0,
    `these lines were not printed:\n${missing.join("\n")}\n\n${printed}`,
  );
}

/**
 * Repeats a line that reads from a folder server of the page, until it prints what the page shows or the time is over. A server that watches a
 * folder reads a change a moment after the file is written.
 *
 * @param {string} line @param {readonly string[]} output @param {Reader} reader
 */
async function untilReloaded(line, output, reader) {
  if (reader.page !== "docs/start/first-folder.md" || !/^mcparley (list|prompt|read) http/.test(line)) return;
  const deadline = Date.now() + reloadTime;
  let missing = output;
  while (missing.length > 0 && Date.now() < deadline)
    missing = missingLines(output, (await runToEnd(prepared(line, reader), reader, "")).output, reader);
}

/**
 * Returns the lines of a page that were not printed. Versions of Node print other marks before the same text.
 *
 * @param {readonly string[]} output @param {string} printed @param {Reader} reader
 */
function missingLines(output, printed, reader) {
  const lines = printed.split("\n").map((line) => line.trimEnd());
  return output.filter((expected) => !lines.some((line) => line.endsWith(withPorts(expected, reader.ports))));
}

/** Runs a line, and returns its output. @param {string} line @param {Reader} reader @returns {Promise<string | undefined>} */
async function runLine(line, reader) {
  const { page, world, packed, checks } = reader;
  const reason = reasonAgainst(page, line, world.env.PATH);
  if (reason !== undefined) {
    process.stdout.write(`listed   ${page}: ${line}: ${reason}\n`);
    return undefined;
  }
  const moved = /^cd (\S+)/.exec(line);
  if (moved) {
    reader.folder = path.join(reader.folder, moved[1] ?? "");
    return undefined;
  }
  const command = prepared(line, reader);
  const before = world.modelRequests();
  reader.hasGlobal ||= line.startsWith("npm install --global ");
  if (isServer(line)) return serve(line, command, reader);
  const usesModel = /mcparley chat .*(--model|--resume)/.test(line);
  const { status, output } = /--provider /.test(line)
    ? await runAtTerminal(command, reader)
    : await runToEnd(command, reader, usesModel && !/--prompt/.test(line) ? "What is due?\n" : "");
  const fails = line.includes("# fails");
  checks.check(`${page}: ${line}`, (status === 0) !== fails, `exit code ${status}\n$ ${command}\n${output}`);
  if (usesModel) checks.check(`${page}: ${line} asks the model`, world.modelRequests() > before, output);
  if (line.startsWith("npm create ")) useTarballs(path.join(reader.folder, line.split(" ")[3] ?? ""), packed);
  return output;
}

/** Returns a command of a page as it is run here. @param {string} line @param {Reader} reader */
function prepared(line, { world, packed, ports, folder }) {
  let command = withPorts(world.withLocalAddresses(line.replace(/\s+# .*$/, "")), ports);
  if (isServer(line) && command.includes(" serve ") && !command.includes("--port"))
    command += ` --port ${ports.get("3333")}`;
  const [program, verb, ...words] = command.split(" ");
  if (program === "npm" && verb === "install" && words.length > 0 && addTarballs(words, folder))
    return `npm install ${words.filter((word) => !packed.some(({ name }) => name === word)).join(" ")}`;
  if (program === "npm" && verb === "install")
    return `npm install ${fromTarballs(words, packed).map(quoted).join(" ")}`;
  if (program === "npm" && verb === "create") {
    const tarball = packed.find(({ name }) => name === "create-mcparley")?.file ?? "";
    const options = words.slice(1).filter((word) => word !== "--");
    return `npm exec --yes --package ${quoted(tarball)} -- create-mcparley ${options.join(" ")}`;
  }
  // One server stands for those of other people. With its own name it would be the server that the page describes.
  if (/ add .*(?:your-server|example\.com)/.test(line) && !line.includes("--name"))
    command = command.replace(" add ", " add --name other ");
  const packages = tarballsOf(packed, "@mcparley/cli").map((tarball) => `--package ${quoted(tarball)}`);
  return (
    command
      // The options stand for the answers of a reader at a terminal.
      .replace(/mcparley(?:\/cli)? (?:add|remove) /, (start) => `${start}--yes `)
      .replace(/mcparley(?:\/cli)? (?:list|call|prompt|read|complete|watch|login|logout|whoami|chat|add) /, (start) =>
        command.includes(" --trust") ? start : `${start}--trust `,
      )
      .replaceAll("npx @mcparley/cli ", `npm exec --yes ${packages.join(" ")} -- mcparley `)
      .replaceAll(/--resume (?!last)\w+/g, () => `--resume ${lastConversation(world)}`)
  );
}

/**
 * Adds our packages to the manifest of a project of `create-mcparley`, in which the tarballs replace them. Returns whether it is one: npm would
 * refuse a tarball that differs from the text of the replacement.
 *
 * @param {readonly string[]} words @param {string} folder
 */
function addTarballs(words, folder) {
  const file = path.join(folder, "package.json");
  const manifest = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  if (manifest.overrides === undefined) return false;
  for (const word of words) if (word in manifest.overrides) manifest.dependencies[word] = manifest.overrides[word];
  writeFileSync(file, JSON.stringify(manifest, undefined, 2));
  return true;
}

/** Whether a line starts a server that runs until it is stopped. @param {string} line */
function isServer(line) {
  return /# (keeps running|stop it with Ctrl-C)/.test(line) || /^(npx )?mcparley serve (?!.*--stdio)/.test(line);
}

/** @param {string} word */
function quoted(word) {
  return /[ /]/.test(word) && !word.startsWith("~") ? `"${word}"` : word;
}

/** The first characters of the id of the last stored conversation. @param {World} world */
function lastConversation({ home }) {
  const folder = path.join(home, ".local/state/mcparley/chats");
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const changed = (/** @type {string} */ file) => statSync(path.join(folder, file)).mtimeMs;
  return files.toSorted((a, b) => changed(b) - changed(a))[0]?.slice(0, 6) ?? "none";
}

/** @param {string} text @param {ReadonlyMap<string, string>} ports */
function withPorts(text, ports) {
  return text.replaceAll(/\b\d{4}\b/g, (number) => ports.get(number) ?? number);
}

/** Starts a server, and waits until it prints its URL. @param {string} line @param {string} command @param {Reader} reader */
async function serve(line, command, reader) {
  // The reader stops the first server of the page with Ctrl-C.
  if (/ in place of /.test(line)) await reader.stops.shift()?.();
  const child = start(command, reader);
  const ended = once(child, "close");
  let output = "";
  /** @type {Promise<boolean>} */
  const listening = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
        if (readyLine.test(output)) resolve(true);
      });
    }
    void ended.then(() => resolve(false));
  });
  reader.checks.check(`${reader.page}: ${line} serves`, await listening, `$ ${command}\n${output}`);
  const stop = async (/** @type {NodeJS.Signals} */ signal = "SIGTERM") => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
    await ended;
  };
  // The next server of the page has the same port, unless another terminal uses this one.
  if (/# keeps running/.test(line)) reader.stops.push(stop);
  else await stop("SIGINT");
  return output;
}

/** @param {string} command @param {Reader} reader @param {string} input */
async function runToEnd(command, reader, input) {
  const child = start(command, reader);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [status] = await once(child, "close");
  if (status !== 0 && /\b(ENOTFOUND|ETIMEDOUT|EAI_AGAIN)\b/.test(output))
    throw new NotAvailable("The registry is unavailable.");
  return { status, output };
}

/**
 * Runs a chat with a provider of a package in a terminal, because only a person can approve the code of a provider. Approves it, asks a
 * question and leaves.
 *
 * @param {string} command @param {Reader} reader
 */
async function runAtTerminal(command, reader) {
  const terminal = new PseudoTerminal({
    command: ["bash", "-c", command],
    env: environmentOf(reader),
    cwd: reader.folder,
    columns: 120,
  });
  try {
    // The cursor is hidden while a question takes no keys.
    await terminal.waitForCursor("Load it? [y]es or [n]o?");
    terminal.press("y");
    terminal.key("enter");
    await terminal.waitFor(/^> *$/m);
    await terminal.type("What is due?");
    terminal.key("enter");
    await terminal.waitFor("Nothing is due.");
    await terminal.waitFor(/^> *$/m);
    terminal.key("ctrl-d");
    const { code } = await terminal.exit;
    return { status: code, output: terminal.history() };
  } finally {
    await terminal.close();
  }
}

/** @param {Reader} reader @returns {NodeJS.ProcessEnv} */
function environmentOf({ world, hasGlobal }) {
  const PATH = hasGlobal ? [world.globalCommands, world.env.PATH].join(path.delimiter) : world.env.PATH;
  return { ...world.env, PATH };
}

/** Starts a command in a shell with a process group of its own, so that its programs can be ended with it. @param {string} command @param {Reader} reader */
function start(command, reader) {
  const options = { cwd: reader.folder, env: environmentOf(reader), detached: true };
  // A failure of any program of a pipe is one of the line.
  return spawn("bash", ["-o", "pipefail", "-c", command], { ...options, stdio: ["pipe", "pipe", "pipe"] });
}
