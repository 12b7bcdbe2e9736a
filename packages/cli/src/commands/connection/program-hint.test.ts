import { LocalError, ProtocolError } from "mcparley";
import { describe, expect, test } from "vitest";
import { programHint } from "./program-hint.ts";

const exited = (stderr: string, exitCode: number | null = 1): LocalError =>
  new LocalError("exited", `The server "node" exited.`, { data: { exitCode, signal: null, stderr } });
const hintFor = (stderr: string, exitCode?: number | null): string | undefined =>
  programHint(exited(stderr, exitCode), { output: stderr, hiddenVariables: ["NOTES_KEY", "EDITOR"] });

describe("the hint about variables", () => {
  test("names the variables of the shell that the output mentions", () => {
    for (const error of [exited(""), new ProtocolError(-32603, "Internal error")])
      expect(programHint(error, { output: "Set NOTES_KEY.", hiddenVariables: ["NOTES_KEY", "EDITOR"] })).toBe(
        "The server does not receive NOTES_KEY of this shell. Add --env NOTES_KEY.",
      );
  });

  test.each([
    "Error: Set STOCKS_API to the address of the API.",
    "KeyError: 'NOTES_TOKEN'\n",
    "Missing environment variable",
    "TypeError: process.env.port is undefined",
    "An API key is required",
    "",
  ])("is general if a failure may have this cause: %j", (stderr) => {
    expect(hintFor(stderr)).toMatch(/^The server receives few variables of this shell/);
    expect(hintFor(stderr, null)).toMatch(/^The server receives few variables of this shell/);
    expect(programHint(exited(stderr), { output: stderr, hiddenVariables: [] })).toBeUndefined();
  });

  test.each([
    "Error: Cannot find module '/srv/missing.js'\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'",
    "sh: 1: tsx: not found",
    "/usr/bin/env: 'nodejs': No such file or directory",
    "SyntaxError: Unexpected token '}'",
  ])("is absent if the server names another cause: %j", (stderr) => {
    expect(hintFor(stderr)).toBeUndefined();
  });

  test("is absent if the server ended with code 0, or has not ended", () => {
    expect(hintFor("", 0)).toBeUndefined();
    expect(hintFor("Reads STOCKS_API.", 0)).toBeUndefined();
    const timeout = new LocalError("timeout", "Not answered.", { data: { exitCode: 1, stderr: "" } });
    expect(programHint(timeout, { output: "", hiddenVariables: ["EDITOR"] })).toBeUndefined();
  });
});

test("a file of TypeScript that Node cannot run has a hint with other programs", () => {
  for (const extension of [".ts", ".mts"])
    expect(hintFor(`TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension "${extension}" for /srv/a`)).toBe(
      "This version of Node does not run TypeScript. Start the server with npx tsx, or use Node 22.18 or newer.",
    );
  expect(hintFor('TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension ".svg" for /srv/a')).toBeUndefined();
});

test("a command in one word has a hint to remove the quotes", () => {
  const error = new LocalError("unreachable", "Cannot start.");
  const hint = (command: string[]): string | undefined =>
    programHint(error, { output: "", target: { word: undefined, command, headerNames: [] } });
  expect(hint(["npx tsx server.ts"])).toContain("without quotes");
  expect(hint(["npx", "tsx server.ts"])).toBeUndefined();
  expect(hint(["tsx"])).toBeUndefined();
});

test("the hint reads the last 65,536 characters of the output", () => {
  const hint = "The server does not receive NOTES_KEY of this shell. Add --env NOTES_KEY.";
  const output = (length: number) => `NOTES_KEY${" ".repeat(length - 9)}`;
  const hintOf = (text: string) => programHint(new Error("a"), { output: text, hiddenVariables: ["NOTES_KEY"] });
  expect(hintOf(output(65_536))).toBe(hint);
  expect(hintOf(output(65_537))).toBeUndefined();
});
