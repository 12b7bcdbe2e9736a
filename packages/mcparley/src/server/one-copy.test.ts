import { expect, test } from "vitest";
import { LocalError } from "../rpc/errors.ts";
import { requireOneCopy } from "./one-copy.ts";

test("a second copy of the library is refused with the cure", () => {
  expect(() => requireOneCopy(class LocalErrorOfOtherCopy extends Error {})).toThrow(
    'mcparley was loaded twice. Add "type": "module" to your package.json.',
  );
});

test("the same copy is accepted", () => {
  expect(() => requireOneCopy(LocalError)).not.toThrow();
});
