import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { supportedVersions } from "mcparley";
import { expect, test } from "vitest";
import { entryPoints, readManifest } from "../../scripts/packages.mjs";
import { pinnedVersion, runtimeNames } from "../interop/runtimes/obtain.mjs";
import { revisions, runtimes } from "../interop/runtimes/sides.mjs";
import { shown } from "../interop/runtimes/summary.mjs";

/*
 * `docs/reference/runtime-results.md` has the results of `npm run check -- runtimes` for each runtime of that check, and the table of entry
 * points in `docs/serve/runtimes.md` is true. No runtime is needed.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}/docs/serve/runtimes.md`, "utf8");
const written = readFileSync(`${root}/docs/reference/runtime-results.md`, "utf8");
const [head = [], ...rows] = tableIn(written);

test("the table has a line for each role and transport of each runtime, with the pinned version", () => {
  const overs = { http: "HTTP", stdio: "stdio", port: "messages" };
  const expected = runtimes.flatMap(({ name, title, clients, servers }) =>
    Object.entries({ client: clients, server: servers }).flatMap(([role, sides]) =>
      sides.map(({ transport, by }) => {
        const version = pinnedVersion(name) ?? String.raw`\d+(\.\d+)+`;
        return [`${title.split(" ")[0]} ${version}`, role, overs[transport], shown(by)];
      }),
    ),
  );
  expect(rows.length).toBe(expected.length);
  for (const [index, [runtime = "", ...rest]] of expected.entries()) {
    expect(rows[index]?.[0]).toMatch(new RegExp(`^${runtime}$`));
    expect(rows[index]?.slice(1, 4)).toEqual(rest);
  }
});

test("the table has a column for each supported revision that is no pre-release", () => {
  expect(head.slice(4)).toEqual(supportedVersions.filter((version) => version !== "2024-10-07").toSorted());
  expect(head.slice(4)).toEqual(revisions);
});

test("each cell is a count of conversations, and a missing conversation has a reason below the table", () => {
  const cells = rows.flatMap((row) => row.slice(4));
  expect(cells.filter((cell) => !/^(\d+ of 1[01]|not run: .+)$/.test(cell))).toEqual([]);
  const incomplete = rows.filter((row) => row.slice(4).some((cell) => /^(\d+) of (?!\1$)/.test(cell)));
  for (const [runtime = "", role = "", , by = ""] of incomplete) {
    expect(written).toContain(`- ${runtime.split(" ")[0]} as ${role} with ${by}: `);
  }
});

test("the page names the date and the other side of the measurement", () => {
  expect(written).toMatch(/^Measured on \d{4}-\d\d-\d\d\. The other side was Node \d+\.\d+\.\d+ on \w+\.$/m);
});

test("each runtime of the table can be obtained by its name", () => {
  expect(runtimes.map(({ name }) => name)).toEqual(runtimeNames);
});

const specifiers = entryPoints(readManifest("packages/mcparley")).map(({ specifier }) => specifier);

test.each(specifiers)("the table says whether %s can be bundled for Workers and web pages", async (specifier) => {
  const [, rest = ""] = page.split("## Entry points");
  const row = tableIn(rest).find(([names = ""]) => names.split(/[\s,]+/).includes(`\`${specifier}\``));
  expect(row?.[1]).toBe("yes");
  const imported = await nodeModulesOf(specifier.replace(/^mcparley\/?/, "") || "index");
  if (row?.[2] === "yes") expect(imported).toEqual([]);
  else
    for (const [, name] of row?.[2]?.matchAll(/`(node:\w+)`/g) ?? [["", "a named module"]])
      expect(imported).toContain(name);
});

/** Returns the modules of Node that a bundle of an entry point for Workers imports. */
async function nodeModulesOf(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [`${root}/packages/mcparley/dist/${entry}.js`],
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*"],
    metafile: true,
    write: false,
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return [...new Set(imports.filter((path) => path.startsWith("node:")))];
}

/** The cells of the first table of a text, without the row of dashes. */
function tableIn(text: string): string[][] {
  const lines = /^\|.*(?:\n\|.*)*/m.exec(text)?.[0].split("\n") ?? [];
  const cells = lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  return cells.filter(([first = ""]) => !/^-+$/.test(first));
}
