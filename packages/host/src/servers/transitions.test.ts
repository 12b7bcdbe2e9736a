import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { transitions } from "./transitions.ts";

test("the diagram shows exactly the transitions of the table", () => {
  const source = readFileSync(new URL("./transitions.ts", import.meta.url), "utf8");
  const drawn = [...source.matchAll(/^ \* {3}(\w+) --> (\w+): (\w+)/gm)].map(([, from, to, action]) =>
    [from, action, to].join(" ").replaceAll("_", "-"),
  );
  const listed = Object.entries(transitions).flatMap(([from, actions]) =>
    Object.entries(actions).map(([action, to]) => [from, action, to].join(" ")),
  );
  expect(drawn.toSorted()).toEqual(listed.toSorted());
});
