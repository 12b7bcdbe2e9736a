import { LocalError, ProtocolError, ToolError } from "mcparley";
import { describe, expect, test } from "vitest";
import { exitCodeMeanings, exitCodeOf, exitCodes } from "./report-error.ts";
import { UsageError } from "./io.ts";

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

  test("the help explains each", () => {
    expect(exitCodeMeanings.map(([code]) => code)).toEqual(Object.values(exitCodes));
  });
});
