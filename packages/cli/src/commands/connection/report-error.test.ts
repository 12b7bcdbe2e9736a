import { LocalError, ProtocolError, ToolError } from "mcparley";
import { describe, expect, test } from "vitest";
import { exitCodeMeanings, exitCodes } from "../../terminal/exit-codes.ts";
import { errorDocument, exitCodeOf, reportError } from "./report-error.ts";
import { UsageError } from "../../terminal/io.ts";
import { Screen } from "../../terminal/screen.ts";
import { fakeIo } from "../testing/fake-io.ts";

describe("exit codes", () => {
  test.each([
    [new UsageError("x"), 1],
    [new ProtocolError(-32602, "x"), 2],
    [new LocalError("unauthorized", "x"), 3],
    [new LocalError("unreachable", "x"), 4],
    [new LocalError("exited", "x"), 4],
    [new ToolError("x"), 5],
    [new LocalError("timeout", "x"), 6],
    [new LocalError("declined", "x"), 7],
    [new TypeError("x"), 70],
    [new LocalError("aborted", "x"), 130],
  ])("%s exits with %i", (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  test("explains each exit code in the help", () => {
    expect(exitCodeMeanings.map(([code]) => code)).toEqual(Object.values(exitCodes));
  });
});

describe("a reply over a limit", () => {
  const hintOf = (data: object): unknown => {
    const error = new LocalError("too_large", "x", { data });
    return (errorDocument(error, {}) as { hint?: string }).hint;
  };

  test("gets a hint with a size that is sufficient, or four times as large", () => {
    expect(hintOf({ limit: 16_777_216 })).toContain("--max-reply 64MiB.");
    expect(hintOf({ limit: 16_777_216, bytes: 89_478_714 })).toContain("--max-reply 86MiB.");
    expect(hintOf({ limit: 400_000_000 })).toContain("--max-reply 512MiB.");
  });

  test("gets no hint if no option raises the limit", () => {
    expect(hintOf({ limit: 536_870_912 })).toBeUndefined();
    expect(hintOf({})).toBeUndefined();
  });
});

describe("a server that cannot ask on its revision", () => {
  // The texts of FastMCP, the Python SDK, the TypeScript SDK and mcp-go.
  const texts = [
    "elicitation via server-initiated requests is unavailable on 2026-07-28 connections.",
    "server-initiated sampling is not available on MCP 2026-07-28 connections; SEP-2577 removed it.",
    "Error executing tool book: Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.",
    "Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create' cannot be sent.",
    "failed to request elicitation: session does not support elicitation",
    "session does not support sampling",
    "Elicitation not supported",
  ];
  const others = [
    "The disk is full.",
    "A sampling rate of 44100 is not supported.",
    "Elicited requirements were saved. The file format is not supported.",
    "The unavailable item was replaced.",
  ];

  const hintOf = async (error: Error, revisionKind: "modern" | "legacy"): Promise<string> => {
    const io = fakeIo();
    await reportError(error, { screen: new Screen(io, () => {}), json: undefined, verbose: false, revisionKind });
    return io.err();
  };

  test.each(texts)("is recognized, and the hint names an earlier revision: %s", async (text) => {
    for (const error of [new ToolError(text), new ProtocolError(-32600, text)]) {
      expect(await hintOf(error, "modern")).toContain("--revision 2025-11-25");
      expect(await hintOf(error, "legacy")).not.toContain("--revision");
    }
    expect(await hintOf(new LocalError("http", text), "modern")).not.toContain("--revision");
  });

  test.each(others)("is not assumed because of: %s", async (text) => {
    expect(await hintOf(new ToolError(text), "modern")).not.toContain("--revision");
  });
});

test("an error names a configured server by its name, and not by its program", () => {
  const target = {
    word: "notes",
    command: undefined,
    headerNames: [],
    configured: { name: "notes", program: "/usr/bin/node" },
  };
  const messageOf = (text: string, facts: object): unknown =>
    (errorDocument(new LocalError("exited", text), facts) as { message: string }).message;
  const text = 'The server "/usr/bin/node" exited with code 1.';
  expect(messageOf(text, { target })).toBe('The server "notes" exited with code 1.');
  expect(messageOf(text, { target: { ...target, configured: undefined } })).toBe(text);
});
