import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect } from "vitest";
import { type Client, commandTransports, openClient } from "../library.ts";
import { proves } from "../proves.ts";
import { type World, discoverResult, initializeResult } from "../world/world.ts";

const scripted = fileURLToPath(new URL("../programs/scripted-server.mjs", import.meta.url));
const source = (name: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../../../packages/mcparley/src/${name}.ts`, import.meta.url)));

type Ending = "exits" | "exits on SIGTERM" | "never exits";

interface Started {
  client: Client;
  errors: Error[];
  /** The output of the server on stderr so far. */
  stderr: () => string;
}

/** Starts a program in a process of its own, and connects to it. */
async function start({ version }: World, args: readonly string[], exit = 60_000, terminate = 60_000): Promise<Started> {
  let stderr = "";
  const errors: Error[] = [];
  const target = { command: process.execPath, args, stderr: (chunk: string): void => void (stderr += chunk) };
  const factory = commandTransports(target, { exit, terminate, kill: 60_000 });
  const onError = (error: Error): void => void errors.push(error);
  return { client: await openClient(factory, { revision: version, onError }), errors, stderr: () => stderr };
}

/** The arguments of a server without the library. */
function scriptedServer({ version }: World, ending: Ending = "exits"): string[] {
  const results = { initialize: initializeResult(version), "server/discover": discoverResult([version]) };
  return [scripted, JSON.stringify(results), ending];
}

async function processOf(client: Client): Promise<{ pid: number; parent: number }> {
  return JSON.parse(String(await client.callTool("process"))) as { pid: number; parent: number };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

proves("stdio.client.launches", async (world) => {
  const { client } = await start(world, scriptedServer(world));
  const { pid, parent } = await processOf(client);
  expect(pid === process.pid).toBe(false);
  expect(parent).toEqual(process.pid);
  await client.close();
});

proves("stdio.client.stderr", async (world) => {
  const { client, stderr } = await start(world, scriptedServer(world));
  await client.callTool("process");
  await expect.poll(stderr).toContain("received tools/call");
  await client.close();
});

proves("stdio.client.stderr-is-no-error", async (world) => {
  const { client, errors, stderr } = await start(world, scriptedServer(world));
  await client.callTool("process");
  await expect.poll(stderr).toContain("ERROR: received tools/call");
  await client.callTool("process");
  expect(errors).toEqual([]);
  await client.close();
});

proves("stdio.shutdown.client-escalates", async (world) => {
  const ignoresEnd = await start(world, scriptedServer(world, "exits on SIGTERM"), 50);
  await ignoresEnd.client.close();
  await expect.poll(ignoresEnd.stderr).toContain("received SIGTERM");
  const ignoresAll = await start(world, scriptedServer(world, "never exits"), 50, 50);
  const { pid } = await processOf(ignoresAll.client);
  await ignoresAll.client.close();
  expect(isRunning(pid)).toBe(false);
});

const logging = `
  import { createServer, tool } from ${source("server")};
  import { serveStdio } from ${source("stdio")};
  const call = () => {
    console.log("printed");
    process.stderr.write("logged");
    return "done";
  };
  serveStdio(createServer({ name: "logging", version: "1.0.0", tools: { log: tool({ call }) } }));
`;

proves("stdio.server.stderr", async (world) => {
  const folder = await mkdtemp(path.join(tmpdir(), "mcparley-requirements-"));
  const outfile = path.join(folder, "server.mjs");
  const stdin = { contents: logging, resolveDir: path.dirname(scripted) };
  await build({
    stdin,
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  const { client, stderr } = await start(world, [outfile]);
  expect(await client.callTool("log")).toBe("done");
  await expect.poll(stderr).toMatch(/printed[^]*logged/);
  await client.close();
  await rm(folder, { recursive: true });
});
