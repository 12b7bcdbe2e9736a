import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { connect } from "mcparley/client";
import { afterEach, expect, test } from "vitest";
import { type RunningExample, freePort, runExample } from "./run-example.ts";

const folder = new URL("../../examples/deployed/", import.meta.url);
const main = new URL("main.mjs", folder).pathname;
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");
const running: RunningExample[] = [];

afterEach(async () => {
  for (const { child, exited } of running.splice(0)) {
    child.kill("SIGKILL");
    await exited;
  }
});

function start(env: Record<string, string> = {}): RunningExample {
  const example = runExample([decodeURIComponent(main)], { PORT: "0", ...env });
  running.push(example);
  return example;
}

const listening = (example: RunningExample): Promise<string> => example.printed(/"msg":"listening".*"url":"([^"]+)"/);

test("the deployed example logs its start, each call, the drain and the end", async () => {
  const example = start({ STATE_KEYS: Buffer.alloc(32, 1).toString("base64") });
  const client = await connect(await listening(example));
  expect(await client.callTool("count_words", { text: "three little words" })).toBe("3 words");
  await client.close();
  example.child.kill("SIGTERM");
  expect(await example.exited).toBe(0);
  const lines = example
    .output()
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text) as Record<string, unknown>);
  expect(lines.map(({ msg }) => msg).filter((msg) => msg !== "call")).toEqual([
    "listening",
    "draining",
    "closing",
    "ended",
  ]);
  expect(lines).toContainEqual(
    expect.objectContaining({ msg: "call", name: "count_words", outcome: "ok", pid: example.child.pid }),
  );
});

test.each([
  [{ PORT: "http" }, 'PORT must be a number from 0 to 65535; got "http".'],
  [{ METRICS_PORT: "65536" }, 'METRICS_PORT must be a number from 0 to 65535; got "65536".'],
  [{ STATE_KEYS: "c2hvcnQ=" }, "STATE_KEYS must contain keys of 32 bytes in base64; key 1 has 5 bytes."],
])("names an invalid setting: %j", async (env, message) => {
  const { exited, output } = start(env);
  expect(await exited).not.toBe(0);
  expect(output()).toContain(message);
});

test("each metric and label of the dashboard exists in the metrics of the server", async () => {
  const metricsPort = await freePort();
  const example = start({ METRICS_PORT: metricsPort });
  const url = await listening(example);
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    const client = await connect(url, { revision });
    await client.callTool("count_words", { text: "one" });
    await expect(client.callTool("missing")).rejects.toThrow();
    await client.close();
  }
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();

  const queries = dashboardQueries();
  expect(queries.length).toBeGreaterThan(8);
  for (const { metric, labels } of queries) {
    const samples = metrics.split("\n").filter((line) => line.startsWith(`${metric}{`));
    expect(samples, metric).not.toEqual([]);
    const missing = labels.filter((label) => !samples.some((line) => new RegExp(`[{,]${label}="`).test(line)));
    expect(missing, metric).toEqual([]);
  }
});

/** The metrics of the dashboard's queries, with the labels that the queries use. Prometheus itself adds `job`. */
function dashboardQueries(): { metric: string; labels: string[] }[] {
  const { panels } = JSON.parse(read("dashboard.json")) as { panels: { targets: { expr: string }[] }[] };
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return expressions.flatMap((expr) => {
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = ""]) => names.split(", "));
    return [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].map(([, metric = "", filter = ""]) => {
      const filtered = [...filter.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = ""]) => label);
      return { metric, labels: [...grouped, ...filtered].filter((label) => label !== "job") };
    });
  });
}

interface Compose {
  services: Record<string, { environment?: Record<string, string>; volumes?: string[]; build?: object }>;
}

test("compose.yaml starts the processes that its nginx configuration names, with settings that the server reads", () => {
  const { services } = load(read("compose.yaml")) as Compose;
  const servers = Object.keys(services).filter((name) => services[name]?.build);
  expect(servers).toEqual(["mcp-1", "mcp-2"]);
  const named = [...read("compose.nginx.conf").matchAll(/^ +server ([\w.-]+):3000;$/gm)].map(([, name]) => name);
  expect(named).toEqual(servers);
  const settings = read("settings.mjs");
  for (const variable of Object.keys(services["mcp-1"]?.environment ?? {})) expect(settings).toContain(variable);
  expect(services.proxy?.volumes).toEqual(["./compose.nginx.conf:/etc/nginx/nginx.conf:ro"]);
});

test("both configurations of nginx forward requests in the same way", () => {
  const location = (file: string): string => /location \/ \{[\s\S]*?\n {4}\}/.exec(read(file))![0];
  expect(location("compose.nginx.conf")).toBe(location("nginx.conf"));
});
