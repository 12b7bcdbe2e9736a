// @ts-check
import { loadavg } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median, quantile } from "./measure/statistics.mjs";
import { alignedTable } from "./report/markdown.mjs";

/** @import { Host, HostOptions } from "@mcparley/host" */

const help = `npm run bench -- host [options]

Measures the time until the tools of 19 servers of a host are usable, without and with a bad twentieth server of each kind. The servers
are programs. Each measurement with a bad server alternates with one without it, and one with a good twentieth server shows
the share of the additional process.

  --rounds N   rounds of each kind (9)
  --only KIND  only the kinds whose names contain this, such as "hung"
  --check      fails if the median of a ratio is over 1.1
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    rounds: { type: "string", default: "9" },
    check: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
    serve: { type: "string" },
  },
});

const target = 1.1;
const goodServers = 19;
/** Milliseconds after which a measurement fails. */
const timeLimit = 120_000;
const script = fileURLToPath(import.meta.url);

/** The kinds of a twentieth server. */
const kinds = {
  good: serveGood,
  dead: () => process.exit(1),
  hung: () => process.stdin.resume(),
  "hung list": () => serveRaw(() => new Promise(() => {})),
  "slow pages": () =>
    serveRaw(async (page) => {
      await setTimeout(1_000);
      return { tools: [rawTool(page)], nextCursor: String(page) };
    }),
  "100,000 entries": () => serveRaw(() => ({ tools: Array.from({ length: 100_000 }, (_, index) => rawTool(index)) })),
  "pages without an end": () => serveRaw((page) => ({ tools: [rawTool(page)], nextCursor: String(page) })),
  "wrong types": () => serveRaw(() => ({ tools: [5, null, { name: 5 }, { name: "a", inputSchema: "b" }] })),
  flapping: () =>
    serveRaw(() => {
      void setTimeout(20).then(() => process.exit(1));
      return { tools: [rawTool(0)] };
    }),
  "flood of changes": () =>
    serveRaw(() => {
      setInterval(() => {
        for (let index = 0; index < 20; index++) send({ method: "notifications/tools/list_changed" });
      }, 10).unref();
      return { tools: [rawTool(0)] };
    }),
};

/** Serves the tool of a good server. */
async function serveGood() {
  const { createServer, tool } = await import("mcparley/server");
  const { serveStdio } = await import("mcparley/stdio");
  await serveStdio(createServer({ name: "good", version: "1.0.0", tools: { ping: tool({ call: () => "pong" }) } }));
}

/** @param {number} index */
function rawTool(index) {
  return { name: `tool-${index}`, inputSchema: { type: "object" } };
}

/** @param {object} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/**
 * Serves 2025-11-25 without the library, whose servers cannot lie. `list` returns the result of the page with this number.
 *
 * @param {(page: number) => object | Promise<object>} list
 */
function serveRaw(list) {
  let page = 0;
  const capabilities = { tools: { listChanged: true } };
  const initialized = { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "bad", version: "1.0.0" } };
  const answer = async (/** @type {{ id?: number, method?: string }} */ { id, method }) => {
    if (id === undefined) return;
    if (method === "initialize") send({ id, result: initialized });
    else if (method === "tools/list") send({ id, result: await list(page++) });
    else send({ id, error: { code: -32601, message: "Method not found" } });
  };
  createInterface({ input: process.stdin }).on("line", (line) => void answer(JSON.parse(line)));
}

/** @param {string} kind */
function programOf(kind) {
  return { command: process.execPath, args: [script, "--serve", kind] };
}

/**
 * Returns the milliseconds until the good servers are usable. `twentieth` is the kind of a further server.
 *
 * @param {(options: HostOptions) => Promise<Host>} createHost @param {string} [twentieth] @returns {Promise<number>}
 */
async function measure(createHost, twentieth) {
  const names = Array.from({ length: goodServers }, (_, index) => `good-${index}`);
  const good = names.map((name) => [name, programOf("good")]);
  // The bad server is the first, so that a host that connects one after another would wait for it.
  const bad = twentieth === undefined ? [] : [["twentieth", programOf(twentieth)]];
  const usable = () => names.filter((name) => host.catalogue.tool(`${name}__ping`)).length;
  const host = await createHost({
    servers: Object.fromEntries([...bad, ...good]),
    policy: { trust: "configured", review: "changes" },
    folder: false,
  });
  try {
    const start = performance.now();
    const end = await /** @type {Promise<number>} */ (
      new Promise((resolve, reject) => {
        const late = () => reject(new Error(`Only ${usable()} of ${goodServers} servers are usable.`));
        const limit = globalThis.setTimeout(late, timeLimit);
        host.subscribe((event) => {
          if (event.type !== "catalogue" || usable() < goodServers) return;
          clearTimeout(limit);
          resolve(performance.now());
        });
        // It waits for the bad server as well, so its end is not the measured time.
        host.ready().catch(reject);
      })
    );
    return end - start;
  } finally {
    await host.close();
  }
}

async function run() {
  const built = new URL("../packages/host/dist/index.js", import.meta.url);
  /** @type {{ createHost: (options: HostOptions) => Promise<Host> }} */
  const { createHost } = await import(built.href);
  const rounds = Number(values.rounds);
  const measured = Object.keys(kinds).filter((kind) => kind.includes(values.only));
  /** @type {Map<string, { without: number[], withIt: number[] }>} */
  const times = new Map(measured.map((kind) => [kind, { without: [], withIt: [] }]));
  await measure(createHost); // The first start of the programs reads them from the disk.
  for (let round = 0; round < rounds; round++) {
    for (const [kind, { without, withIt }] of times) {
      // The order alternates, so that a slow start of a round affects both.
      if (round % 2 === 0) without.push(await measure(createHost));
      withIt.push(await measure(createHost, kind));
      if (round % 2 === 1) without.push(await measure(createHost));
    }
  }
  report(times);
}

/** @param {number} value */
function milliseconds(value) {
  return `${value.toFixed(0)} ms`;
}

/** @param {Map<string, { without: number[], withIt: number[] }>} times */
function report(times) {
  const rows = [...times].map(([kind, { without, withIt }]) => {
    const ratios = withIt.map((time, round) => time / (without[round] ?? NaN));
    return { kind, without: median(without), withIt: median(withIt), ratio: median(ratios), ratios };
  });
  const cells = rows.map(({ kind, without, withIt, ratio, ratios }) => {
    const spread = `${quantile(ratios, 0.25).toFixed(2)} to ${quantile(ratios, 0.75).toFixed(2)}`;
    return [kind, milliseconds(without), milliseconds(withIt), ratio.toFixed(3), spread];
  });
  const busy = loadavg().map((one) => one.toFixed(1));
  console.log(`Load of the machine: ${busy.join(", ")}. Target: a ratio of at most ${target}.\n`);
  console.log(
    alignedTable([["twentieth server", "without it", "with it", "ratio", "middle half"], ...cells]).join("\n"),
  );
  const missed = rows.filter(({ ratio }) => ratio > target);
  if (values.check && missed.length > 0) {
    console.error(`The ratio is over ${target} with: ${missed.map(({ kind }) => kind).join(", ")}.`);
    process.exitCode = 1;
  }
}

if (values.help) console.log(help);
else if (values.serve === undefined) await run();
else await kinds[/** @type {keyof typeof kinds} */ (values.serve)]();
