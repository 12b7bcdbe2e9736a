import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { publishedPackages } from "../../scripts/packages.mjs";
import { llmsFullText, llmsSmallText, llmsText, skillsIndex, skillsOf } from "../../site/scripts/llms.mjs";
import { isOptional, readPages } from "../../site/scripts/pages.mjs";

const pages = readPages();
const api = [{ path: "api/server.md", text: "# mcparley/server\n\nDefines servers. It has tools.\n" }];
const index = llmsText(pages, { prefix: "https://example.com/", api });
/** The links below a heading of the index. */
const linksBelow = (heading: string): string[] =>
  (index.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("- ["));

test("llms.txt describes each page and entry point in one sentence", () => {
  const lines = index.split("\n").filter((line) => line.startsWith("- ["));
  expect(lines.length).toBeGreaterThan(60);
  expect(lines).toContain("- [mcparley/server](https://example.com/api/server.md): Defines servers.");
  expect(lines.filter((line) => !/^- \[.+\]\(https:\/\/example\.com\/[\w./-]+\.md\): .{10,}[.?]$/.test(line))).toEqual(
    [],
  );
});

test("llms.txt begins with the API by example, before any link", () => {
  const [head = ""] = index.split("- [");
  const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(head) ?? [];
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(45);
  for (const name of ["createServer(", "tool(", "ctx.elicit(", "listen(", "connect(", "createHost("])
    expect(code).toContain(name);
});

test("llms.txt names each package with the command that installs it", () => {
  const names = publishedPackages().map(({ name }) => name.replace(/^create-/, ""));
  expect(names.length).toBeGreaterThan(4);
  for (const name of names) expect(index).toMatch(new RegExp(`^- \`npm (install|create) .*${name}`, "m"));
});

test("llms.txt lists pages for contributors and generated tables last, as optional", () => {
  const optional = linksBelow("Optional");
  const paths = pages
    .filter(({ path }) => isOptional(path) && !path.startsWith("internals/adr/0"))
    .map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(["internals/pitfalls.md", "contributing.md"]));
  for (const path of paths) {
    expect(optional.filter((line) => line.includes(`/${path})`))).toHaveLength(1);
    expect(index.split(`/${path})`)).toHaveLength(2);
  }
  expect(index.trim().split("\n## ").at(-1)).toMatch(/^Optional\n/);
});

test("llms-small.txt has the narrative core in 40 KB", () => {
  const text = llmsSmallText(pages);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(40_000);
  expect(Buffer.byteLength(text)).toBeGreaterThan(25_000);
  for (const path of ["start/first-server.md", "servers/tools.md"]) expect(text).toContain(`<!-- ${path} -->`);
  expect(text).not.toMatch(/^\|/m);
  expect(text).toContain("createServer(");
});

test("the skills are served with an index, whose digests are those of the files", () => {
  const [skill] = skillsOf();
  const source = fileURLToPath(new URL("../../packages/mcparley/skills/build-mcp-server/SKILL.md", import.meta.url));
  const file = readFileSync(source, "utf8");
  expect(skill).toMatchObject({ name: "build-mcp-server", text: file });
  expect(index).toContain("(https://example.com/skills/build-mcp-server/SKILL.md)");
  expect(JSON.parse(skillsIndex("/docs/"))).toMatchObject({
    skills: [
      {
        name: "build-mcp-server",
        type: "skill-md",
        url: "/docs/skills/build-mcp-server/SKILL.md",
        digest: `sha256:${createHash("sha256").update(file).digest("hex")}`,
      },
    ],
  });
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
