// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { load } from "js-yaml";
import { freePort, startServer, useTarballs, withEachNode } from "../support/packed.mjs";
import { NotAvailable } from "../support/runner.mjs";

const help = `npm run check -- create [options]

Writes each project of create-mcparley with the packed command, installs the packed packages in it, and runs its scripts and the commands of its
workflow. Starts its server, and calls it. Packs the project, installs the tarball in another folder, and starts its program. If Node runs TypeScript, it also runs the commands of the Dockerfile.

  --node VERSION   the version of Node, such as 24.9.0; may be given more than once (the Node that runs this program)
`;

const isWindows = process.platform === "win32";

await withEachNode(help, async ({ folder: parent, label, env, packed }) => {
  for (const transport of ["stdio", "http"]) {
    const folder = path.join(parent, `my-${transport}`);
    const command = [
      "exec",
      "--yes",
      "--package",
      packed.find(({ name }) => name === "create-mcparley")?.file ?? "",
      "--",
      "create-mcparley",
    ];
    run("npm", [...command, folder, `--${transport}`], { cwd: parent, env });
    if (!existsSync(path.join(folder, ".gitignore")))
      throw new Error("The packed command lost a file of the template.");
    useTarballs(folder, packed);
    if (transport === "http") usePort(folder, String(await freePort()));
    await tryProject(folder, transport, { env, label });
    await asPublished(folder, transport, { env, packed });
    process.stdout.write(`ok      ${label}: the project for ${transport}, installed from its tarball\n`);
  }
});

/** @param {string} folder @param {string} transport @param {{ env: NodeJS.ProcessEnv; label: string }} options */
async function tryProject(folder, transport, { env, label }) {
  const cwd = folder;
  const installed = spawnSync("npm", ["install"], { cwd, env, stdio: "ignore", shell: isWindows });
  if (installed.status !== 0) throw new NotAvailable("The packages cannot be installed.");
  const text = readFileSync(path.join(folder, ".github/workflows/ci.yml"), "utf8");
  const workflow = /** @type {{ jobs: { test: { steps: { run?: string }[] } } }} */ (load(text));
  for (const { run: command } of workflow.jobs.test.steps) {
    const [program, ...args] = (command ?? "").split(" ");
    if (program) run(program, args, { cwd, env });
  }
  const name = path.basename(folder);
  const call = ["mcparley", "call", name, "add_note", "title=milk", "text=Buy milk.", "--trust"];
  const use = () => {
    const listed = run("npm", ["run", "list"], { cwd, env });
    const called = run("npx", call, { cwd, env });
    if (!listed.includes("add_note") || called.trim() !== "note://milk") throw new Error(`${listed}\n${called}`);
  };
  if (transport === "http") await whileRunning(["node", "--import", "tsx", "src/main.ts"], { cwd, env }, use);
  else use();
  process.stdout.write(`ok      ${label}: the project for ${transport}\n`);
  if (run("node", ["-p", "Boolean(process.features.typescript)"], { cwd, env }).trim() !== "true") return;
  await asImage(folder, transport, { env, use });
  process.stdout.write(`ok      ${label}: the project for ${transport}, as its Dockerfile runs it\n`);
}

/**
 * Installs the tarball that the workflow has packed in another folder, and starts its program, as the users of a published server do.
 *
 * @param {string} folder @param {string} transport
 * @param {{ env: NodeJS.ProcessEnv; packed: readonly import("../support/packed.mjs").Packed[] }} options
 */
async function asPublished(folder, transport, { env, packed }) {
  const cwd = `${folder}-user`;
  const name = path.basename(folder);
  mkdirSync(cwd);
  const tarball = path.join(folder, `${name}-0.1.0.tgz`);
  writeFileSync(path.join(cwd, "package.json"), JSON.stringify({ dependencies: {}, devDependencies: {} }));
  useTarballs(cwd, packed);
  run("npm", ["install", tarball], { cwd, env });
  // The command is installed in the project only.
  const mcparley = path.join(folder, "node_modules/@mcparley/cli/bin/mcparley.cjs");
  const list = (/** @type {string[]} */ ...target) => {
    const listed = run("node", [mcparley, "list", ...target], { cwd, env });
    if (!listed.includes("add_note")) throw new Error(listed);
  };
  if (transport === "stdio") list("--", "npx", name);
  else {
    // Not by npx, whose end would leave the server running.
    const program = path.join(cwd, "node_modules", name, "dist/main.js");
    const { first, stop } = await startServer(["node", program], { cwd, env: { ...env, PORT: "0" } });
    try {
      list(/http:\S+/.exec(first)?.[0] ?? "");
    } finally {
      await stop();
    }
  }
}

/**
 * Runs the commands of the Dockerfile in a folder with the files that it copies.
 *
 * @param {string} folder @param {string} transport @param {{ env: NodeJS.ProcessEnv; use: () => void }} options
 */
async function asImage(folder, transport, { env, use }) {
  const image = `${folder}-image`;
  const lines = readFileSync(path.join(folder, "Dockerfile"), "utf8").split("\n");
  for (const line of lines) {
    const [instruction, ...words] = line.split(" ");
    if (instruction === "COPY")
      for (const file of words.slice(0, -1))
        cpSync(path.join(folder, file), path.join(image, file), { recursive: true });
    if (instruction === "RUN") run(words[0] ?? "", words.slice(1), { cwd: image, env });
  }
  const start = JSON.parse(lines.findLast((line) => line.startsWith("CMD "))?.slice(4) ?? "[]");
  if (transport === "http") await whileRunning(start, { cwd: image, env }, use);
  else run("npx", ["mcparley", "list", "--", start[0], path.join(image, start[1])], { cwd: folder, env });
  rmSync(image, { recursive: true });
}

/** Replaces the port of the project, which another process may use. @param {string} folder @param {string} port */
function usePort(folder, port) {
  for (const name of ["src/main.ts", ".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"]) {
    const file = path.join(folder, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("3000", port));
  }
}

/**
 * Runs a server, calls a function when the server has printed its URL, and ends the server.
 *
 * @param {string[]} command @param {{ cwd: string; env: NodeJS.ProcessEnv }} options @param {() => void} use
 */
async function whileRunning(command, options, use) {
  const { stop } = await startServer(command, options);
  try {
    use();
  } finally {
    await stop();
  }
}

/** @param {string} program @param {string[]} args @param {{ cwd: string; env: NodeJS.ProcessEnv }} options @returns {string} */
function run(program, args, options) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    ...options,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    shell: isWindows,
  });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} ended with ${status}.\n${stdout}${stderr}`);
}
