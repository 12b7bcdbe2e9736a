import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

test("only mcp/revisions/ contains the names of revisions, so that no other code can compare them", () => {
  const named = sourceFiles()
    .filter(({ name }) => !name.startsWith("mcp/revisions/"))
    .flatMap(({ name, code }) => [...code.matchAll(/20\d\d-\d\d-\d\d/g)].map(([literal]) => `${name}: ${literal}`));
  expect(named).toEqual([]);
});

test("no shared code compares the version of a revision", () => {
  const compared = sourceFiles()
    .filter(({ name }) => !name.startsWith("mcp/revisions/"))
    .flatMap(({ name, code }) =>
      [...code.matchAll(/evision\.version\s*(?:[<>]=?|===|!==)|(?:[<>]=?|===|!==)\s*\w*evision\.version\b/g)].map(
        ([match]) => `${name}: ${match}`,
      ),
    );
  expect(compared).toEqual([]);
});
