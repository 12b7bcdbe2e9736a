import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { shippedTexts } from "../../scripts/guides.mjs";
import { processTerm, tokenize } from "../../site/.vitepress/ranking.mjs";
import { sectionsOf } from "../../site/.vitepress/sections.mjs";
import { llmsFullText } from "../../site/scripts/llms.mjs";
import { aliasesOf, summaryOf, titleOf, withoutFrontMatter } from "../../site/scripts/markdown.mjs";
import { addressOf, isOptional, readPages } from "../../site/scripts/pages.mjs";
import { newestOf, readRedirects } from "../../site/scripts/redirects.mjs";

const pages = readPages();

describe("the queries that the check of the site searches for", () => {
  const rows = JSON.parse(readFileSync(path.join(import.meta.dirname, "search-queries.json"), "utf8")) as string[][];

  test("are many, and each is there once", () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(new Set(rows.map(([query]) => query)).size).toBe(rows.length);
  });

  test("expect pages that exist and that the search contains", () => {
    const searched = new Set(pages.filter((page) => !isOptional(page.path)).map((page) => addressOf(page.path)));
    const expected = rows
      .flatMap(([, ...all]) => all)
      .map((page) => newestOf(page, readRedirects()).split("#")[0] ?? "");
    expect(expected.filter((page) => !searched.has(page))).toEqual([]);
  });
});

describe("the words of the search", () => {
  test("are in lower case, and without the ending of a plural", () => {
    expect(["Tools", "CORS", "express", "logging"].map(processTerm)).toEqual(["tool", "cor", "express", "logging"]);
  });

  test("include compounds and their parts", () => {
    expect(tokenize("The `Mcp-Session-Id` header, console.log!")).toEqual([
      "The",
      "Mcp-Session-Id",
      "Mcp",
      "Session",
      "Id",
      "header",
      "console.log",
      "console",
      "log",
    ]);
  });
});

test("a section of the search has the headings above it, and its text without marks", () => {
  const anchor = (id: string) => `<a class="header-anchor" href="#${id}" aria-label="Link">&ZeroWidthSpace;</a>`;
  const html = [
    `<h1 id="tools" tabindex="-1">Tools ${anchor("tools")}</h1><p>A <code>tool</code> &amp; more.</p>`,
    `<h2 id="a">Results ${anchor("a")}</h2><div class="language-ts"><button title="Copy Code"></button><span class="lang">ts</span><pre>f(&quot;x&quot;)</pre></div>`,
    `<h3 id="b">Images ${anchor("b")}</h3><td>one</td><td>two</td>`,
    `<h2 id="c">Errors ${anchor("c")}</h2>`,
  ].join("");
  expect(sectionsOf(html).map(({ text, ...section }) => ({ ...section, text: text.trim() }))).toEqual([
    { anchor: "", titles: ["Tools"], text: "A tool & more." },
    { anchor: "a", titles: ["Tools", "Results"], text: 'f("x")' },
    { anchor: "b", titles: ["Tools", "Results", "Images"], text: "one two" },
    { anchor: "c", titles: ["Tools", "Errors"], text: "" },
  ]);
});

describe("front matter", () => {
  const text = "---\naliases:\n  - nextjs\n  - next.js\n---\n\n# Frameworks\n\nMount a server.\n\n---\n\nMore.\n";

  test("has the aliases of a page, in both forms of a list", () => {
    expect(aliasesOf(text)).toEqual(["nextjs", "next.js"]);
    expect(aliasesOf("---\naliases: [a, b c]\n---\n# A\n")).toEqual(["a", "b c"]);
    expect(aliasesOf("# A\n\n---\naliases: [a]\n---\n")).toEqual([]);
  });

  test.each(["---\nlayout: home\n---\n# A\n", "---\naliases: a\n---\n# A\n", "---\naliases: [1]\n---\n# A\n"])(
    "with other members or values is an error: %j",
    (other) => {
      expect(() => aliasesOf(other)).toThrow('a list of texts "aliases"');
    },
  );

  test("is not part of the text, the title and the summary", () => {
    expect(withoutFrontMatter(text)).toBe("# Frameworks\n\nMount a server.\n\n---\n\nMore.\n");
    expect(withoutFrontMatter("# A\n\n---\n\nB\n\n---\n")).toBe("# A\n\n---\n\nB\n\n---\n");
    expect([titleOf(withoutFrontMatter(text)), summaryOf(withoutFrontMatter(text))]).toEqual([
      "Frameworks",
      "Mount a server.",
    ]);
  });

  test("is in no page of the site, no packed guide and no file for language models", () => {
    expect(pages.filter(({ aliases }) => aliases.length > 0).length).toBeGreaterThan(10);
    const packed = [...shippedTexts("mcparley")].filter(([file]) => file.endsWith(".md")).map(([, guide]) => guide);
    const texts = [...packed, ...pages.map((page) => page.text), llmsFullText(pages)];
    expect(texts.filter((one) => /^aliases:/m.test(one) || one.startsWith("---"))).toEqual([]);
  });
});
