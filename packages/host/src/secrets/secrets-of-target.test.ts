import { expect, test } from "vitest";
import { credentialsIn, secretsOf } from "./secrets-of-target.ts";

const token = "ghx-4f9a0b77c1d2e3f00d";

test.each([
  ["a URL with a password", "https://ann:pa%20ss@example.com/mcp", ["pa ss"]],
  ["a URL with a broken password", "https://ann:pa%ss@example.com/mcp", ["pa%ss"]],
  ["a URL object", new URL("https://ann:pass@example.com/mcp"), ["pass"]],
  ["a URL with a token as its user", `https://${token}@example.com/mcp`, [token]],
  ["a URL with a user", "https://ann@example.com/mcp", []],
  ["a URL with a token in its path", `https://example.com/${token}/mcp`, [token]],
  ["a URL with a key in its query", "https://example.com/mcp?api_key=a+b&page=2", ["a b"]],
  ["a URL with a token under another name in its query", `https://example.com/mcp?page=${token}`, [token]],
  ["a text that is no URL", "no url", []],
  ["a URL with headers", { url: "https://u:pass@example.com", headers: { accept: "text/html" } }, ["pass"]],
  ["a header", { url: "https://example.com", headers: { "x-user": "ann" } }, ["ann"]],
  ["headers that are public", { url: "https://example.com", headers: { "User-Agent": "a", "content-type": "b" } }, []],
  ["a variable with the name of a secret", { command: "x", env: { DB_PASSWORD: "abc", HOME: "/root" } }, ["abc"]],
  ["a variable with a token", { command: "x", env: { SETTING: token } }, [token]],
  ["the password of a URL in a variable", { command: "x", env: { DB: "postgres://u:hunter22@db/o" } }, ["hunter22"]],
  ["the password of a URL in an argument", { command: "x", args: ["postgres://u:hunter22@db/o"] }, ["hunter22"]],
  ["the password of a URL in a flag", { command: "x", args: ["--api-key", "https://u:p@db"] }, ["https://u:p@db", "p"]],
  ["the value of a flag", { command: "x", args: ["--token=abc", "--api-key", "def", "-p"] }, ["abc", "def"]],
  ["a flag with several lines", { command: "x", args: ["--private-key=a\nb"] }, ["a\nb"]],
  ["a token without a flag", { command: "x", args: [token] }, [token]],
  ["the value of another flag", { command: "x", args: ["--root", "/home", "--level=debug"] }, []],
  ["a server in this process", { attach: () => Promise.resolve() }, []],
])("the secrets of %s", (_, target, secrets) => {
  expect(secretsOf(target as never).filter((secret) => secret !== "")).toEqual(secrets);
});

test.each([
  ["x-api-key", "abc", ["abc"]],
  ["authorization", "Bearer abc", ["Bearer abc", "abc"]],
  ["authorization", "Basic YW5uOnBhOnNz", ["Basic YW5uOnBhOnNz", "YW5uOnBhOnNz", "pa:ss"]],
  ["authorization", 'Token a="x1", b="y2"', ['Token a="x1", b="y2"', 'a="x1", b="y2"', "x1", "y2"]],
  ["Cookie", "a=1; b=2=3", ["a=1; b=2=3", "1", "2=3"]],
  ["x-note", "two words", ["two words", "words"]],
])("the credentials in the header %s: %s", (name, value, credentials) => {
  expect(credentialsIn([name, value])).toEqual(credentials);
});
