import { expect, test } from "vitest";
import { readCall } from "./read-call.ts";
import { testCatalogue, testTool } from "./testing/run-fixtures.ts";

test.each([
  ["write", "write"],
  ["n".repeat(64), "n".repeat(64)],
  ["n".repeat(65), "n".repeat(64)],
  ["notes.read now", "notes_read_now"],
  ["", "tool"],
])("the name %j of a call is sent to providers as %j", (name, sendableName) => {
  const catalogue = testCatalogue([testTool("write")]);
  const call = { type: "tool-call", callId: "1", name, input: "{}" } as const;
  const { part, target } = readCall(call, {
    catalogue: () => catalogue,
    readArguments: () => ({ arguments: {} }),
    isSearching: false,
    uniqueId: (id) => id,
  });
  expect(part.name).toBe(sendableName);
  expect(target.kind).toBe(name === "write" ? "tool" : "problem");
});
