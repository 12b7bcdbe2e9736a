// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { checkConfiguration } from "./check-configuration.mjs";
import { install, report, reports, run } from "./run-host.mjs";
import { inTemporaryFolder } from "../support/packed.mjs";
import { root } from "../../scripts/ready.mjs";

/**
 * Runs the commands of docs/add-to-a-host.md with the programs of hosts that npm has: adds a server over stdio and over HTTP, lists the servers, and compares the
 * written configuration with the page. Then compares what the hosts and `@mcparley/config` read and write. The programs are installed into `.tools/hosts`, and have
 * an empty home folder and no network but loopback.
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

const page = readFileSync(path.join(root, "docs/add-to-a-host.md"), "utf8");

await inTemporaryFolder(async (folder) => {
  writeServers(folder);
  const { url, stop } = await startHttp(folder);
  try {
    for (const host of hosts) tryHost(host, folder, url);
    for (const host of [...hosts, opencode]) await checkConfiguration(host, folder, url);
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
