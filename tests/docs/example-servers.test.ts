import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { converse } from "../comparison/conversations.mjs";
import { extractSamples } from "./extract-samples.ts";

/*
 * Runs the programs on stdio of docs/servers/cookbook.md: its samples that export no server. `npm run check -- compare` holds the same conversations with
 * servers of other libraries, and with `whoami.ts`, whose port has to be known in advance.
 */

const folder = fileURLToPath(new URL("../types/.generated/example-servers/", import.meta.url));
const onStdio = ["hello", "restaurant", "travel", "weather"];
const programs = new Map<string, string>();

beforeAll(async () => {
  const samples = extractSamples("docs/servers/cookbook.md", folder);
  for (const { file } of samples.filter(({ code }) => !code.includes("export const server"))) {
    const outfile = `${file}.mjs`;
    await build({ entryPoints: [file], outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
    programs.set(path.basename(file, ".ts"), outfile);
  }
});

test("the page has the five programs", () => {
  expect([...programs.keys()].toSorted()).toEqual([...onStdio, "whoami"]);
});

const served = onStdio.flatMap((server) => ["2025-11-25", "2026-07-28"].map((revision) => ({ server, revision })));

test.each(served)("$server works on $revision", async ({ server, revision }) => {
  const program = programs.get(server) ?? "";
  await expect(converse(server, { program, revision })).resolves.toBeUndefined();
});
