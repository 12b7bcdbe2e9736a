import { describe, expect, test } from "vitest";
import { anchorOf, linksIn, mapLinks, summaryOf, titleOf } from "../../site/scripts/markdown.mjs";
import { siteLink } from "../../site/scripts/pages.mjs";

describe("links of a page", () => {
  const text = [
    "See [a](a.md) and [`b`](b.md#part).",
    "`[not](code.md)`",
    "",
    "```md",
    "[not](fenced.md)",
    "```",
    "",
    "[c](https://example.com/c.md)",
  ].join("\n");

  test("are found in prose and not in code", () => {
    expect(linksIn(text)).toEqual(["a.md", "b.md#part", "https://example.com/c.md"]);
  });

  test("keep only their label if they have no target", () => {
    const mapped = mapLinks(text, (target) => (target === "a.md" ? undefined : `x-${target}`));
    expect(mapped).toContain("See a and [`b`](x-b.md#part).");
    expect(mapped).toContain("`[not](code.md)`");
    expect(mapped).toContain("[not](fenced.md)");
  });
});

describe("a link of the site", () => {
  const paths = new Map([
    ["README.md", "index.md"],
    ["docs/README.md", "guides.md"],
    ["docs/servers/tools.md", "servers/tools.md"],
    ["docs/internals/adr/README.md", "internals/adr/index.md"],
    ["docs/internals/adr/0001-a.md", "internals/adr/0001-a.md"],
  ]);
  const linkFrom = (source: string, target: string, address?: string) => siteLink(target, { source, paths, address });

  test("leads from folder to folder", () => {
    expect(linkFrom("docs/servers/tools.md", "../README.md")).toBe("../guides.md");
    expect(linkFrom("docs/servers/tools.md", "../../README.md#try-it")).toBe("../index.md#try-it");
    expect(linkFrom("docs/internals/adr/0001-a.md", "../../servers/tools.md#errors")).toBe(
      "../../servers/tools.md#errors",
    );
    expect(linkFrom("README.md", "docs/internals/adr")).toBe("internals/adr/index.md");
    expect(linkFrom("docs/servers/tools.md", "#errors")).toBe("#errors");
    expect(linkFrom("docs/servers/tools.md", "https://example.com")).toBe("https://example.com");
  });

  test("leads to the forge for a file that is no page, if its address is known", () => {
    const address = "https://forge.example/project";
    expect(linkFrom("docs/servers/tools.md", "../../packages/cli/x.ts", address)).toBe(
      `${address}/blob/main/packages/cli/x.ts`,
    );
    expect(linkFrom("docs/servers/tools.md", "../../packages/cli/x.ts")).toBeUndefined();
  });
});

describe("a page", () => {
  const text =
    "# The `ctx` object\n\nThe [context](glossary.md#context) of a\nhandler. More.\n\n## Next\n\nOther text.\n";

  test("has a title and a summary without marks", () => {
    expect(titleOf(text)).toBe("The ctx object");
    expect(summaryOf(text)).toBe("The context of a handler. More.");
  });

  test("without a title is an error", () => {
    expect(() => titleOf("## Only a section\n")).toThrow(/first level/);
  });

  test("has the anchors of the forge", () => {
    expect(anchorOf("`listen`, and its options")).toBe("listen-and-its-options");
    expect(anchorOf("Who's there? (2026-07-28)")).toBe("whos-there-2026-07-28");
  });
});
