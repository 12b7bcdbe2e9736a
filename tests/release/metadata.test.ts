import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { shippedTexts } from "../../scripts/guides.mjs";
import { entryPoints, publishedPackages } from "../../scripts/packages.mjs";
import { copyForRelease } from "../../scripts/artifact/pack.mjs";
import { addressIn, projectMembers } from "../../scripts/release/project.mjs";

const address = "https://forge.test/ann/mcparley";
const root = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (...names: string[]): string => readFileSync(path.join(root, ...names), "utf8");
const packages = publishedPackages().map((published) => ({
  ...published,
  members: JSON.parse(textOf(published.folder, "package.json")) as Record<string, unknown>,
}));

test("a package comes after the packages that it depends on", () => {
  const names = packages.map(({ name }) => name);
  expect(names.indexOf("mcparley")).toBeLessThan(names.indexOf("@mcparley/redis"));
  expect(names.indexOf("@mcparley/redis")).toBeLessThan(names.indexOf("@mcparley/cli"));
});

describe.each(packages)("$name", ({ name, version, folder, manifest, members }) => {
  test("names its repository, homepage and bugs only in a release", () => {
    expect(members).not.toHaveProperty(["repository"]);
    expect(members).not.toHaveProperty(["homepage"]);
    expect(members).not.toHaveProperty(["bugs"]);
    const released = copied(address);
    const manifest = JSON.parse(released("package.json")) as object;
    expect(manifest).toEqual({ ...members, ...projectMembers(folder, address) });
    expect(manifest).toMatchObject({ homepage: `${address}#readme`, repository: { directory: folder } });
  });

  test("keeps its manifest and README in a release without an address", () => {
    const released = copied(undefined);
    expect(JSON.parse(released("package.json"))).toEqual(members);
    expect(released("README.md")).toBe(textOf(folder, "README.md"));
  });

  test("links guides in the package, and on the forge in a release", () => {
    const targets = linksOf(textOf(folder, "README.md"));
    expect(targets.length).toBeGreaterThan(0);
    const texts = shippedTexts(name);
    expect(targets.filter((target) => !texts.has(target))).toEqual([]);
    const pages = targets.map((target) => `${address}/blob/v${version}/${target}`);
    const readme = copied(address)("README.md");
    expect(linksOf(readme)).toEqual([]);
    for (const page of pages) expect(readme).toContain(`](${page})`);
  });

  /** Copies the package for a release, and returns a function that reads a file of the copy. */
  function copied(repository: string | undefined): (file: string) => string {
    const into = mkdtempSync(path.join(tmpdir(), "mcparley-release-"));
    onTestFinished(() => rmSync(into, { recursive: true, force: true }));
    const copy = copyForRelease({ name, version, folder, manifest }, { into, address: repository });
    return (file) => readFileSync(path.join(copy, file), "utf8");
  }

  test("has a description, keywords, a license, and the Node versions of the repository", () => {
    const { engines } = JSON.parse(textOf("package.json")) as { engines: object };
    expect(members).toMatchObject({ description: expect.stringMatching(/\w{4}/) as string, license: "MIT", engines });
    expect(members["keywords"]).toEqual(expect.arrayContaining(["mcp", "model-context-protocol"]));
  });

  test("has the license of the repository", () => {
    expect(textOf(folder, "LICENSE")).toBe(textOf("LICENSE"));
  });

  test("has a README with its name and its installation", () => {
    const readme = textOf(folder, "README.md");
    expect(readme.split("\n")[0]).toBe(`# ${name}`);
    expect(readme).toMatch(/npm (install|create) /);
  });

  test("has a changelog with an entry for its version", () => {
    expect(textOf(folder, "CHANGELOG.md").split("\n")).toContain(`## ${version}`);
  });

  test("exports existing files, and types for each entry point", () => {
    const targets = Object.entries(manifest.exports ?? {}).filter(([subpath]) => subpath !== "./package.json");
    expect(targets.length).toBe(entryPoints(manifest).length);
    const files = targets.flatMap(([, target]) => Object.values(target as Record<string, string>));
    expect(files.filter((file) => !existsSync(path.join(root, folder, file)))).toEqual([]);
  });
});

describe("the address of the repository", () => {
  test.each([
    [{}, undefined],
    [{ repository: "https://forge.test/ann/mcparley" }, "https://forge.test/ann/mcparley"],
    [{ repository: { url: "git+https://forge.test/ann/mcparley.git" } }, "https://forge.test/ann/mcparley"],
    [{ repository: "https://forge.test/ann/mcparley/" }, "https://forge.test/ann/mcparley"],
  ])("in the manifest %j is %s", (manifest, expected) => {
    expect(addressIn(manifest)).toBe(expected);
  });
});

describe.each(packages)("the guides and examples of $name", ({ name, folder, version, manifest }) => {
  const texts = shippedTexts(name, undefined);
  const pages = [...texts].filter(([file]) => file.endsWith(".md"));
  const isInPackage = (file: string): boolean =>
    texts.has(file) ||
    file === "README.md" ||
    (file.startsWith("skills/") && existsSync(path.join(root, folder, file)));

  test("are pages for users, without decision records", () => {
    expect(texts.size).toBeGreaterThan(name === "mcparley" ? 50 : 0);
    expect([...texts.keys()].filter((file) => file.startsWith("docs/internals/adr/"))).toEqual([]);
  });

  test("link only files in the package, or other hosts", () => {
    const outside = [...texts].flatMap(([file, text]) =>
      linksOf(text)
        .filter((target) => !isInPackage(path.posix.join(path.posix.dirname(file), target)))
        .map((target) => `${file}: ${target}`),
    );
    expect(outside).toEqual([]);
  });

  test("link the other pages at the tag of the version, if the repository has an address", () => {
    const released = [...shippedTexts(name, address).values()].join("\n");
    expect(released).toContain(`](${address}/blob/v`);
    expect([...texts.values()].join("\n")).not.toContain(address);
  });

  test("are listed in llms.txt, each once and with a sentence", () => {
    const index = texts.get("llms.txt") ?? "";
    expect(index.split("\n").slice(0, 3)).toEqual([`# ${name}`, "", `> ${manifest.description}`]);
    expect(index).toContain(`version ${version}.`);
    const lines = index.split("\n").filter((line) => line.startsWith("- "));
    expect(lines.filter((line) => !/^- \[.+\]\([\w./-]+\.md\): .{10,}[.?]$/.test(line))).toEqual([]);
    const listed = lines.flatMap((line) => linksOf(line)).filter((file) => !file.startsWith("skills/"));
    const expected = pages.map(([file]) => file).filter((file) => file !== "docs/README.md");
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  test("need no command of this repository", () => {
    const examples = [...texts].filter(([file]) => file.startsWith("examples/"));
    expect(examples.filter(([, text]) => /npm run (example|mcparley)|\bexamples\//.test(text))).toEqual([]);
  });

  test("are packed", () => {
    const { files } = JSON.parse(textOf(folder, "package.json")) as { files: string[] };
    const parts = new Set([...texts.keys()].map((file) => file.split("/")[0]));
    expect(files).toEqual(expect.arrayContaining([...parts]));
  });
});

test("mcparley contains examples and a skill, and its index lists them", () => {
  const index = shippedTexts("mcparley", undefined).get("llms.txt");
  for (const file of ["examples/api-keys/README.md", "skills/build-mcp-server/SKILL.md"])
    expect(index).toContain(`](${file}): `);
});

/** The targets of a page's links to files, without their anchors. */
function linksOf(page: string): string[] {
  const text = page.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
  const targets = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/i.test(target));
}
