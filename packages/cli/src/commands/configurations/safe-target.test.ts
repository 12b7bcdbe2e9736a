import { describe, expect, test } from "vitest";
import { safeWords } from "@mcparley/internal/secret-values";
import { describeTarget } from "./safe-target.ts";

describe("the text of a target has no secret", () => {
  test.each(["", "\n", "\u2028", "\u2029"])("of the query and the fragment of a URL, with %j in it", (end) => {
    const url = `https://h.example/mcp?page=1${end}2#secret${end}more`;
    expect(safeWords([url])).toEqual(["https://h.example/mcp?page=***"]);
    expect(describeTarget({ kind: "url", url: [url], transport: "http", headers: new Map() })).toBe(
      "https://h.example/mcp?page=***",
    );
  });

  test.each(["", "\n", "\u2028", "\u2029"])("of the value of a secret option, with %j in it", (end) => {
    expect(safeWords(["--api-key", `abc${end}def`, `--token=abc${end}def`])).toEqual([
      "--api-key",
      "***",
      "--token=***",
    ]);
  });
});
