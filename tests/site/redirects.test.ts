import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import vm from "node:vm";
import { describe, expect, onTestFinished, test } from "vitest";
import { anchorOf, mapProse } from "../../site/scripts/markdown.mjs";
import { addressOf, readPages, sitePath } from "../../site/scripts/pages.mjs";
import {
  movedSections,
  readRedirects,
  redirectPage,
  withMappings,
  writeRedirects,
} from "../../site/scripts/redirects.mjs";

const redirects = readRedirects();
const pages = new Map(readPages().map(({ path: file, text }) => [addressOf(file), anchorsOf(text)]));

function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  mapProse(text, (prose) => {
    for (const [, heading = ""] of prose.matchAll(/^#+ (.*)$/gm))
      anchors.add(anchorOf(heading.replaceAll(/\]\([^)]*\)/g, "]")));
    return prose;
  });
  return anchors;
}

describe("the former addresses of this repository", () => {
  test("lead to pages and sections that exist", () => {
    const missing = Object.entries(redirects).filter(([, to]) => {
      const [page = "", anchor] = to.split("#");
      return !pages.has(page) || (anchor !== undefined && !pages.get(page)?.has(anchor));
    });
    expect(missing).toEqual([]);
  });

  test("are not those of pages that exist", () => {
    expect(Object.keys(redirects).filter((from) => pages.has(from))).toEqual([]);
  });

  test("include each page of the tree without folders", () => {
    const names = readFileSync(path.join(import.meta.dirname, "former-pages.txt"), "utf8")
      .trim()
      .split("\n");
    expect(names.length).toBeGreaterThan(140);
    const addresses = names.map((name) => addressOf(sitePath(`docs/${name}`)).replace("README", ""));
    expect(addresses.filter((address) => redirects[address] === undefined && !pages.has(address))).toEqual([]);
  });
});

describe("mappings of files", () => {
  test("become addresses, and lead to the newest page", () => {
    const first = withMappings(
      {},
      "tools.md servers/tools.md\nadr/README.md internals/adr/README.md\nchat.svg cli/chat.svg\n",
    );
    expect(first).toEqual({ "adr/": "internals/adr/", tools: "servers/tools" });
    expect(withMappings(first, "servers/tools.md servers/all.md#tools")).toEqual({
      "adr/": "internals/adr/",
      "servers/tools": "servers/all#tools",
      tools: "servers/all#tools",
    });
  });

  test("move a section of a page that was moved before", () => {
    const moved = withMappings({ tools: "servers/tools" }, "servers/tools.md#errors reference/errors.md#tools");
    expect(moved).toEqual({
      "servers/tools#errors": "reference/errors#tools",
      tools: "servers/tools",
      "tools#errors": "reference/errors#tools",
    });
    expect(movedSections("tools", moved)).toEqual({ errors: "reference/errors#tools" });
    expect(withMappings(moved, "reference/errors.md reference/messages.md")["tools#errors"]).toBe(
      "reference/messages#tools",
    );
  });

  test("that lead back to their start end", () => {
    expect(withMappings({ a: "b" }, "b.md a.md")).toEqual({ b: "a" });
  });
});

describe("the page of a former address", () => {
  const options = {
    to: "servers/tools",
    base: "/docs/",
    anchors: ["errors"],
    sections: { results: "reference/results#tools" },
  };
  /** The address to which the script of the page leads. */
  function follow(html: string, hash: string): string | undefined {
    const [, script = ""] = /<script>([\s\S]*?)<\/script>/.exec(html) ?? [];
    let followed: string | undefined;
    vm.runInNewContext(script, { location: { hash, replace: (address: string) => (followed = address) } });
    return followed;
  }

  test.each([
    ["", "/docs/servers/tools"],
    ["#errors", "/docs/servers/tools#errors"],
    ["#unknown", "/docs/servers/tools"],
    ["#results", "/docs/reference/results#tools"],
  ])("leads from the anchor %o to %s", (hash, address) => {
    expect(follow(redirectPage(options), hash)).toBe(address);
  });

  test("leads to the section of the page that was joined", () => {
    expect(follow(redirectPage({ ...options, to: "servers/tools#files" }), "#unknown")).toBe(
      "/docs/servers/tools#files",
    );
  });

  test("has a link and an address for browsers without scripts, and loads nothing", () => {
    const html = redirectPage(options);
    expect(html).toContain('<a href="/docs/servers/tools">servers/tools</a>');
    expect(html).toContain('<noscript><meta http-equiv="refresh" content="0; url=/docs/servers/tools"></noscript>');
    expect(html).not.toMatch(/src=|https?:/);
  });

  test("is written beside a folder of the same name, and as Markdown", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "built site "));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const name of ["servers", "tools"]) mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, "servers/tools.html"), '<h2 id="errors">Errors</h2>');
    writeRedirects(folder, { base: "/", redirects: { tools: "servers/tools" } });
    const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
    expect(follow(read("tools.html"), "#errors")).toBe("/servers/tools#errors");
    expect(read("tools/index.html")).toBe(read("tools.html"));
    expect(read("tools.md")).toBe("This page has moved to [servers/tools](/servers/tools.md).\n");
  });
});
