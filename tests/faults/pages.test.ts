import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderPage, withoutPadding } from "./page.ts";
import { renderStatesPage } from "./states/page.ts";

const cure = "The page differs from its data. Run: npm run check -- faults --update";

function read(name: string): string {
  return readFileSync(new URL(`../../docs/internals/${name}`, import.meta.url), "utf8");
}

test("docs/internals/client-under-faults.md shows the fault matrix", () => {
  expect(withoutPadding(read("client-under-faults.md")), cure).toBe(withoutPadding(renderPage()));
});

const states = renderStatesPage();

test.skipIf(states === undefined)("docs/internals/client-states.md shows the state machines", () => {
  expect(withoutPadding(read("client-states.md")), cure).toBe(withoutPadding(states ?? ""));
});
