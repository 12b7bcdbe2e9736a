import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { clients } from "../implementations/clients.mjs";
import type { Answers, ClientImplementation, ClientMode, ClientWay, Sample } from "../types.ts";
import { type ClientCase, clientTurns } from "./client-turns.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "bench client "));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const call = { answers: "json", operation: "call", atOnce: 1, tools: 2 } as const;

async function figuresOf(client: ClientImplementation, clientCase: ClientCase, peers = ""): Promise<Sample> {
  const turns = await clientTurns(client, clientCase, peers);
  try {
    await turns.turn(10, false);
    await turns.turn(10, true);
    return await turns.figures();
  } finally {
    await turns.end();
  }
}

/** A client whose module contains the given source code. */
function clientWith(name: string, source: string): ClientImplementation {
  mkdirSync(path.join(folder, "peers", name), { recursive: true });
  writeFileSync(path.join(folder, "peers", name, "client.mjs"), source);
  return { name, isPeer: true, modes: { http: ["modern"], memory: ["modern"] } };
}

describe.each(clients.filter(({ isPeer }) => !isPeer))("$name", (client) => {
  const { modes } = client;
  const cases = (Object.keys(modes) as ClientWay[]).flatMap((way) =>
    (modes[way] ?? []).map((mode): [ClientWay, ClientMode] => [way, mode]),
  );
  test.each(cases)("is measured: %s, %s", async (way, mode) => {
    for (const operation of ["call", "list"] as const) {
      const { perSecond, cpu } = await figuresOf(client, { ...call, way, mode, operation, tools: 50 });
      expect(Number(perSecond)).toBeGreaterThan(0);
      expect(Number(cpu)).toBeGreaterThan(0);
    }
  });

  test.each<[Answers, ClientMode]>([
    ["json", "stateless"],
    ["json", "modern"],
    ["sse", "stateless"],
    ["sse", "modern"],
  ])("is measured with several calls at a time: %s, %s", async (answers, mode) => {
    const { perSecond } = await figuresOf(client, { ...call, way: "http", answers, mode, atOnce: 4 });
    expect(Number(perSecond)).toBeGreaterThan(0);
  });
});

test.each(["memory", "http"] as const)("refuses the figures of a client that answers from a cache: %s", async (way) => {
  const caching = clientWith(
    "caching",
    `const names = ["echo", "add"].map((name) => ({ name }));
    export const connect = async () => ({ listTools: async () => names });`,
  );
  const clientCase = { ...call, way, mode: "modern", operation: "list" } as const;
  await expect(figuresOf(caching, clientCase, folder)).rejects.toThrow(/^The client sent 0 requests for \d+ calls/);
});

test("refuses the figures of a client that sends requests of another revision", async () => {
  const legacy = clientWith(
    "legacy",
    `export const connect = async ({ answer }) => ({
      async echo(text) {
        const { error } = answer({ id: 1, method: "tools/call", params: { name: "echo", arguments: { text } } });
        throw new Error(error.message);
      },
    });`,
  );
  const clientCase = { ...call, way: "memory", mode: "modern" } as const;
  await expect(figuresOf(legacy, clientCase, folder)).rejects.toThrow("This request is not modern.");
});

test.each([
  ["call", "echo", `async () => "something else"`, '"something else" is not an echo'],
  ["list", "listTools", `async () => [{ name: "echo" }, { name: "other" }]`, "2 tools were listed"],
] as const)("refuses a wrong result of a %s", async (operation, method, source, message) => {
  const wrong = clientWith(`wrong-${operation}`, `export const connect = async () => ({ ${method}: ${source} });`);
  const clientCase = { ...call, way: "memory", mode: "modern", operation } as const;
  await expect(figuresOf(wrong, clientCase, folder)).rejects.toThrow(message);
});
