import { expect, test } from "vitest";
import { mirrorArguments } from "./mirrored-headers.ts";

const headers = [
  { header: "Mcp-Param-Count", path: ["count"], type: "integer" },
  { header: "Mcp-Param-Region", path: ["place", "region"], type: "string" },
] as const;

test("arguments are mirrored by their paths, and missing or null arguments are omitted", () => {
  expect(mirrorArguments(headers, { count: 0, place: { region: "日本" } })).toEqual({
    "Mcp-Param-Count": "0",
    "Mcp-Param-Region": "=?base64?5pel5pys?=",
  });
  for (const args of [{}, undefined, { count: null, place: null }, { place: { region: {} } }]) {
    expect(mirrorArguments(headers, args)).toEqual({});
  }
});

test("an integer is mirrored up to MAX_SAFE_INTEGER, and a larger one is refused", () => {
  const count = Number.MAX_SAFE_INTEGER;
  expect(mirrorArguments(headers, { count })).toEqual({ "Mcp-Param-Count": "9007199254740991" });
  expect(() => mirrorArguments(headers, { count: count + 1 })).toThrow('"count" is 9007199254740992');
  expect(() => mirrorArguments(headers, { count: -(2 ** 60) })).toThrow('"count" is');
});
