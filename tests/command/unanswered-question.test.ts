import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { newHome, openTerminal } from "../chat/support/terminal.ts";
import { startCommand } from "./run-command.ts";

/** A server of 2025-11-25 without a library, whose tool asks for a form and returns the answer. */
const source = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const meal = { type: "string", enum: ["vegan", "fish"] };
const note = { type: "string", default: "none" };
const requestedSchema = { type: "object", properties: { meal, note }, required: ["meal"] };
let call;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "asking", version: "1" };
    send({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") send({ id, result: { tools: [{ name: "book", inputSchema: { type: "object" } }] } });
  else if (method === "tools/call") {
    call = id;
    send({ id: "q", method: "elicitation/create", params: { message: "Which meal?", requestedSchema } });
  } else if (id === "q") send({ id: call, result: { content: [{ type: "text", text: JSON.stringify(result) }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "Unknown method" } });
});
`;

const words = (...options: string[]): string[] => ["call", "book", ...options, "--", process.execPath, "server.cjs"];

const run = (...options: string[]) => startCommand(words(...options), { files: { "server.cjs": source } }).finished;

test("in a pipe, a question that nobody answers ends the command with 7, and stderr has all of it", async () => {
  const { code, out, err } = await run();
  expect(code).toBe(7);
  expect(out).toBe('{"action":"decline"}\n');
  expect(err).toMatch(/^Declined a question of .* in tools\/call "book", because there is no terminal to ask at:\n/);
  expect(err).toContain(
    [
      "  │ Which meal?",
      "  meal: vegan, fish (required)",
      '  note: text (optional; default "none")',
      "Answer it with --answer meal=...\n",
    ].join("\n"),
  );
});

test("in a pipe, the document of --json has the question and the result", async () => {
  const { code, out } = await run("--json");
  expect(code).toBe(7);
  expect(JSON.parse(out)).toMatchObject({
    error: {
      code: "unanswered",
      exitCode: 7,
      questions: [{ message: "Which meal?", missing: ["meal"], fields: [{ name: "meal" }, { name: "note" }] }],
      result: { content: [{ type: "text", text: '{"action":"decline"}' }] },
    },
  });
});

test("in a pipe, --answer answers only the fields that it names", async () => {
  const { code, out } = await run("--answer", "meal=fish");
  expect({ code, out }).toEqual({ code: 0, out: '{"action":"accept","content":{"meal":"fish"}}\n' });
});

test("at a terminal, the question is asked, and the answer is sent after a review", async () => {
  const home = newHome();
  const cwd = path.join(home, "work");
  mkdirSync(cwd);
  writeFileSync(path.join(cwd, "server.cjs"), source);
  const terminal = openTerminal({ args: words(), home, cwd, rows: 40 });
  const type = async (text: string, prompt: string): Promise<void> => {
    await terminal.waitFor(() => terminal.isCursorVisible() && terminal.screen().trimEnd().endsWith(prompt));
    terminal.paste(text);
    terminal.key("enter");
  };
  await type("2", "2. fish\n  >");
  await type("x", "[Enter: none] >");
  await type("s", "[c]ancel?");
  expect((await terminal.exit).code).toBe(0);
  expect(terminal.history()).toContain("Which meal?");
  const [answer = ""] = /\{"action".*\}/.exec(terminal.history()) ?? [];
  expect(JSON.parse(answer)).toEqual({ action: "accept", content: { meal: "fish", note: "x" } });
});
