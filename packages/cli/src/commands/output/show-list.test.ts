import type { Tool } from "mcparley";
import { expect, test } from "vitest";
import type { View } from "../../terminal/screen.ts";
import { showToolLines } from "./show-list.ts";
import { styleFor } from "../../terminal/text.ts";

const view: View = { terminal: true, width: 40, style: styleFor(false, {}) };
const tool = (name: string, others: Partial<Tool> = {}): Tool => ({ name, inputSchema: { type: "object" }, ...others });

test("shows a tool on one line, with its marks and as much of its description as fits", () => {
  const tools = [
    tool("find", {
      title: "Find",
      annotations: { readOnlyHint: true },
      description: "Finds.\nSeveral lines that do not fit.",
    }),
    tool("delete", { annotations: { destructiveHint: true } }),
    tool("a_name_that_is_longer_than_the_whole_window"),
  ];
  expect(showToolLines(tools, view).split("\n")).toEqual([
    "Tools (3)",
    "  find [Find, read-only]  Finds. Severa…",
    "  delete [destructive]",
    "  a_name_that_is_longer_than_the_whole_…",
  ]);
});

test("escapes control characters of a name and of a description", () => {
  const lines = showToolLines([tool("a\u001b[2J", { description: "b\u0007" })], view).split("\n");
  expect(lines.filter((line) => /\p{Cc}/u.test(line))).toEqual([]);
});
