import { expect, test } from "vitest";
import { LocalError } from "../rpc/errors.ts";
import { requireOneCopy } from "./one-copy.ts";

test("a second copy of the library is refused with the cure", () => {
  expect(() => requireOneCopy(class LocalErrorOfOtherCopy extends Error {})).toThrow(
    'The library mcparley is loaded twice, as CommonJS and as ES modules. Add "type": "module" to the package.json of your project.',
  );
});

test("the same copy is accepted", () => {
  expect(() => requireOneCopy(LocalError)).not.toThrow();
});
