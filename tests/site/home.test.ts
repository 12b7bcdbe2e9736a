import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");

/** Rows of the home page that have other names in the comparison, whose tables are checked against measurements. */
const renamed: Readonly<Record<string, string>> = {
  "Installed packages": "packages",
  "Bundle, KB (gzip)": "bundle, KB (gzip)",
  "HTTP answers per second": "`call/json/stateless/32`",
};

/** The tables of a page: each row as an object with the names of its columns. */
function rowsOf(text: string): Record<string, string>[] {
  return [...text.matchAll(/^\|.*(?:\n\|.*)*/gm)].flatMap(([table]) => {
    const [header = [], , ...rows] = table.split("\n").map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    const names = header.map((name) => name.toLowerCase().replace("-v", " v"));
    return rows.map((cells) => ({
      row: cells[0] ?? "",
      ...Object.fromEntries(cells.map((cell, at) => [names[at], cell])),
    }));
  });
}

const compared = rowsOf(read("docs/start/why-mcparley.md"));
const home = rowsOf(read("site/home.md"));

test("the home page compares mcparley with other libraries", () => {
  expect(home.length).toBeGreaterThan(5);
});

test.each(home)("the row $row of the home page is that of the comparison", (cells) => {
  const { row = "", measure: _, ...figures } = cells;
  const found = compared.find((one) => one.row === (renamed[row] ?? row));
  expect(Object.keys(figures)).toEqual(["mcparley", "sdk v1", "sdk v2", "fastmcp"]);
  expect(found).toMatchObject(figures);
});
