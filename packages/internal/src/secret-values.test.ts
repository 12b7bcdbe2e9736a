import { expect, test } from "vitest";
import { safeUrl, safeWord, safeWords, shownWords } from "./secret-values.ts";

const secret = "f3a9c1d27b604e8d9a51";

test.each([
  [`https://mcp.example/s/${secret}/mcp`, "https://mcp.example/s/***/mcp"],
  ["https://h/api/8c2f41aa-03b7-4f5e-9d31-aa02b4c1d7e6/sse", "https://h/api/***/sse"],
  ["https://h/bot/1234567890123456/mcp", "https://h/bot/***/mcp"],
  [`https://h/${"abcdEFGH".repeat(4)}`, "https://h/***"],
  ["https://h/token/hunter2/mcp", "https://h/token/***/mcp"],
  ["https://h/api-key/hunter2", "https://h/api-key/***"],
  ["https://h/mcp;sid=abc/x", "https://h/mcp;sid=***/x"],
  [`https://ann:pw@h/v1/${secret}/mcp?token=abc&api_key=${secret}`, "https://***@h/v1/***/mcp?token=***&api_key=***"],
  ["https://ann:pw@h/mcp", "https://***@h/mcp"],
  ["https://tok@h/mcp", "https://***@h/mcp"],
  ["https://h/mcp?page=2&k=v", "https://h/mcp?page=***&k=***"],
  ["https://h/mcp?a=b?c=d", "https://h/mcp?a=***"],
  ["https://h/mcp?hunter2hunter2", "https://h/mcp?***"],
  ["https://h/mcp?debug&k=v", "https://h/mcp?debug&k=***"],
  ["https://h/mcp#frag", "https://h/mcp"],
  ["postgres://u:p@db:5432/x", "postgres://***@db:5432/x"],
  ["HTTPS://u:p@h/mcp", "HTTPS://***@h/mcp"],
])("the URL %s is shown as %s", (url, shown) => {
  expect(safeUrl(url)).toBe(shown);
});

test.each([
  "https://mcp.example/v1/mcp",
  "https://h/handbook/2026-07-28",
  "https://h/${TOKEN}/mcp?key=${KEY}",
  "https://h/tokens",
  "https://h/mcp?debug",
  "http://127.0.0.1:3333/mcp",
  "https://gitmcp.example/docs/getting-started",
])("the URL %s is shown as it is", (url) => {
  expect(safeUrl(url)).toBe(url);
});

test.each([
  [["--header=X-Key: abc"], ["--header=X-Key: ***"]],
  [
    ["--header", "X-Key: abc"],
    ["--header", "X-Key: ***"],
  ],
  [
    ["--header", "X-Key:abc"],
    ["--header", "X-Key:***"],
  ],
  [
    ["-H", "Authorization: Bearer abc"],
    ["-H", "Authorization: ***"],
  ],
  [["-HX-Tenant: acme"], ["-HX-Tenant: ***"]],
  [["--headers=X-Key=abc"], ["--headers=X-Key=***"]],
  [["--api-key=abc"], ["--api-key=***"]],
  [
    ["--apiKey", "abc"],
    ["--apiKey", "***"],
  ],
  [
    ["-e", "DATABASE=abc"],
    ["-e", "DATABASE=***"],
  ],
  [["--env=NAME=abc"], ["--env=NAME=***"]],
  [
    ["--env", "NAME=abc=d"],
    ["--env", "NAME=***"],
  ],
  [["-eTOKEN=abc"], ["-eTOKEN=***"]],
  [["GITHUB_TOKEN=abc"], ["GITHUB_TOKEN=***"]],
  [["--url=https://u:p@h/m?k=v"], ["--url=https://***@h/m?k=***"]],
  [["postgres://u:p@db/x"], ["postgres://***@db/x"]],
  [[`https://h/${secret}`], ["https://h/***"]],
])("the words %j are shown as %j", (words, shown) => {
  expect(safeWords(words)).toEqual(shown);
});

test.each([
  [["--header", "Authorization: Bearer ${TOKEN}"]],
  [["-e", "console.log(1)"]],
  [["-e", "TOKEN=${env:TOKEN}"]],
  [["-e", "TOKEN"]],
  [["--headless", "--env", "production"]],
  [["npx", "-y", "notes-server@1.2.3", "/srv/files"]],
])("the words %j are shown as they are", (words) => {
  expect(safeWords(words)).toEqual(words);
});

test("a word is hidden by the name or the form of its value alone if the caller says so", () => {
  const isHidden = (name: string): boolean => name === "X-Key";
  expect(safeWord(["-H", "X-Key: abc"], 1, isHidden)).toBe("X-Key: ***");
  expect(safeWord(["-H", "X-Tenant: acme"], 1, isHidden)).toBe("X-Tenant: acme");
});

test("the question for trust hides plain secrets of headers, and shows what can be code", () => {
  expect(shownWords(["-H", "X-Key: abc", "--header=Authorization: Bearer abc"])).toEqual([
    "-H",
    "X-Key: ***",
    "--header=Authorization: ***",
  ]);
  const code = ["-H", "X-Key: $(curl evil)", "--header=X-Key: a;b", "-H", "X-Tenant: acme"];
  expect(shownWords(code)).toEqual(code);
});
