import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type MemberRow, entryFiles, memberRows } from "../support/entry-members.ts";
import { allRules } from "../../packages/config/src/hosts/index.ts";

/*
 * The list of the members that a configuration file can change has all members of each host. `docs/reference/entry-members.md` has it as a table.
 */

const page = fileURLToPath(new URL("../../docs/reference/entry-members.md", import.meta.url));
const nameOf = ({ member }: MemberRow): string => member.replace(/ \(.*/, "");

test.each(allRules)("the rows have each member of $id, and no others", ({ id, members }) => {
  const names = memberRows.filter(({ hosts }) => hosts.includes(id)).map(nameOf);
  expect([...new Set(names)].toSorted()).toEqual([...members, "other members"].toSorted());
});

test("the page has all rows. To write it: npx vitest run tests/docs/entry-members.test.ts -u", async () => {
  const [head = ""] = readFileSync(page, "utf8").split(/^\|/m);
  await expect(`${head}${table()}\n`).toMatchFileSnapshot(page);
});

/** Returns the table, with a row for each member and change. */
function table(): string {
  const rows = new Map<string, string[]>();
  for (const { member, hosts, effect, label } of memberRows) {
    const [, name, note = ""] = /^([^ (]+|other members)( \(.*)?$/.exec(member) ?? [];
    const cell = name === "other members" ? name : `\`${name}\`${note}`;
    const key = JSON.stringify([cell, effect, label ?? "a remark that the entry has changed"]);
    rows.set(key, [
      ...(rows.get(key) ?? []),
      ...hosts.map((host) => `\`${entryFiles[host].file.split("/").slice(-2).join("/")}\``),
    ]);
  }
  const body = [...rows].map(([key, files]) => {
    const [member, effect, shown] = JSON.parse(key) as [string, string, string];
    return [member, effect, shown, files.join(", ")];
  });
  const lines = [["Member", "Changes", "Shown as", "Files"], ...body];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const format = (line: readonly string[]): string =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [
    format(lines[0]!),
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...lines.slice(1).map(format),
  ].join("\n");
}
