import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/*
 * The guide of each extension, the table of all extensions, and the docstrings of the functions that enable an extension name the
 * same stage with the same date.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const extensions = "packages/mcparley/src/extensions";
const files = {
  "io.modelcontextprotocol/tasks": ["tasks/server/tasks.ts", "tasks/client/follow-tasks.ts"],
  "io.modelcontextprotocol/skills": ["skills/server/skills.ts", "skills/client/skills-of.ts"],
  "io.modelcontextprotocol/ui": ["apps/apps.ts", "apps/show-apps.ts"],
};
const pages: Readonly<Record<string, string>> = {
  "io.modelcontextprotocol/tasks": "docs/servers/tasks.md",
  "io.modelcontextprotocol/skills": "docs/servers/skills.md",
  "io.modelcontextprotocol/ui": "docs/servers/apps.md",
};

/** A text without line breaks, the signs of comments and of call-outs, and bold type. */
function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8")
    .replaceAll(/\n *(?:\*(?!\/)|>)? */g, " ")
    .replaceAll("**", "");
}

/** The stage of an extension in a text, with its date: `2026-11-26: Beta`. */
function stageIn(file: string, id: string): string | undefined {
  const pattern = new RegExp(`Stage of the extension \`${id}\`(?: \\(SEP-\\d+\\))? on (\\d{4}-\\d{2}-\\d{2}: \\w+)\\.`);
  return pattern.exec(read(file))?.[1];
}

/** The same of the row of an extension in the table of all extensions. */
function stageInTable(id: string): string {
  const table = readFileSync(path.join(root, "docs/reference/extensions.md"), "utf8");
  const [, date = ""] = /\| Stage on (\S+) +\|/.exec(table) ?? [];
  const row = table.split("\n").find((line) => line.includes(`\`${id}\``)) ?? "";
  return `${date}: ${row.split("|")[3]?.trim()}`;
}

test.each(Object.entries(files))("the guide and the docstrings of %s name the stage of the table", (id, sources) => {
  const expected = stageInTable(id);
  expect(expected).toMatch(/^\d{4}-\d{2}-\d{2}: (Experimental|Beta|Stable)$/);
  const texts = [pages[id] ?? "", ...sources.map((source) => `${extensions}/${source}`)];
  expect(texts.map((file) => [file, stageIn(file, id)])).toEqual(texts.map((file) => [file, expected]));
});
