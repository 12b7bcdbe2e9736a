import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Terminal, newHome, openTerminal } from "../chat/support/terminal.ts";

/** A server of 2025-11-25 without a library. A call of its tool changes the list of tools three times. */
const source = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const inputSchema = { type: "object", properties: { limit: { type: "integer" } } };
const tools = [{ name: "search", inputSchema }, { name: "wipe", inputSchema, annotations: { destructiveHint: true } }];
const change = () => {
  tools.push({ name: "extra", inputSchema });
  for (let index = 0; index < 3; index++) send({ method: "notifications/tools/list_changed" });
};
let hasListed = false;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "initialize") {
    const result = { protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } } };
    send({ id, result: { ...result, serverInfo: { name: "github", version: "1" } } });
  } else if (method === "tools/list") {
    send({ id, result: { tools } });
    if (!hasListed && process.argv[2] === "change") setTimeout(change, 1);
    hasListed = true;
  } else if (method === "tools/call") send({ id, result: { content: [{ type: "text", text: "called" }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "Unknown method" } });
});
`;

/** Runs a command in a pseudo-terminal, in a folder with the server and these files. */
function run(args: readonly string[], files: Readonly<Record<string, string>> = {}): Terminal {
  const home = newHome();
  const cwd = path.join(home, "work");
  for (const [name, text] of Object.entries({ "server.cjs": source, ...files })) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  return openTerminal({ args, home, cwd, rows: 40 });
}

const program = ["--", process.execPath, "server.cjs"];

/** Returns the text of a terminal without its line breaks. */
const textOf = (terminal: Terminal): string => terminal.history().replaceAll(/\s+/g, " ");

test("a wrong argument is refused with its member and a cure", async () => {
  const terminal = run(["call", "search", "limit=x", ...program]);
  expect((await terminal.exit).code).toBe(1);
  expect(textOf(terminal)).toContain('limit is "x", and must be integer, not string. Such as limit=INTEGER');
});

test("a pattern of --allow that matches nothing has a warning, and the question is asked", async () => {
  const terminal = run(["call", "wipe", "--allow", "wpie", ...program]);
  await terminal.waitFor(() => terminal.isCursorVisible() && terminal.screen().trimEnd().endsWith("[n]o?"));
  expect(textOf(terminal)).toContain('--allow "wpie" matches no tool. Did you mean "wipe"?');
  terminal.paste("n");
  terminal.key("enter");
  expect((await terminal.exit).code).toBe(7);
});

test("the list states that tools can be hidden, and options can precede the command", async () => {
  const terminal = run(["-v", "list", ...program]);
  expect((await terminal.exit).code).toBe(0);
  expect(textOf(terminal)).toContain("To see them, add --sample TEXT or --root DIR.");
  const withModel = run(["list", "--sample", "x", ...program]);
  expect((await withModel.exit).code).toBe(0);
  expect(textOf(withModel)).not.toContain("To see them");
});

test("a watch prints a change once, with the names of the tools", async () => {
  const terminal = run(["watch", ...program, "change"]);
  await terminal.waitFor(() => terminal.screen().includes("tools changed"));
  terminal.key("ctrl-c");
  expect((await terminal.exit).code).toBe(130);
  expect(terminal.history().match(/tools changed/g)).toHaveLength(1);
  expect(terminal.history()).toContain("tools changed: added extra");
});

test("a server cannot take the name of another entry, and --replace shows what it removes", async () => {
  const settings = JSON.stringify(
    { mcpServers: { github: { httpUrl: "https://api.example/mcp", trust: true } } },
    null,
    2,
  );
  const files = { ".gemini/settings.json": settings };
  const words = ["add", "--to", "gemini-cli", "--scope", "project"];
  const refused = run([...words, "--yes", ...program], files);
  expect((await refused.exit).code).toBe(1);
  expect(textOf(refused)).toContain('has another server "github". Choose another name with --name NAME');
  const terminal = run([...words, "--replace", ...program], files);
  await terminal.waitFor(() => terminal.isCursorVisible() && terminal.screen().trimEnd().endsWith("[n]o?"));
  expect(terminal.screen()).toMatch(/^- .*"trust": true/m);
  terminal.paste("y");
  terminal.key("enter");
  expect((await terminal.exit).code).toBe(0);
  expect(readFileSync(path.join(terminal.cwd, ".gemini/settings.json"), "utf8")).not.toContain("trust");
});
