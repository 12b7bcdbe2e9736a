import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./source-files.ts";

const text = readFileSync(path.join(root, "ARCHITECTURE.md"), "utf8");
/** Lines such as: - `packages/mcparley/src/server/dispatch/reply.ts` → `answer`. */
const steps = [...text.matchAll(/`([\w./-]+\.m?ts)` → `(#?[\w.]+)`/g)].map(([, file = "", name = ""]) => ({
  file,
  name,
}));

test("ARCHITECTURE.md lists the path of a request as file → function", () => {
  expect(steps.length).toBeGreaterThan(12);
});

test.each(steps)("$file has $name", ({ file, name }) => {
  const full = path.join(root, "packages/mcparley/src", file);
  expect(existsSync(full), `${file} does not exist`).toBe(true);
  const declared = new RegExp(
    String.raw`(?:function\*? |class |interface |const |async |^\s+|get )${name.replace(".", String.raw`\.`)}\b\s*[(<={:]?`,
    "m",
  );
  expect(readFileSync(full, "utf8")).toMatch(declared);
});
