import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "mcparley/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compilePrograms } from "../support/compile-programs.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const library = path.join(root, "packages/mcparley");
const text = readFileSync(path.join(library, "skills/build-mcp-server/SKILL.md"), "utf8");
/** Inside the workspace of the tests, so that the samples find the packages that a reader has installed. */
const generated = path.join(root, "tests/types/.generated/skill");
const samples = [...text.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}));

beforeAll(() => {
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated, { recursive: true });
  for (const { name, code } of samples) writeFileSync(path.join(generated, name), code);
});
afterAll(() => rmSync(generated, { recursive: true, force: true }));

test("the skill has less than 900 tokens", () => {
  // Words of up to 9 letters, numbers of up to 3 digits, and one to three signs. For this text the count is 5 % over that of
  // the tokenizers o200k_base and cl100k_base, which count 896 and 891 tokens.
  const pieces = text.match(/ ?\p{L}{1,9}|\d{1,3}| ?[^\s\p{L}\d]{1,3}|\n+ */gu) ?? [];
  expect(pieces.length / 1.05).toBeLessThan(900);
  expect(pieces.length).toBeGreaterThan(500);
});

test("every sample of the skill compiles", () => {
  expect(samples.map(({ name }) => name)).toEqual(["server.ts", "express.ts", "server.test.ts"]);
  const { errorsOf } = compilePrograms(generated);
  expect(samples.flatMap(({ name }) => errorsOf(path.join(generated, name)))).toEqual([]);
});

test("the test of the skill passes", async () => {
  await import(/* @vite-ignore */ path.join(generated, "server.test.ts"));
});

test("mcparley serve of the package serves the skill", async () => {
  const command = path.join(root, "packages/cli/dist/main.js");
  const client = await connect({ command: process.execPath, args: [command, "serve", library, "--stdio"] });
  try {
    const { contents } = await client.readResource("skill://build-mcp-server/SKILL.md");
    expect(contents).toMatchObject([{ text }]);
  } finally {
    await client.close();
  }
});
