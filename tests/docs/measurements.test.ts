import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readmes } from "../samples/read-readme.mjs";

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
const results = read("benchmarks/results/2026-11-20.md");

const table = tableBelow(read("docs/start/why-mcparley.md"), "## Speed");
const [, , ...implementations] = table[0] ?? [];
const figures = table
  .slice(1)
  .flatMap(([workload = "", measure = "", ...cells]) =>
    cells.map((figure, index) => ({ workload, measure, implementation: implementations[index] ?? "", figure })),
  );

test("the page compares all implementations", () => {
  expect(implementations).toEqual(["mcparley", "sdk-v1", "sdk-v2", "fastmcp", "mcp-lite", "tmcp"]);
  expect(figures.length).toBeGreaterThan(30);
});

test.each(figures)("$workload, $measure of $implementation is $figure in the results", (row) => {
  const [header = [], ...rows] = tableBelow(results, row.workload);
  expect(rows.length).toBeGreaterThan(1);
  const measured = rows.find(([name]) => name === row.implementation)?.[header.indexOf(row.measure)];
  expect(measured ?? "not run").toBe(row.figure);
});

test("the README compares the throughput with that of its linked results", () => {
  const [, share, factor, file = ""] =
    /(\d+) % of the throughput of bare `node:http`, and (\d+) times the throughput of the official SDK v2\s+\(\[measured\]\((\S+)\)/.exec(
      read("README.md"),
    ) ?? [];
  const [header = [], ...rows] = tableBelow(read(file), "`call/json/stateless/32`");
  const throughput = (name: string): number =>
    Number(rows.find(([library]) => library === name)?.[header.indexOf("answers/s")]?.replaceAll(",", ""));
  const relative = rows.find(([library]) => library === "mcparley")?.[header.indexOf("× floor")];
  expect(Number(share)).toBe(Math.round(Number(relative) * 100));
  expect(Number(factor)).toBe(Math.round(throughput("mcparley") / throughput("sdk-v2")));
});

test("the READMEs have no other measured figures, which would be those of an earlier state", () => {
  const figures = readmes().flatMap(
    (readme) => read(readme).match(/\d[\d,.]* (KB|kB|MB|calls|packages|answers)\b/g) ?? [],
  );
  expect(figures).toEqual([]);
});

test("the page names the versions that are measured and compared", () => {
  const { dependencies } = JSON.parse(read("benchmarks/peers/package.json")) as { dependencies: object };
  const [, versions = ""] = /^Compared versions: ([\s\S]*?)\n\n/m.exec(read("docs/start/why-mcparley.md")) ?? [];
  const named = Object.fromEntries(
    [...versions.matchAll(/`([^`]+)`\s+([\d.]+\d)/g)].map(([, name, version]) => [name, version]),
  );
  expect(Object.keys(named)).toHaveLength(5);
  expect(dependencies).toMatchObject(named);
});

/** The cells of the first table below a line, without the row of dashes. */
function tableBelow(text: string, line: string): string[][] {
  const [, rest = ""] = text.split(`\n${line}\n`);
  const rows = /^\|.*(?:\n\|.*)*/m.exec(rest)?.[0].split("\n") ?? [];
  const cells = rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells.filter((_, index) => index !== 1);
}
