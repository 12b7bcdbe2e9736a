import { createHash } from "node:crypto";
import { readFile, rm, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type OfferedSkill, type SkillHost, SkillRefused, skillsOf } from "mcparley/skills";
import { expect, test, vi } from "vitest";
import { formatProblem } from "./yaml/problem.ts";
import { serveFiles, serveFolder } from "./testing/served-folder.ts";
import { addFiles, temporaryFolder } from "./testing/temporary-folder.ts";
import { watchFolder } from "./watch.ts";

const manifest = (name: string, body = "Do it."): string =>
  `---\nname: ${name}\ndescription: How to ${name}.\n---\n${body}\n`;
const hostOf = (client: Parameters<typeof skillsOf>[0]): SkillHost => skillsOf(client, { approve: () => true });
const namesOf = (skills: OfferedSkill[]): string[] => skills.map(({ frontmatter }) => frontmatter.name);

test("serves each folder with a SKILL.md as a skill, with all files in it", async () => {
  const png = Uint8Array.from([137, 80, 78, 71, 0, 255]);
  const files = {
    "skills/deploy/SKILL.md": `\uFEFF${manifest("deploy").replaceAll("\n", "\r\n")}`,
    "skills/deploy/steps/1 build.md": "\uFEFFBuild.\r\n",
    "skills/deploy/logo.png": png,
    "skills/deploy/empty.txt": "",
    "skills/deploy/.hidden": "secret",
    "skills/team/review/SKILL.md": manifest("review"),
    "skills/README.md": "This is no skill.",
  };
  const { live, client } = await serveFiles(files);
  expect(live.problems).toEqual([]);
  const host = hostOf(client);
  const skills = await host.list().all();
  expect(skills.map(({ uri }) => uri)).toEqual(["skill://deploy/SKILL.md", "skill://team/review/SKILL.md"]);
  const loaded = await host.load("skill://deploy/SKILL.md");
  expect(loaded.files?.toSorted()).toEqual(["SKILL.md", "empty.txt", "logo.png", "steps/1 build.md"]);
  for (const path of loaded.files ?? []) {
    const { bytes, isVerified } = await loaded.read(path);
    const original = files[`skills/deploy/${path}` as keyof typeof files];
    expect(isVerified).toBe(true);
    expect(Buffer.from(bytes)).toEqual(Buffer.from(original as string));
  }
  expect((await loaded.read("logo.png")).mimeType).toBe("image/png");
  expect((await client.listResources().all()).map(({ name, uri }) => [name, uri])).toContainEqual([
    "deploy",
    "skill://deploy/SKILL.md",
  ]);
});

test("declares no skills for a folder without them, unless it is watched", async () => {
  const { client } = await serveFiles({ "resources/a.md": "a" });
  expect(hostOf(client).isOffered).toBe(false);
  const watched = await serveFiles({ "resources/a.md": "a" }, { live: { watch: true } });
  expect(await hostOf(watched.client).list().all()).toEqual([]);
  expect((await watched.client.listResourceTemplates().all()).map(({ uriTemplate }) => uriTemplate)).not.toContain(
    "skill://{+path}",
  );
});

test.each([
  ["# No front matter", 1, "there is no front matter"],
  ["---\nname: a\n", 1, "never closed"],
  ["---\nname: a\n---\n", 1, "there is no description"],
  ["---\nname: b\ndescription: x\n---\n", 2, 'the skill is called "b", and its folder "a" — Give both the same name.'],
  [
    "---\n# a comment\nname: A\ndescription: x\n---\n",
    3,
    '"A" is not a valid skill name — Use 1 to 64 lowercase letters',
  ],
  ["---\nname: a\ndescription: one: two\n---\n", 3, "the text contains a colon — Put it in quotes."],
  ["---\nname: a\ndescription: x\nmetadata:\n  version: 1.0\n---\n", 4, '"metadata.version" must be a text — Write'],
  ["---\nname: a\ndescription: *x\n---\n", 3, "begin with *"],
])("reports an invalid skill with its place and a cure: %j", async (content, line, said) => {
  const { live, client } = await serveFiles({ "skills/a/SKILL.md": content, "skills/b/SKILL.md": manifest("b") });
  const [problem, ...others] = live.problems.map((one) => formatProblem(one));
  expect(others).toEqual([]);
  expect(problem).toContain(`skills/a/SKILL.md:${line}: `);
  expect(problem).toContain(said);
  expect(problem).toContain(" — ");
  expect(namesOf(await hostOf(client).list().all())).toEqual(["b"]);
});

test("reports a skill at the top of skills/, and a skill that is too large", async () => {
  const many = Object.fromEntries(Array.from({ length: 512 }, (_, at) => [`skills/many/${at}.md`, "x"]));
  const { live, client } = await serveFiles({
    ...many,
    "server.yaml": "limits:\n  fileSize: 1 KiB\n",
    "skills/SKILL.md": manifest("skills"),
    "skills/many/SKILL.md": manifest("many"),
    "skills/large/SKILL.md": manifest("large"),
    "skills/large/a.txt": "x".repeat(1025),
    "skills/fits/SKILL.md": manifest("fits"),
    "skills/fits/a.txt": "x".repeat(1024),
  });
  expect(live.problems.map(({ file, message }) => [file, message])).toEqual([
    ["skills/SKILL.md", "a skill must be in its own folder"],
    ["skills/large/SKILL.md", expect.stringContaining("skills/large/a.txt has")],
    ["skills/many/SKILL.md", "the skill has 513 files, and clients accept at most 512"],
  ]);
  expect(namesOf(await hostOf(client).list().all())).toEqual(["fits"]);
});

test("offers a skill with all its files, or not at all", async () => {
  const { live, client } = await serveFiles({
    "server.yaml": "limits:\n  files: 3\n",
    "skills/a/SKILL.md": manifest("a"),
    "skills/a/x.md": "x",
    "skills/b/SKILL.md": manifest("b"),
    "skills/b/x.md": "x",
  });
  expect(live.problems.map(({ message }) => message)).toEqual([
    "there are more than 3 files in skills/, and the last skills are not offered",
  ]);
  expect(namesOf(await hostOf(client).list().all())).toEqual(["a"]);
});

test("serves nothing outside skills/, by links or by URIs", async () => {
  const outside = await temporaryFolder({ "secret.md": "secret", "lie/SKILL.md": manifest("lie") });
  const folder = await temporaryFolder({ "skills/a/SKILL.md": manifest("a"), "skills/a/b.md": "b", "server.yaml": "" });
  await symlink(join(outside, "secret.md"), join(folder, "skills/a/secret.md"));
  await symlink(join(outside, "lie"), join(folder, "skills/lie"));
  await symlink(join(folder, "server.yaml"), join(folder, "skills/a/server.yaml"));
  await symlink(join(folder, "skills/a/b.md"), join(folder, "skills/a/c.md"));
  const { client } = await serveFolder(folder);
  const host = hostOf(client);
  const [one, ...others] = await host.list().all();
  expect(others).toEqual([]);
  const loaded = await host.load(one ?? "");
  expect(loaded.files).toEqual(["SKILL.md", "b.md", "c.md"]);
  expect((await loaded.read("c.md")).text).toBe("b");
  for (const uri of ["skill://a/secret.md", "skill://a/../../server.yaml", "skill://a/%2e%2e/a/b.md"]) {
    await expect(client.readResource(uri)).rejects.toMatchObject({ code: -32602 });
  }
  // A link replaces a file while the folder is served.
  await rm(join(folder, "skills/a/b.md"));
  await symlink(join(outside, "secret.md"), join(folder, "skills/a/b.md"));
  await expect(loaded.read("b.md")).rejects.toMatchObject({ code: -32602 });
});

test("refuses a file that changed since its skill was loaded, until the skill is loaded again", async () => {
  const folder = await temporaryFolder({ "skills/a/SKILL.md": manifest("a"), "skills/a/b.md": "old" });
  const { live, client } = await serveFolder(folder);
  const host = hostOf(client);
  const before = await host.load("skill://a/SKILL.md");
  await addFiles(folder, { "skills/a/b.md": "new" });
  await expect(before.read("b.md")).rejects.toThrow(SkillRefused);
  await live.reload(["skills/a/b.md"]);
  expect((await (await host.load("skill://a/SKILL.md")).read("b.md")).text).toBe("new");
});

test("changes the digest after an edit that keeps the size and the modification time", async () => {
  const folder = await temporaryFolder({ "skills/a/SKILL.md": manifest("a"), "skills/a/b.md": "old" });
  const path = join(folder, "skills/a/b.md");
  const past = new Date("2020-01-01T00:00:00Z");
  await utimes(path, past, past);
  const { live, client } = await serveFolder(folder);
  const host = hostOf(client);
  await addFiles(folder, { "skills/a/b.md": "new" });
  await utimes(path, past, past);
  await live.reload(["skills/a/b.md"]);
  expect((await (await host.load("skill://a/SKILL.md")).read("b.md")).text).toBe("new");
});

test("reads each listed file, with any characters in its name", async () => {
  const names = ["a#b.md", "a:b.md", "c?d.md", "100%.md", "x%20y.md", "x y.md", "{e}.md", "d#1/ü&=+.md", "日本.md"];
  const { live, client } = await serveFiles({
    "skills/a:b #1/deploy/SKILL.md": manifest("deploy"),
    ...Object.fromEntries(names.map((name) => [`skills/a:b #1/deploy/${name}`, name])),
    ...Object.fromEntries(names.map((name) => [`resources/${name}`, name])),
  });
  expect(live.problems).toEqual([]);
  const host = hostOf(client);
  const loaded = await host.load("skill://a%3Ab%20%231/deploy/SKILL.md");
  for (const name of names) expect((await loaded.read(name)).text).toBe(name);
  const listed = await client.listResources().all();
  expect(listed).toHaveLength(names.length + 1);
  for (const { uri } of listed) expect((await client.readResource(uri)).contents).toHaveLength(1);
});

test("does not serve a name with a control character or a direction mark, and reports it escaped", async () => {
  const { live, client } = await serveFiles({
    "skills/a/SKILL.md": manifest("a"),
    "skills/a/guide\u202Efdp.md": "x",
    "skills/a/line\nbreak.md": "x",
    "resources/\u2067b/c.md": "x",
    "resources/d.md": "x",
  });
  expect(live.problems.map((problem) => formatProblem(problem).split(": the name")[0])).toEqual([
    String.raw`resources/\u{2067}b:1`,
    String.raw`skills/a/guide\u{202e}fdp.md:1`,
    "skills/a/line break.md:1",
  ]);
  expect((await hostOf(client).load("skill://a/SKILL.md")).files).toEqual(["SKILL.md"]);
  expect((await client.listResources().all()).map(({ uri }) => uri)).toEqual([
    "test://resources/d.md",
    "skill://a/SKILL.md",
  ]);
  const hidden = "test://resources/%E2%81%A7b/c.md";
  await expect(client.readResource(hidden)).rejects.toMatchObject({ code: -32602 });
});

test("serves a skill inside a skill, whose files also belong to the outer skill", async () => {
  const { client } = await serveFiles({
    "skills/outer/SKILL.md": manifest("outer"),
    "skills/outer/inner/SKILL.md": manifest("inner"),
  });
  const [inner, outer] = (await hostOf(client).list().all()).toSorted((a, b) => b.uri.length - a.uri.length);
  expect(outer?.resources).toHaveLength(2);
  expect(outer?.resources).toEqual(expect.arrayContaining(inner?.resources as never));
});

test("notifies clients of added, changed and removed skills while the folder is watched", async () => {
  const folder = await temporaryFolder({ "resources/a.md": "a" });
  const { live, client } = await serveFolder(folder, { live: { watch: true } });
  const noticed = new Set<string>();
  const watch = watchFolder(live, { onReload: (files) => files.forEach((file) => noticed.add(file)) });
  try {
    await watch.ready;
    const host = hostOf(client);
    const changes: string[] = [];
    await client.listen({ resources: true, uris: ["skill://a/SKILL.md"] }, ({ kind }) => changes.push(kind));
    // A written file may be noticed twice, with a reading of the folder between the two events.
    await addFiles(folder, { "skills/a/SKILL.md": manifest("a") });
    await expect.poll(async () => namesOf(await host.list().all())).toEqual(["a"]);
    // The file may be read with its new folder, before the file itself is watched.
    await expect.poll(() => noticed).toContain("skills/a/SKILL.md");
    await addFiles(folder, { "skills/a/SKILL.md": manifest("b") });
    await vi.waitFor(async () => {
      expect(live.problems.map((problem) => formatProblem(problem))).toEqual([
        'skills/a/SKILL.md:2: the skill is called "b", and its folder "a" — Give both the same name.',
      ]);
      expect(await host.list().all()).toEqual([]);
    }, 120_000);
    await addFiles(folder, { "skills/a/SKILL.md": manifest("a", "Do it well.") });
    await vi.waitFor(async () => {
      expect(live.problems).toEqual([]);
      expect((await host.load("skill://a/SKILL.md")).body).toBe("Do it well.\n");
    }, 120_000);
    expect(changes).toContain("updated");
  } finally {
    await watch.close();
  }
});

test("returns the digest of the file on the disk", async () => {
  const folder = await temporaryFolder({ "skills/a/SKILL.md": manifest("a") });
  const { client } = await serveFolder(folder);
  const [one] = await hostOf(client).list().all();
  const digest = createHash("sha256")
    .update(await readFile(join(folder, "skills/a/SKILL.md")))
    .digest("hex");
  expect(one?.resources).toMatchObject([{ digest: `sha256:${digest}` }]);
});
