import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { apiPages } from "../../site/scripts/api-pages.mjs";
import { root } from "../../site/scripts/pages.mjs";

describe("the API reference", () => {
  test.each([
    ["packages/mcparley", "mcparley"],
    ["packages/redis", "@mcparley/redis"],
    ["packages/config", "@mcparley/config"],
    ["packages/host", "@mcparley/host"],
  ])("has a page for each entry point of %s", (folder, name) => {
    const manifest = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8")) as { exports: object };
    const keys = Object.keys(manifest.exports).filter((key) => key !== "./package.json");
    const pages = apiPages.filter((page) => `packages/${page.package}` === folder);
    expect(keys).toContain(".");
    expect(pages.map((page) => page.name)).toEqual(keys.map((key) => name + key.slice(1)));
  });

  test("names the source of each page, and a path of its own", () => {
    expect(apiPages.filter(({ source }) => !existsSync(path.join(root, source)))).toEqual([]);
    expect(new Set(apiPages.map((page) => page.path)).size).toBe(apiPages.length);
  });
});
