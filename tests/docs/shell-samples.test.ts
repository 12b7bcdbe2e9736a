import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readmes } from "../samples/read-readme.mjs";
import { notRun } from "../samples/not-run.mjs";
import { pagesWithCommands, readSteps } from "../samples/read.mjs";

/* `npm run check -- samples` runs the shell samples. These tests check what it cannot see. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (page: string): string => readFileSync(path.join(root, page), "utf8");
const pages = pagesWithCommands();
const linesOf = (page: string): string[] => readSteps(page).flatMap((step) => (step.kind === "run" ? step.lines : []));

/** Whether a line runs the command, without `npx @mcparley/cli`, which installs it. */
const runsCommand = (line: string): boolean => /(^|[|;&] *|-- )(npx )?mcparley /.test(line);

test("the pages with shell samples are the READMEs and many guides", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "packages/cli/README.md", "docs/cli/chat.md"]));
  expect(pages.length).toBeGreaterThan(20);
});

describe.each(pages.filter((page) => linesOf(page).some(runsCommand)))("%s", (page) => {
  test("installs the command before its first use", () => {
    const lines = linesOf(page);
    const installed = lines.findIndex((line) => /^npm (install|create) .*(@mcparley\/cli|mcparley@latest)/.test(line));
    expect(installed).toBeGreaterThan(-1);
    expect(installed).toBeLessThan(lines.findIndex(runsCommand));
  });
});

test.each(pages.filter((page) => /docs\/(cli\/|serve\/folder)/.test(page)))(
  "%s begins with the installation of the command",
  (page) => {
    const [, block = ""] = /```\w*\n([^\n]*)/.exec(textOf(page)) ?? [];
    expect(block).toBe("npm install --global @mcparley/cli");
  },
);

test.each([
  "README.md",
  "docs/start/first-server.md",
  "packages/mcparley/README.md",
  "packages/mcparley/skills/build-mcp-server/SKILL.md",
])("%s names the package of the command", (page) => {
  expect(textOf(page)).toContain("@mcparley/cli");
});

test.each(readmes().filter((page) => page !== "README.md"))("%s has no path of the repository", (page) => {
  expect(textOf(page).match(/(?<![\w@/.-])(packages|examples|scripts|tests|benchmarks)\/[\w/.-]+/g) ?? []).toEqual([]);
});

describe.each(notRun)("the reason against $line of $page", ({ page, line, reason }) => {
  test("concerns a line of the page, and names a program, a service or a browser", () => {
    expect(linesOf(page).filter((one) => line.test(one)).length).toBeGreaterThan(0);
    expect(reason).toMatch(/needs|browser/);
  });
});

test("each shell block is marked sh or shell, so that it is run", () => {
  const others = pages.flatMap(
    (page) => textOf(page).match(/^```(bash|console|zsh|powershell|sh \w+|shell \w+)$/gm) ?? [],
  );
  expect(others).toEqual([]);
});
