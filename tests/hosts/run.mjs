// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { checkConfiguration } from "./check-configuration.mjs";
import { install, report, reports, run } from "./run-host.mjs";
import { inTemporaryFolder } from "../support/packed.mjs";
import { readOptions } from "../support/runner.mjs";
import { root } from "../../scripts/ready.mjs";

/**
 * Runs the commands of docs/start/add-to-a-host.md with the programs of hosts that npm has: adds a server over stdio and over HTTP, lists the servers, and compares the
 * written configuration with the page. Then compares what the hosts and `@mcparley/config` read and write, and the first request of each host with the file
 * `first-requests.json`, which `--update` writes. The programs are installed into `.tools/hosts`, and have an empty home folder and no network but loopback.
 *
 * @typedef {import("./run-host.mjs").HostProgram & { file?: { path: string; language: string } }} Host
 */

/** The hosts of the page. @type {readonly Host[]} */
const hosts = [
  { title: "Claude Code", program: "claude", package: "@anthropic-ai/claude-code@2.1.332", connected: /✔ Connected/ },
  {
    title: "Codex",
    program: "codex",
    package: "@openai/codex@0.171.0",
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

/** @type {import("./run-host.mjs").HostProgram} */
const opencode = { title: "opencode", program: "opencode", package: "opencode-ai@1.18.33", connected: /✓ .*connected/ };

const help = `npm run check -- hosts

Checks the commands of docs/start/add-to-a-host.md and @mcparley/config with the programs of hosts. --update writes the first request of each host
into tests/hosts/first-requests.json.
`;

const recordFile = path.join(import.meta.dirname, "first-requests.json");

/** The first request over HTTP of each host that connects, by its program. @type {Record<string, object>} */
const firstRequests = {};

const page = readFileSync(path.join(root, "docs/start/add-to-a-host.md"), "utf8");

await inTemporaryFolder(async (folder) => {
  writeServers(folder);
  const { url, stop } = await startHttp(folder);
  try {
    for (const host of hosts) tryHost(host, folder, url);
    for (const host of [...hosts, opencode]) {
      const start = readRequests(folder).length;
      await checkConfiguration(host, folder, url);
      const [request] = readRequests(folder).slice(start);
      if (request) firstRequests[host.program] = { package: host.package, ...request };
    }
    checkFirstRequests();
  } finally {
    await stop();
  }
});
process.exitCode = reports.failures > 0 ? 1 : 0;

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

/** Compares the first requests with the recorded ones. A host that is not installed, or that does not connect, has none. */
function checkFirstRequests() {
  const recorded = JSON.parse(readFileSync(recordFile, "utf8"));
  const { update = false } = readOptions(help, { update: { type: "boolean" } });
  if (update) {
    writeFileSync(recordFile, `${JSON.stringify({ ...recorded, ...firstRequests }, undefined, 2)}\n`);
    return report("ok", "The first requests of the hosts are written.");
  }
  for (const [program, request] of Object.entries(firstRequests)) {
    const isSame = isDeepStrictEqual(recorded[program], request);
    report(isSame ? "ok" : "failed", `${program}: the first request is the recorded one`, JSON.stringify(request));
  }
}

/** Returns the requests that the server over HTTP has received. @param {string} folder @returns {object[]} */
function readRequests(folder) {
  const lines = readFileSync(path.join(folder, "requests.jsonl"), "utf8").split("\n");
  return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
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
    path.join(folder, "dist/with-variables.js"),
    'if (process.env.SUMS_MODE !== "a b" || process.env.SUMS_WORD !== "word") process.exit(1);\nawait import("./server.js");\n',
  );
  writeFileSync(
    path.join(folder, "dist/http.js"),
    `import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { toNodeHandler } from ${entry("node")};
${start}const handle = toNodeHandler(server);
const http = createServer((request, response) => {
  const parts = [];
  // The handler reads the body. Its parts are recorded when they arrive.
  const push = request.push;
  request.push = (part, ...rest) => {
    if (part) parts.push(part);
    else if (request.method === "POST") record(request, Buffer.concat(parts).toString());
    return push.call(request, part, ...rest);
  };
  handle(request, response);
});
function record({ headers }, body) {
  const names = ["accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version"];
  const sent = Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
  appendFileSync(${JSON.stringify(path.join(folder, "requests.jsonl"))}, JSON.stringify({ headers: sent, body: JSON.parse(body) }) + "\\n");
}
http.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + http.address().port + "/mcp"));
`,
  );
  writeFileSync(path.join(folder, "requests.jsonl"), "");
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
