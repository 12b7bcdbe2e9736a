import { expect, test } from "vitest";
import { storableTargets } from "./storable-targets.ts";

test("keeps names of servers and URLs without secrets", () => {
  const words = ["notes", "claude-code:wiki", "my server", "https://wiki.example.com/mcp", "http://127.0.0.1:3000/mcp"];
  expect(storableTargets(words)).toEqual({ targets: words, leftOut: [] });
});

test.each([
  ["user information", "https://ann:pw1@wiki.example.com/mcp"],
  ["a query", "https://wiki.example.com/mcp?token=abc"],
  ["an empty query", "https://wiki.example.com/mcp?"],
  ["a fragment", "https://wiki.example.com/mcp#abc"],
  ["a key in its path", "https://wiki.example.com/s/0f9a8b7c6d5e4f3a2b1c0d/mcp"],
  ["a token of a known form in its path", "https://wiki.example.com/sk-abc/mcp"],
])("leaves out a URL with %s, and shows only its host", (_, url) => {
  expect(storableTargets([url])).toEqual({ targets: [], leftOut: [`${new URL(url).protocol}//wiki.example.com/...`] });
});

test.each([
  "ftp://wiki.example.com/x",
  "https://",
  "http://exa mple.com",
  "--yes",
  "-y",
  "",
  " notes",
  "ghp_abcdef",
  "a\u001b[2J",
])("leaves out %j", (word) => {
  expect(storableTargets([word]).targets).toEqual([]);
});

test("shows nothing of a word that looks like a token", () => {
  expect(storableTargets(["ghp_abcdef"]).leftOut).toEqual(["***"]);
});

test("leaves out a command, and shows only its program", () => {
  expect(storableTargets(["notes", "--", "node", "server.js", "--key", "k1"])).toEqual({
    targets: ["notes"],
    leftOut: ["-- node ..."],
  });
});
