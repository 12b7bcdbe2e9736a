import { afterEach, describe, expect, test, vi } from "vitest";
import { pino } from "pino";
import { modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import { jsonLogger, logTo } from "./logging.ts";
import type { ServerObserver } from "../core/observer.ts";
import { toConsole } from "./observers.ts";

/** Clears the screen on a terminal, with C0 and C1 sequences, and reorders and hides text. */
const hostile = "\u001b[2J\u009b31m\u007f\u202e\u200b\u{e0061}";
const steering = /[\u007f-\u009f\u202e\u200b\u{e0061}]/u;
const info = { name: `client ${hostile}`, version: "1" };

const tools = {
  breaks: tool({
    input: { type: "object", properties: { text: { type: "string" } } },
    call: ({ text }: { text?: string }) => {
      throw new Error(`Cannot find ${text}`, { cause: new Error(`below ${text}`) });
    },
  }),
};

async function callsOf(observers: readonly ServerObserver[]): Promise<void> {
  const meta = { ...modernMeta("2026-07-28"), "io.modelcontextprotocol/clientInfo": info };
  const peer = await rawPeer(createServer({ name: "x", version: "1", tools, observers }), { meta });
  await peer.request("tools/call", { name: "breaks", arguments: { text: hostile } });
  await peer.request("tools/call", { name: `unknown ${hostile}` });
  await peer.request(`no/method ${hostile}`, {});
}

describe("text of a caller cannot control the terminal that shows a log", () => {
  afterEach(() => void vi.restoreAllMocks());

  test("of jsonLogger, for any fields", () => {
    const lines: string[] = [];
    jsonLogger({ write: (line) => void lines.push(line) }).info({ [hostile]: hostile }, hostile);
    expect(lines.join()).not.toMatch(steering);
    expect(JSON.parse(lines.join(""))).toMatchObject({ msg: hostile, [hostile]: hostile });
  });

  test("of logTo with another logger", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    await callsOf([logTo(logger)]);
    await expect.poll(() => lines.length).toBeGreaterThanOrEqual(4);
    expect(lines.join("")).not.toMatch(steering);
    expect(lines.join("")).toContain("client \\\\x1b[2J\\\\x9b31m\\\\x7f\\\\u{202e}");
  });

  test("is not written to the console if an observer receives errors", () => {
    const write = vi.spyOn(console, "error").mockImplementation(() => {});
    toConsole(new Error("x"), [{}, { failed: () => {} }]);
    expect(write).not.toHaveBeenCalled();
    toConsole(new Error("x"), [{}]);
    expect(write).toHaveBeenCalledOnce();
  });

  test("of the console, with the causes of an error", async () => {
    const write = vi.spyOn(console, "error").mockImplementation(() => {});
    await callsOf([]);
    await expect.poll(() => write).toHaveBeenCalled();
    const shown = write.mock.calls.flat().join("\n");
    expect(shown).toContain("Cannot find \\x1b[2J");
    expect(shown).toContain("Caused by: Error: below \\x1b[2J");
    expect(shown).not.toMatch(steering);
  });
});

test("a record has at most 10,000 characters of each text, and no part of a secret", async () => {
  const records: object[] = [];
  const write = (fields: object): void => void records.push(fields);
  const observers = [logTo({ debug: write, info: write, warn: write, error: write })];
  const meta = modernMeta("2026-07-28");
  const peer = await rawPeer(createServer({ name: "x", version: "1", tools, observers }), { meta });
  for (const size of [9_950, 9_990, 1_000_000]) {
    const text = `${"a ".repeat(size / 2)}api_key=hunter2hunter2`;
    await peer.request("tools/call", { name: "breaks", arguments: { text } });
  }
  const lengths = [...JSON.stringify(records).matchAll(/"message":"([^"]*)"/g)].map(([, text = ""]) => text.length);
  expect(Math.max(...lengths)).toBe(10_000);
  expect(Math.min(...lengths)).toBeLessThan(10_000);
  expect(JSON.stringify(records)).not.toContain("hunter");
});
