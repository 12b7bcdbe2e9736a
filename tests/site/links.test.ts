import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkLinks } from "../../site/scripts/links.mjs";
import { serveSite } from "../../site/scripts/serve.mjs";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "built site "));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(pages: Record<string, string>): void {
  for (const [name, html] of Object.entries(pages)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), html);
  }
}

test("accepts links to pages, folders, files and anchors", () => {
  write({
    "index.html":
      '<a href="/docs/guide">1</a><a href="/docs/api/">2</a><a href="/docs/style.css">3</a><a href="#here" id="here">4</a>',
    "guide.html":
      '<h2 id="a-b">x</h2><a href="./#here">5</a><a href="/docs/guide#a-b">6</a><a href="https://example.com/x">7</a>',
    "api/index.html": '<a href="../guide#a-b">8</a>',
    "style.css": "",
  });
  expect(checkLinks(folder, { base: "/docs/" })).toEqual({ pages: 3, links: 8, errors: [] });
});

test.each([
  ["a missing page", '<a href="/docs/missing">x</a>', "/docs/missing does not exist"],
  [
    "a missing anchor",
    '<a href="/docs/guide#nowhere">x</a>',
    "/docs/guide#nowhere names an anchor that the page does not have",
  ],
  [
    "a missing anchor of the same page",
    '<a href="#nowhere">x</a>',
    "#nowhere names an anchor that the page does not have",
  ],
  ["a path outside the base", '<a href="/guide">x</a>', "/guide is outside /docs/"],
  [
    "a script of another host",
    '<script src="https://cdn.example/x.js"></script>',
    "https://cdn.example/x.js is loaded from another host",
  ],
  [
    "a font of another host",
    '<link rel="preload" href="//fonts.example/x.woff2">',
    "//fonts.example/x.woff2 is loaded from another host",
  ],
])("reports %s", (_, html, error) => {
  write({ "index.html": html, "guide.html": "<h1>Guide</h1>" });
  expect(checkLinks(folder, { base: "/docs/" }).errors).toEqual([`index.html: ${error}`]);
});

test("serves pages without their extension, and the page for unknown addresses with 404", async () => {
  write({ "index.html": "home", "guide.html": "guide", "guide.md": "# Guide", "404.html": "unknown" });
  writeFileSync(path.join(folder, "..", `${path.basename(folder)}.txt`), "outside");
  const server = await serveSite(folder, { base: "/docs/" });
  const get = async (address: string) => {
    const response = await fetch(new URL(address, server.url));
    return [response.status, await response.text(), response.headers.get("content-type")];
  };
  try {
    expect(await get("")).toEqual([200, "home", "text/html; charset=utf-8"]);
    expect(await get("guide")).toEqual([200, "guide", "text/html; charset=utf-8"]);
    expect(await get("guide.md")).toEqual([200, "# Guide", "text/markdown; charset=utf-8"]);
    expect(await get("missing")).toEqual([404, "unknown", "text/html; charset=utf-8"]);
    expect(await get(`%2e%2e%2f${encodeURIComponent(path.basename(folder))}.txt`)).toEqual([
      404,
      "unknown",
      "text/html; charset=utf-8",
    ]);
  } finally {
    await server.close();
    rmSync(path.join(folder, "..", `${path.basename(folder)}.txt`));
  }
});
