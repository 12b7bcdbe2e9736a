// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";

/**
 * Builds the image of the deployed example. With a Docker engine, `docker build` builds it. Otherwise each step of the
 * Dockerfile is run in an empty folder for each stage, and its command is started: it must answer a call and end on SIGTERM.
 */
const dockerfile = "examples/deployed/Dockerfile";

const hasDocker = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0;
if (hasDocker) {
  const { status } = spawnSync("docker", ["build", "--file", dockerfile, "."], { cwd: root, stdio: "inherit" });
  process.exitCode = status ?? 1;
} else {
  console.log("not run  docker build: there is no Docker engine. The steps are run in folders instead.");
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-image-"));
  try {
    await start(build(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @typedef {object} Stage
 * @property {string} folder stands for the root of its file system
 * @property {string} workdir
 * @property {Record<string, string>} env
 * @property {string[]} command
 */

/** Runs the steps of all stages. Returns the last stage. @param {string} folder @returns {Stage} */
function build(folder) {
  /** @type {Map<string, Stage>} */
  const stages = new Map();
  let stage = /** @type {Stage} */ ({});
  for (const { name, text } of instructions()) {
    console.log(`step     ${name} ${text}`);
    if (name === "FROM") {
      const alias = / AS (\w+)$/.exec(text)?.[1] ?? `stage-${stages.size}`;
      stage = { folder: path.join(folder, alias), workdir: "/", env: {}, command: [] };
      stages.set(alias, stage);
    } else if (name === "WORKDIR") {
      stage.workdir = text;
      mkdirSync(inside(stage, "."), { recursive: true });
    } else if (name === "COPY") copy(stage, stages, text);
    else if (name === "RUN") execute(stage, text);
    else if (name === "ENV") for (const pair of text.split(" ")) setVariable(stage, pair);
    else if (name === "CMD") stage.command = JSON.parse(text);
    else if (name !== "EXPOSE" && name !== "USER") throw new Error(`The instruction ${name} is not known here.`);
  }
  return stage;
}

/** Returns the instructions of the Dockerfile, with continued lines joined. */
function instructions() {
  const text = readFileSync(path.join(root, dockerfile), "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", "");
  return [...text.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = "", rest = ""]) => ({
    name,
    text: rest.replaceAll(/ +/g, " "),
  }));
}

/** Returns the folder that a path of a stage stands for. @param {Stage} stage @param {string} name */
function inside({ folder, workdir }, name) {
  return path.join(folder, path.posix.resolve(workdir, name));
}

/** @param {Stage} stage @param {Map<string, Stage>} stages @param {string} text */
function copy(stage, stages, text) {
  const [from = "", to = "", ...more] = text.replace(/^--from=\w+ /, "").split(" ");
  if (more.length > 0) throw new Error(`COPY with several sources is not known here: ${text}`);
  const source = stages.get(/^--from=(\w+) /.exec(text)?.[1] ?? "");
  const options = { recursive: true, verbatimSymlinks: true };
  if (source) cpSync(inside(source, from), inside(stage, to), options);
  else cpSync(path.join(root, from), inside(stage, to), { ...options, filter: (file) => !isIgnored(file) });
}

/** Returns whether a file is not sent to the engine. @param {string} file */
function isIgnored(file) {
  const name = path.relative(root, file).split(path.sep).join("/");
  const patterns = readFileSync(path.join(root, `${dockerfile}.dockerignore`), "utf8")
    .trim()
    .split("\n");
  return patterns.some((pattern) => {
    const everywhere = pattern.startsWith("**/");
    const tail = pattern.replace("**/", "").replaceAll(".", "\\.").replaceAll("*", "[^/]*");
    return new RegExp(`${everywhere ? "(^|/)" : "^"}${tail}(/|$)`).test(name);
  });
}

/** @param {Stage} stage @param {string} pair */
function setVariable(stage, pair) {
  const [name = "", value = ""] = pair.split("=");
  stage.env[name] = value;
}

/** @param {Stage} stage @param {string} line */
function execute(stage, line) {
  const options = /** @type {const} */ ({ cwd: inside(stage, "."), env: { ...process.env, ...stage.env } });
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", line], { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`The step failed with status ${status}.\n${stdout}${stderr}`);
}

/** Starts the command of the image, calls its tool, and ends it. @param {Stage} stage */
async function start(stage) {
  const [program = "", ...args] = stage.command;
  const env = { PATH: process.env.PATH, ...stage.env, HOST: "127.0.0.1", PORT: "0" };
  const child = spawn(program, args, { cwd: inside(stage, "."), env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    const url = await listening(child.stderr);
    const command = path.join(root, "packages/cli/dist/main.js");
    const call = [command, "call", url, "count_words", "text=three little words"];
    const { stdout, stderr } = spawnSync(process.execPath, call, { encoding: "utf8" });
    if (stdout.trim() !== "3 words") throw new Error(`The server answered: ${stdout}${stderr}`);
    console.log("ok       the server of the image answers a call");
    child.kill("SIGTERM");
    const code = await ended;
    if (code !== 0) throw new Error(`The server ended with ${code} on SIGTERM.`);
    console.log("ok       the server of the image ends on SIGTERM");
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

/** Resolves with the URL that the server logs. @param {import("node:stream").Readable} log @returns {Promise<string>} */
async function listening(log) {
  let text = "";
  for await (const chunk of log.iterator({ destroyOnReturn: false })) {
    text += chunk;
    const found = /"url":"([^"]+)"/.exec(text);
    if (found?.[1]) return found[1];
  }
  throw new Error(`The server did not start: ${text}`);
}
