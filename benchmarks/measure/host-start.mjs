// @ts-check
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { onCore } from "./cores.mjs";
import { median } from "./statistics.mjs";

/** @import { createHost as CreateHost } from "@mcparley/host" */
/** @import { createServer as CreateServer, tool as Tool } from "mcparley/server" */
/** @import { serveStdio as ServeStdio } from "mcparley/stdio" */
/** @import { Sample } from "../types.ts" */

const script = fileURLToPath(import.meta.url);
const folder = fileURLToPath(new URL("../../.tools/benchmarks/host-start", import.meta.url));
const packages = new URL("../../packages/", import.meta.url);
const times = 5;

const [role] = process.argv.slice(2);
if (process.argv[1] === script && role === "serve") await serve();
else if (process.argv[1] === script && role === "start") await start();

/** Measures the CPU of a host from `createHost` to a catalogue with 1,000 stored tools. The server is not started. @returns {Sample} */
export function hostStartSample() {
  rmSync(folder, { recursive: true, force: true });
  // The first start connects, and stores the lists.
  runStart();
  return { cpu: median(Array.from({ length: times }, runStart)) };
}

function runStart() {
  const [command = "", ...args] = onCore("server", [process.execPath, script, "start"]);
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr.trim().slice(-300));
  return Number(stdout);
}

/** Starts a host, and writes the milliseconds of its CPU. */
async function start() {
  /** @type {{ createHost: typeof CreateHost }} */
  const { createHost } = await import(new URL("host/dist/index.js", packages).href);
  const before = process.cpuUsage();
  const host = await createHost({
    folder,
    servers: { large: { command: process.execPath, args: [script, "serve"] } },
    policy: { trust: "configured", review: "changes" },
  });
  // The first start waits for the server.
  const { tools } = await host.ready({ wait: Infinity });
  const { user, system } = process.cpuUsage(before);
  await host.close();
  if (tools.length !== 1_000) throw new Error(`The catalogue has ${tools.length} tools.`);
  process.stdout.write(String((user + system) / 1_000));
}

async function serve() {
  /** @type {{ createServer: typeof CreateServer, tool: typeof Tool }} */
  const { createServer, tool } = await import(new URL("mcparley/dist/server.js", packages).href);
  /** @type {{ serveStdio: typeof ServeStdio }} */
  const { serveStdio } = await import(new URL("mcparley/dist/stdio.js", packages).href);
  const tools = Array.from({ length: 1_000 }, (_, index) => {
    const description = `Finds the ${index}th kind of pages, sorted by their time, and returns their titles and texts. `;
    const property = { type: "string", description: "One of several values that select the pages to return." };
    const names = ["query", "folder", "author", "since", "until", "order"];
    const input = { type: "object", properties: Object.fromEntries(names.map((name) => [name, property])) };
    return [`find_pages_${index}`, tool({ description: description.repeat(3), input, call: () => "" })];
  });
  void serveStdio(createServer({ name: "large", version: "1.0.0", tools: Object.fromEntries(tools) }));
}
