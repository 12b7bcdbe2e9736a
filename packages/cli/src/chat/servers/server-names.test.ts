import { expect, test } from "vitest";
import type { Target } from "../../targets/target.ts";
import { serverName, uniqueName } from "./server-names.ts";

const url = (address: string): Target => ({ kind: "url", url: address, headers: {} });
const command = (...words: string[]): Target => ({
  kind: "command",
  command: words[0] ?? "",
  args: words.slice(1),
  env: {},
  cwd: "/",
});

test.each([
  ["http://127.0.0.1:3333/mcp", "local-3333"],
  ["http://localhost/mcp", "local"],
  ["https://mcp.example.com/mcp", "example"],
  ["https://example.com/mcp", "example"],
  ["https://www.api.dev/", "www.api.dev"],
])("names a server at %s", (address, name) => {
  expect(serverName(url(address), address)).toBe(name);
});

test.each([
  [["node", "/opt/my server/weather.js", "--verbose"], "weather"],
  [["npx", "-y", "@modelcontextprotocol/server-everything@2026.8.31", "stdio"], "server-everything"],
  [["npx", "@playwright/mcp@0.0.83", "--headless"], "playwright"],
  [["npx", "@playwright/mcp"], "playwright"],
  [["npx", "mcp"], "mcp"],
  [["uvx", "mcp-server-time"], "mcp-server-time"],
  [["mcparley", "serve", "examples/handbook", "--stdio"], "handbook"],
  [["/usr/bin/notes-server"], "notes-server"],
  [["python3", "-u", "server.py"], "server"],
  [["node", "node_modules/server-everything/dist/index.js", "stdio"], "server-everything"],
  [["node", "node_modules/@playwright/mcp/cli.js"], "playwright"],
  [["node", "/opt/mcp/dist/index.js"], "mcp"],
  [["node", "./dist/main.js"], "main"],
  [["node", "-e", "console.log(1)"], "node"],
])("names a program %j", (words, name) => {
  expect(serverName(command(...words), undefined)).toBe(name);
});

test("uses the name of a configuration, without characters that hosts and providers refuse", () => {
  const origin = {
    name: "my: notes\u202e",
    scope: "project",
    entry: { digest: "", kind: "command", file: "/mcp.json", sends: [] },
  } as const;
  expect(serverName({ ...command("x"), origin }, "my: notes")).toBe("my-notes");
});

test("numbers the names that are taken", () => {
  expect(uniqueName("notes", new Set())).toBe("notes");
  expect(uniqueName("notes", new Set(["notes", "notes-2"]))).toBe("notes-3");
});
