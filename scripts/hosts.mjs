// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inTemporaryFolder } from "./packed.mjs";
import { makeReady, root } from "./ready.mjs";

/**
 * Runs the commands of docs/add-to-a-host.md with the programs of hosts that npm has: adds a server over stdio and over HTTP, lists the servers, and compares the
 * written configuration with the page. The programs are installed into `.tools/hosts`, and have an empty home folder and no network but loopback.
 *
 * @typedef {{ title: string; program: string; package: string; connected?: RegExp; file?: { path: string; language: string } }} Host
 */

/** @type {readonly Host[]} */
const hosts = [
  { title: "Claude Code", program: "claude", package: "@anthropic-ai/claude-code@2.1.197", connected: /✔ Connected/ },
  {
    title: "Codex",
    program: "codex",
    package: "@openai/codex@0.169.0",
    file: { path: "home/.codex/config.toml", language: "toml" },
  },
  {
    title: "Gemini CLI",
    program: "gemini",
    package: "@google/gemini-cli@0.61.0",
    connected: /✓ .* Connected/,
    file: { path: "project/.gemini/settings.json", language: "json" },
  },
];

const page = readFileSync(path.join(root, "docs/add-to-a-host.md"), "utf8");
const tools = path.join(root, ".tools/hosts");
let failures = 0;

makeReady();
await inTemporaryFolder(async (folder) => {
  writeServers(folder);
  const { url, stop } = await startHttp(folder);
  try {
    for (const host of hosts) tryHost(host, folder, url);
  } finally {
    await stop();
  }
});
process.exitCode = failures > 0 ? 1 : 0;

/** @param {Host} host @param {string} parent @param {string} url */
function tryHost(host, parent, url) {
  const program = install(host);
  if (program === undefined) return report("not run", `${host.title}: ${host.package} cannot be installed here.`);
  const folder = path.join(parent, host.program);
  for (const name of ["home", "project"]) mkdirSync(path.join(folder, name), { recursive: true });
  const real = (/** @type {string} */ text) =>
    text.replaceAll("/absolute/path/of/sums", parent).replaceAll("http://127.0.0.1:3000/mcp", url);
  for (const [index, transport] of ["stdio", "HTTP"].entries()) {
    // The commands of the page add the same name. A second name keeps both entries.
    const name = `sums${index}`;
    const written = blocks(host.title, "sh")[index] ?? "";
    const words = written
      .replace(/\bsums\b(?!\/)/, name)
      .split(" ")
      .slice(1)
      .map(real);
    const added = run(program, words, folder);
    const list = run(program, ["mcp", "list"], folder);
    const line = list.output.split("\n").find((text) => text.includes(name)) ?? "";
    const ok = added.status === 0 && line !== "" && (host.connected?.test(line) ?? true);
    report(
      ok ? "ok" : "failed",
      `${host.title}: ${transport}: ${host.connected ? "connected" : "listed"}`,
      added.output + list.output,
    );
    if (host.file) checkFile(host, host.file, { index, name, folder, real });
  }
}

/**
 * Compares the written configuration with the block of the page.
 *
 * @param {Host} host
 * @param {{ path: string; language: string }} file
 * @param {{ index: number; name: string; folder: string; real: (text: string) => string }} entry
 */
function checkFile(host, file, { index, name, folder, real }) {
  const found = readFileSync(path.join(folder, file.path), "utf8");
  const expected = real(blocks(host.title, file.language)[index] ?? "").replace(/\bsums\b(?!\/)/, name);
  const ok =
    file.language === "json"
      ? JSON.stringify(JSON.parse(found).mcpServers[name]) === JSON.stringify(JSON.parse(expected).mcpServers[name])
      : found.includes(expected);
  report(
    ok ? "ok" : "failed",
    `${host.title}: ${path.basename(file.path)} has the lines of the page`,
    `${found}\n${expected}`,
  );
}

/** @param {string} title @param {string} language */
function blocks(title, language) {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
  const found = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  return found.filter((block) => block[1] === language).map(([, , code = ""]) => code.trim());
}

/** Installs a host. Returns its program, or undefined if it cannot be installed or started. @param {Host} host */
function install(host) {
  const place = path.join(tools, host.program);
  const program = path.join(place, "node_modules/.bin", host.program);
  const isThere =
    existsSync(path.join(place, "package.json")) &&
    readFileSync(path.join(place, "package.json"), "utf8").includes(host.package);
  if (!isThere || !existsSync(program)) {
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "package.json"), JSON.stringify({ private: true, description: host.package }));
    const args = ["install", "--no-save", "--no-audit", "--no-fund", host.package];
    spawnSync("npm", args, { cwd: place, stdio: "ignore" });
  }
  const { status } = spawnSync(program, ["--version"], { stdio: "ignore", timeout: 60_000 });
  return status === 0 ? program : undefined;
}

/** Runs a host without its user's settings. @param {string} program @param {string[]} args @param {string} folder */
function run(program, args, folder) {
  const home = path.join(folder, "home");
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    USERPROFILE: home,
    NO_COLOR: "1",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // Nothing listens there, so that every request except those to loopback fails.
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
  };
  const options = { cwd: path.join(folder, "project"), env, encoding: /** @type {const} */ ("utf8"), timeout: 120_000 };
  const { status, stdout, stderr } = spawnSync(program, args, options);
  return { status, output: `${stdout}${stderr}` };
}

/** Returns the import of an entry of the build. @param {string} name */
function entry(name) {
  return JSON.stringify(pathToFileURL(path.join(root, "packages/mcparley/dist", `${name}.js`)).href);
}

/** Writes two programs that serve one definition, from the build of this repository. @param {string} folder */
function writeServers(folder) {
  const server = `import { createServer, tool } from ${entry("server")};
const hello = tool({ description: "Greets.", call: () => "Hello" });
export const server = createServer({ name: "sums", version: "1.0.0", tools: { hello } });
`;
  mkdirSync(path.join(folder, "dist"));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(folder, "dist/sums.js"), server);
  const start = 'import { server } from "./sums.js";\n';
  writeFileSync(
    path.join(folder, "dist/server.js"),
    `import { serveStdio } from ${entry("stdio")};\n${start}await serveStdio(server);\n`,
  );
  writeFileSync(
    path.join(folder, "dist/http.js"),
    `import { listen } from ${entry("node")};\n${start}console.log((await listen(server, { port: 0 })).url);\n`,
  );
}

/** @param {string} folder */
async function startHttp(folder) {
  const child = spawn(process.execPath, [path.join(folder, "dist/http.js")], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const [url] = await once(child.stdout, "data");
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { url: String(url).trim(), stop };
}

/** @param {"ok" | "failed" | "not run"} verdict @param {string} what @param {string} [details] */
function report(verdict, what, details = "") {
  process.stdout.write(`${verdict.padEnd(8)}${what}\n`);
  if (verdict !== "failed") return;
  failures++;
  process.stdout.write(`${details}\n`);
}
