import { createServer } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { type ServerEntry, resolveEntry } from "./server-entry.ts";

const server = createServer({ name: "a", version: "1.0.0" });

describe("targets", () => {
  test.each([
    ["a URL", "https://example.com/mcp", "http"],
    ["a URL object", new URL("http://localhost:1/mcp"), "http"],
    ["an object with a URL", { url: "https://example.com/mcp", headers: { a: "b" } }, "http"],
    ["a command", { command: "node", args: ["server.js"] }, "command"],
    ["a server", server, "in-process"],
    ["settings with a URL", { target: "https://example.com/mcp", eager: true }, "http"],
    ["settings with a command", { target: { command: "node" } }, "command"],
    ["settings with a server", { target: server }, "in-process"],
    ["a server with a member `target`", { target: "x", attach: () => Promise.resolve() }, "in-process"],
  ])("%s is recognized", (_, entry, kind) => {
    expect(resolveEntry("a", entry as ServerEntry).server.kind).toBe(kind);
  });

  test("settings are returned without the target", () => {
    const { settings } = resolveEntry("a", { target: server, eager: true, timeout: { total: 5 } });
    expect(settings).toEqual({ eager: true, timeout: { total: 5 } });
  });

  test.each([
    ["a text", "npx server", "is a text that is not a URL"],
    ["another scheme", "ftp://example.com", "scheme ftp:"],
    ["a password in the URL", "https://user:secret@example.com", "contains a user name or a password"],
    ["an empty command", { command: "" }, "`command` must be"],
    ["an argument that is no text", { command: "node", args: [5] }, "`args` must be"],
    ["an unknown object", { secret: "x" }, "keys secret"],
    ["a number", 5, "is no object"],
    ["undefined", undefined, "is no object"],
    ["a negative time limit", { target: server, timeout: { idle: -1 } }, "`timeout.idle` must be"],
  ])("%s is refused", (_, entry, message) => {
    expect(() => resolveEntry("notes", entry as ServerEntry)).toThrow(message);
    expect(() => resolveEntry("notes", entry as ServerEntry)).toThrow(
      expect.objectContaining({ code: "invalid_target" }),
    );
  });

  test("errors contain no part of a URL or of the values of an object", () => {
    for (const entry of ["https://user:secret@example.com", "//secret", { token: "secret" }]) {
      const resolve = () => resolveEntry("notes", entry as ServerEntry);
      expect(resolve).toThrow();
      expect(resolve).not.toThrow("secret");
    }
  });
});

describe("names", () => {
  test.each(["a", "My notes", "ノート", "a.b-c_d", "x".repeat(64), "👍".repeat(64)])("%j is accepted", (name) => {
    expect(resolveEntry(name, server).name).toBe(name);
  });

  test.each([
    ["", "is empty"],
    ["  ", "is empty"],
    [" a", "starts or ends with a space"],
    ["x".repeat(65), "has 65 characters"],
    ["a:b", 'contains ":"'],
    ["a\nb", "contains control"],
    ["a\u202Eb", "contains control"],
    ["a\u200Bb", "contains control"],
    ["a\uD800", "contains control"],
  ])("%j is refused", (name, problem) => {
    expect(() => resolveEntry(name, server)).toThrow(problem);
  });

  test("the error shows invisible characters escaped", () => {
    expect(() => resolveEntry("a\u202Eb", server)).toThrow("a\\u202eb");
  });
});
