import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { programs } from "../frameworks/programs.mjs";
import { documents } from "./extract-samples.ts";

/*
 * Blocks `ts example` are files of examples/frameworks, which `npm run check -- frameworks` compiles and runs.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const { dependencies } = JSON.parse(read("examples/frameworks/package.json")) as {
  dependencies: Record<string, string>;
};

interface Block {
  page: string;
  /** The path in the folder of the example, from the first line of the block. */
  file: string;
  code: string;
}

const blocks: Block[] = documents().flatMap((page) =>
  [...read(page).matchAll(/^```ts example\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(([, file = "", code = ""]) => ({
    page,
    file,
    code,
  })),
);

test("each block that is marked as an example names its file", () => {
  const marked = documents().flatMap((page) => [...read(page).matchAll(/^```ts example$/gm)]);
  expect(blocks).toHaveLength(marked.length);
});

test.each(blocks)("the block $file of $page is the file of the example", ({ file, code }) => {
  expect(code).toBe(read(`examples/frameworks/${file}`));
});

describe.each(programs)("$name", ({ file, packages }) => {
  test("is on a page", () => {
    expect(blocks.map((block) => block.file)).toContain(file);
  });

  test("has the versions of its packages in the manifest of the example", () => {
    const manifest = JSON.parse(read("examples/frameworks/package.json")) as Record<string, Record<string, string>>;
    const versions = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(packages.filter((name) => !/^\d+\.\d+\.\d+$/.test(versions[name] ?? ""))).toEqual([]);
  });
});

test("the table of frameworks has the versions that are run", () => {
  const rows = [...read("docs/serve/frameworks.md").matchAll(/^\| \[([\w./]+)\]\(#\w+\) +\| (\d+\.\d+\.\d+) /gm)];
  const named = Object.fromEntries(rows.map(([, title = "", version]) => [title, version]));
  const { express: Express, fastify: Fastify, koa: Koa, hono: Hono, h3, next } = dependencies;
  expect(named).toEqual({ Express, Fastify, Koa, Hono, h3, "Next.js": next });
});

test("the page of runtimes has the versions that are run", () => {
  const source = read("tests/interop/runtimes/obtain.mjs");
  const page = read("docs/serve/runtimes.md");
  for (const title of ["workerd", "Bun", "Deno"]) {
    const [, version = ""] = new RegExp(`title: "${title}",\\s+version: "([\\d.]+)"`).exec(source) ?? [];
    expect(version).not.toBe("");
    expect(page).toContain(`${title} ${version}`);
  }
});
