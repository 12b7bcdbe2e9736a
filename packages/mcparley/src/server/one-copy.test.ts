import { expect, test } from "vitest";
import { LocalError } from "../rpc/errors.ts";
import { coreOf, createServer } from "./create-server.ts";

const core = coreOf(createServer({ name: "notes", version: "1.0.0" }));

test("a second copy of the library is refused with the cure", () => {
  expect(() => core.requireOneCopy(class LocalErrorOfOtherCopy extends Error {})).toThrow(
    'mcparley was loaded twice. Add "type": "module" to your package.json.',
  );
});

test("the same copy is accepted", () => {
  expect(() => core.requireOneCopy(LocalError)).not.toThrow();
});
