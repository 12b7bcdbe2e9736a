// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { say, startEndpoint, toolCall } from "../chat/support/scripted-endpoint.mjs";
import { installInto } from "../../scripts/artifact/install.mjs";
import { tarballsOf } from "../../scripts/artifact/pack.mjs";
import { npm } from "../../scripts/npm.mjs";

/** @typedef {import("../../scripts/artifact/pack.mjs").Packed} Packed */
/** @typedef {import("../chat/support/scripted-endpoint.mjs").ScriptedEndpoint} ScriptedEndpoint */

/** The servers that samples name by the configuration of the reader. */
const configured = ["handbook", "notes", "orders"];

/**
 * The surroundings of a reader: a home, a global folder of npm, a server on the web, the server of the reader, and endpoints of models.
 *
 * @typedef {object} World
 * @property {NodeJS.ProcessEnv} env
 * @property {string} home
 * @property {string} globalCommands the folder of the commands of globally installed packages
 * @property {string} url the server on the web
 * @property {string} program the server of the reader, for `node`
 * @property {() => number} modelRequests the number of requests to models
 * @property {(line: string) => string} withLocalAddresses replaces the addresses and programs that samples stand for
 * @property {(folder: string) => void} writeServers writes the reader's server and configuration into a folder
 * @property {() => Promise<void>} close
 */

/**
 * Makes the surroundings in a folder.
 *
 * @param {{ folder: string; env: NodeJS.ProcessEnv; packed: readonly Packed[] }} options
 * @returns {Promise<World>}
 */
export async function openWorld({ folder, env, packed }) {
  const home = path.join(folder, "home");
  const globals = path.join(folder, "global");
  const project = path.join(folder, "server");
  for (const made of [home, globals]) mkdirSync(made, { recursive: true });
  installInto(project, [...tarballsOf(packed, "mcparley"), "zod@4.6.7"]);
  const program = path.join(project, "server.mjs");
  copyFileSync(fileURLToPath(new URL("server.mjs", import.meta.url)), program);
  const server = spawn(process.execPath, [program, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = String((await once(server.stdout, "data"))[0]).trim();
  const browser = path.join(folder, "browser");
  await writeBrowser(browser);
  const model = await startEndpoint(answerOf);
  const anthropic = await startAnthropic();
  return {
    env: environment(env, { home, globals, model, anthropic: anthropic.url, browser }),
    home,
    globalCommands: path.join(globals, "bin"),
    url,
    program,
    modelRequests: () => model.requests.length + anthropic.requests(),
    withLocalAddresses: (line) =>
      line
        .replaceAll(/https:\/\/(\w+\.)*example\.com\/mcp/g, url)
        .replaceAll("/absolute/path/of/sums/dist/server.js", `"${program}"`)
        .replaceAll(/npx -y (package|your-server)\b/g, `node "${program}"`)
        .replaceAll(/http:\/\/127\.0\.0\.1:8080\/v1|https:\/\/api\.openai\.com\/v1/g, model.url)
        .replaceAll(/--model openai\/\S+/g, (option) => `${option} --base-url ${model.url}`),
    writeServers: (target) => {
      const mcpServers = Object.fromEntries(configured.map((name) => [name, { url }]));
      const files = {
        "mcp.json": JSON.stringify({ mcpServers }),
        ".cursor/mcp.json": JSON.stringify({ mcpServers: { wiki: { url } } }),
        ".vscode/mcp.json": JSON.stringify({ servers: { notes: { type: "http", url } } }),
        "other.toml": `[mcp_servers.notes]\nurl = ${JSON.stringify(url)}\n`,
        "question.md": "What is due?\n",
        "CONTRIBUTING.md": "Write tests.\n",
        "worker.ts": `export { default } from "./server.ts";\n`,
        "page.ts": `import { connect } from "mcparley/client";\nexport const client = connect("/mcp");\n`,
      };
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
        writeFileSync(path.join(target, file), text);
      }
      // A change that `git diff` prints.
      const git = (/** @type {string[]} */ ...args) => spawnSync("git", args, { cwd: target });
      git("init", "--quiet");
      git("add", "CONTRIBUTING.md");
      writeFileSync(path.join(target, "CONTRIBUTING.md"), "Write tests first.\n");
      writeFileSync(path.join(target, "server.js"), `import(${JSON.stringify(program)});\n`);
    },
    close: async () => {
      server.kill();
      await Promise.all([model.close(), anthropic.close()]);
    },
  };
}

/**
 * The environment of the reader: the settings of npm of this user, and no other settings and programs of this repository.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {{ home: string; globals: string; model: ScriptedEndpoint; anthropic: string; browser: string }} world
 * @returns {NodeJS.ProcessEnv}
 */
function environment(env, { home, globals, model, anthropic, browser }) {
  const setting = (/** @type {string} */ name) => npm(["config", "get", name], { cwd: home, quiet: true }).trim();
  const folders = (env.PATH ?? "").split(path.delimiter).filter((folder) => !folder.includes("node_modules/.bin"));
  const npmSettings = { npm_config_userconfig: setting("userconfig"), npm_config_cache: setting("cache") };
  const inherited = Object.entries(env).filter(([name]) => !/^(XDG_|MCPARLEY_)/.test(name));
  return {
    ...Object.fromEntries(inherited),
    ...npmSettings,
    HOME: home,
    BROWSER: browser,
    PATH: folders.join(path.delimiter),
    npm_config_prefix: globals,
    OLLAMA_HOST: model.url.replace(/\/v1$/, ""),
    BASE_URL: model.url,
    OPENAI_API_KEY: "key",
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: anthropic,
    API_KEY: "key",
    WIKI_TOKEN: "token",
  };
}

/** Writes a program for `BROWSER`, whose user signs in and agrees on each page of an authorization server. @param {string} file */
async function writeBrowser(file) {
  const pages = fileURLToPath(new URL("../auth/browser.ts", import.meta.url));
  const contents = `import { browserOf } from ${JSON.stringify(pages)};
    await fetch(await browserOf({ user: "alice" }).signIn(process.argv[2] ?? ""));`;
  const outfile = `${file}.mjs`;
  await build({ stdin: { contents, resolveDir: "/" }, outfile, bundle: true, platform: "node", format: "esm" });
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${outfile}" "$1"\n`, { mode: 0o700 });
}

/**
 * Calls the tools of the first host, or the tool of orders, once if they are offered, and then answers.
 *
 * @type {import("../chat/support/scripted-endpoint.mjs").AnswerFunction}
 */
function answerOf({ messages, tools }) {
  if (tools.includes("orders__cancel")) {
    const calls = [toolCall("orders__cancel", { number: 7 }), toolCall("stock__count", { item: "blue mugs" })];
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
    if (results.length === 0) return say(...calls);
    const isCancelled = results.some((text) => text.includes("Order 7 is cancelled."));
    const count = results.map((text) => /12 of blue mugs/.exec(text)?.[0].split(" ")[0]).find(Boolean);
    return say(`Order 7 is ${isCancelled ? "" : "not "}cancelled, and ${count} blue mugs are left.`);
  }
  const tool = tools.find((name) => name.endsWith("find_order"));
  const asksForOrder = messages.some(
    ({ role, content }) => role === "user" && JSON.stringify(content).includes("order 7"),
  );
  const hasResult = messages.at(-1)?.role === "tool";
  return tool && asksForOrder && !hasResult ? say(toolCall(tool, { number: 7 })) : say("Order 7 is open.");
}

/** Starts an endpoint in the format of Anthropic, which answers each request with one text. */
async function startAnthropic() {
  let requests = 0;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Nothing is due." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  const server = createServer((request, response) => {
    requests++;
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests: () => requests,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
