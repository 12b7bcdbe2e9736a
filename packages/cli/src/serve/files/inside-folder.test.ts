import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ServedRoot, partsBelow, resolveInside } from "./inside-folder.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

async function root(): Promise<ServedRoot & { outside: string }> {
  const outside = await temporaryFolder({
    "docs/a.md": "a",
    "docs/deep/b.md": "b",
    "docs/.env": "secret",
    "docs/.git/config": "secret",
    "docs/node_modules/x/index.js": "x",
    "docs-private/c.md": "secret",
    "secret.md": "secret",
  });
  const path = join(outside, "docs");
  return { name: "docs", path, real: path, outside };
}

test("finds files in the folder and its subfolders", async () => {
  const docs = await root();
  expect(await resolveInside(docs, "a.md")).toBe(join(docs.real, "a.md"));
  expect(await resolveInside(docs, "deep/b.md")).toBe(join(docs.real, "deep", "b.md"));
});

describe("a path that leaves the folder, is hidden or is invalid is not found", () => {
  const attacks = [
    "../secret.md",
    "..",
    ".",
    "",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "deep/../../secret.md",
    "deep/../a.md",
    "./a.md",
    "deep//b.md",
    "a.md/",
    "a.md\0.png",
    "../docs-private/c.md",
    ".env",
    ".git/config",
    "node_modules/x/index.js",
    "missing.md",
    "a.md/b",
    "x".repeat(5000),
  ];
  test.each(attacks)("%j", async (path) => {
    expect(await resolveInside(await root(), path)).toBeUndefined();
  });
});

test("follows a symbolic link inside the folder, and refuses one that leaves it or leads to a hidden file", async () => {
  const docs = await root();
  const link = (target: string, name: string) => symlink(target, join(docs.real, name));
  await link(join(docs.real, "deep", "b.md"), "inside.md");
  await link(join(docs.outside, "secret.md"), "outside.md");
  await link("../docs-private", "sibling");
  await link("..", "up");
  await link(".env", "shown.txt");
  await link("loop.md", "loop.md");
  expect(await resolveInside(docs, "inside.md")).toBe(join(docs.real, "deep", "b.md"));
  for (const path of ["outside.md", "sibling/c.md", "up/secret.md", "up/docs/a.md/..", "shown.txt", "loop.md"]) {
    expect(await resolveInside(docs, path), path).toBeUndefined();
  }
});

test("serves a folder that is a link from its real path", async () => {
  const { outside } = await root();
  await mkdir(join(outside, "served"));
  await symlink(join(outside, "docs"), join(outside, "served", "resources"));
  const served = { name: "resources", path: join(outside, "served", "resources"), real: join(outside, "docs") };
  expect(await resolveInside(served, "a.md")).toBe(join(outside, "docs", "a.md"));
});

test("compares paths by their parts", () => {
  expect(partsBelow("/srv/docs", "/srv/docs/a/b")).toEqual(["a", "b"]);
  expect(partsBelow("/srv/docs", "/srv/docs")).toEqual([]);
  expect(partsBelow("/srv/docs", "/srv/docs-private/a")).toBeUndefined();
  expect(partsBelow("/srv/docs", "/srv")).toBeUndefined();
  expect(partsBelow("/srv/docs", "/srv/docs/..a")).toEqual(["..a"]);
});
