import { expect, test } from "vitest";
import { llmsFullText, llmsText } from "../../site/scripts/llms.mjs";
import { readPages } from "../../site/scripts/pages.mjs";

const pages = readPages();
const api = [{ path: "api/server.md", text: "# mcparley/server\n\nDefines servers. It has tools.\n" }];

test("llms.txt describes each page and entry point in one sentence", () => {
  const lines = llmsText(pages, { prefix: "https://example.com/", api })
    .split("\n")
    .filter((line) => line.startsWith("- ["));
  expect(lines.length).toBeGreaterThan(90);
  expect(lines).toContain("- [mcparley/server](https://example.com/api/server.md): Defines servers.");
  expect(lines.filter((line) => !/^- \[.+\]\(https:\/\/example\.com\/[\w./-]+\.md\): .{10,}[.?]$/.test(line))).toEqual(
    [],
  );
});

test("llms-full.txt contains the guides once, without generated tables and padding", () => {
  const text = llmsFullText(pages);
  const titles = pages.filter(({ source }) => /^docs\/(?!internals\/adr)/.test(source)).map(({ path }) => path);
  const found = titles.filter((path) => text.split(`<!-- ${path} -->`).length === 2);
  const generated = ["internals/client-states.md", "internals/client-under-faults.md", "internals/pitfalls.md"];
  expect(titles.filter((path) => !found.includes(path))).toEqual(expect.arrayContaining(generated));
  expect(found).toEqual(
    expect.arrayContaining(["servers/tools.md", "start/first-server.md", "reference/troubleshooting.md"]),
  );
  expect(text.match(/^\|.* {3,}\|$/gm)).toBeNull();
});
