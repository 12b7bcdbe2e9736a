import { appendFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { isResourceNotFound } from "mcparley";
import { describe, expect, test } from "vitest";
import { formatProblem } from "../yaml/problem.ts";
import { serveFiles, serveFolder } from "../testing/served-folder.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 1]);

test("the title of a Markdown file is its first heading, in which a line separator is text", async () => {
  const { client } = await serveFiles({
    "resources/a.md": "First\u2028# no heading\r\n\r\n# The\u2028title #\r\n# Second\r\n",
    "resources/b.md": "#no heading\n",
  });
  const listed = await client.listResources().all();
  expect(listed.map(({ title }) => title)).toEqual(["The\u2028title", undefined]);
});

test("lists each file with its URI, type, size, title and last change, and reads it as text or base64", async () => {
  const { client } = await serveFiles({
    "resources/guide.md": "# The guide #\n\nRead it.\n",
    "resources/pictures/a b.png": png,
    "resources/types.ts": "export type A = 1;\n",
    "resources/LICENSE": "MIT\n",
    "resources/data": png,
  });
  const listed = await client.listResources().all();
  expect(listed.map(({ uri, mimeType, size, title }) => [uri, mimeType, size, title])).toEqual([
    ["test://resources/LICENSE", "text/plain", 4, undefined],
    ["test://resources/data", "application/octet-stream", 12, undefined],
    ["test://resources/guide.md", "text/markdown", 24, "The guide"],
    ["test://resources/pictures/a%20b.png", "image/png", 12, undefined],
    ["test://resources/types.ts", "text/x-typescript", 19, undefined],
  ]);
  expect(Math.abs(Date.now() - Date.parse(listed[0]?.annotations?.lastModified ?? ""))).toBeLessThan(60_000);
  expect((await client.readResource("test://resources/guide.md")).contents).toEqual([
    { uri: "test://resources/guide.md", mimeType: "text/markdown", text: "# The guide #\n\nRead it.\n" },
  ]);
  expect((await client.readResource("test://resources/pictures/a%20b.png")).contents).toEqual([
    {
      uri: "test://resources/pictures/a%20b.png",
      mimeType: "image/png",
      blob: Buffer.from(png).toString("base64"),
    },
  ]);
});

test("adds metadata of resources.yaml, and suggests a path for an entry without a file", async () => {
  const { client, live } = await serveFiles({
    "resources/a.md": "# A\n",
    "resources.yaml":
      "a.md:\n  title: First\n  description: The first.\n  audience: [user]\n  priority: 0.5\n  mimeType: text/x-own\n" +
      "b.md:\n  title: B\nelse/where.md: {}\n",
  });
  const [listed] = await client.listResources().all();
  expect(listed).toMatchObject({
    title: "First",
    description: "The first.",
    mimeType: "text/x-own",
    annotations: { audience: ["user"], priority: 0.5 },
  });
  expect(live.problems.map(({ line, message, cure }) => [line, message, cure])).toEqual([
    [7, "there is no file b.md", 'Did you mean "a.md"?'],
    [9, "there is no file else/where.md", "Correct the path, or remove the entry."],
  ]);
});

describe("a URI that leaves the folder has the error of an unknown resource", () => {
  test.each([
    "test://resources/../server.yaml",
    "test://resources/..%2fserver.yaml",
    "test://resources/%2e%2e/server.yaml",
    "test://resources/%2E%2E%2Fserver.yaml",
    "test://resources/%252e%252e/server.yaml",
    "test://resources//etc/passwd",
    "test://resources/%2Fetc%2Fpasswd",
    "test://resources/a.md%00.png",
    "test://resources/.env",
    "test://resources/link.txt",
    "test://resources/out/passwd",
    "test://resources/",
    "test://resources/%ff",
    "file:///etc/passwd",
    "test://prompts/a.md",
  ])("%s", async (uri) => {
    const folder = await temporaryFolder({
      "server.yaml": "instructions: secret\n",
      "resources/a.md": "a",
      "resources/.env": "secret",
      "prompts/a.md": "a",
    });
    await symlink("/etc/passwd", join(folder, "resources", "link.txt"));
    await symlink("/etc", join(folder, "resources", "out"));
    const { client } = await serveFolder(folder);
    expect(await client.listResources().all()).toHaveLength(1);
    const error = await client.readResource(uri).catch((reason: unknown) => reason);
    expect(isResourceNotFound(error)).toBe(true);
    expect(String(error)).not.toContain(folder);
  });
});

test("refuses a file over the limit with both sizes and the name of the limit", async () => {
  const { client } = await serveFiles({
    "server.yaml": "limits:\n  fileSize: 1 KiB\n",
    "resources/at.txt": "x".repeat(1024),
    "resources/over.txt": "x".repeat(1025),
  });
  expect((await client.readResource("test://resources/at.txt")).contents[0]).toMatchObject({ text: "x".repeat(1024) });
  await expect(client.readResource("test://resources/over.txt")).rejects.toThrow(
    "test://resources/over.txt has 1 KiB, and this server reads files of at most 1 KiB. Its owner can raise limits.fileSize",
  );
});

test("refuses to read a link that leads out of the folder since it was listed", async () => {
  const folder = await temporaryFolder({ "resources/a.md": "a", "resources/b.md": "b", "secret.txt": "secret" });
  const { client } = await serveFolder(folder);
  await client.listResources().all();
  await rm(join(folder, "resources", "a.md"));
  await symlink("../secret.txt", join(folder, "resources", "a.md"));
  await expect(client.readResource("test://resources/a.md")).rejects.toThrow("Resource not found");
  expect((await client.readResource("test://resources/b.md")).contents[0]).toMatchObject({ text: "b" });
});

test("completes paths of the template, and reads a file that is newer than the listing", async () => {
  const folder = await temporaryFolder({ "resources/notes/a.md": "a", "resources/b.md": "b" });
  const { client } = await serveFolder(folder);
  const [template] = await client.listResourceTemplates().all();
  const uriTemplate = "test://resources/{+path}";
  expect(template?.uriTemplate).toBe(uriTemplate);
  const ref = { type: "ref/resource" as const, uri: uriTemplate };
  expect((await client.complete(ref, { name: "path", value: "A" })).values).toEqual(["notes/a.md"]);
  await appendFile(join(folder, "resources", "notes", "new file.md"), "new");
  expect((await client.readResource("test://resources/notes/new%20file.md")).contents).toEqual([
    { uri: "test://resources/notes/new%20file.md", mimeType: "text/markdown", text: "new" },
  ]);
});

test("serves another root under its name, and refuses paths that leave it", async () => {
  const folder = await temporaryFolder({
    "served/server.yaml": "roots:\n  - name: runbooks\n    path: ../books\n",
    "books/restart.md": "# Restart\n",
    "secret.md": "secret",
  });
  const { client, live } = await serveFolder(join(folder, "served"));
  expect(live.problems).toEqual([]);
  const listed = await client.listResources().all();
  expect(listed.map(({ uri, name }) => [uri, name])).toEqual([["test://runbooks/restart.md", "runbooks/restart.md"]]);
  expect((await client.readResource("test://runbooks/restart.md")).contents[0]).toMatchObject({ text: "# Restart\n" });
  await expect(client.readResource("test://runbooks/../secret.md")).rejects.toThrow("Resource not found");
});

test.each([
  ["a hidden file", "plan.md", ".private.md"],
  ["a file of a hidden folder", "plan.md", ".private/plan.md"],
  ["a hidden folder", "plans", ".private"],
  ["a folder of packages", "plans", "node_modules"],
  ["a file outside", "plan.md", "../secret.md"],
])("neither lists nor reads a link within a root to %s", async (_what, name, to) => {
  const folder = await temporaryFolder({
    "resources/a.md": "a",
    "resources/.private.md": "# Hidden\n",
    "resources/.private/plan.md": "# Hidden\n",
    "resources/node_modules/plan.md": "# Package\n",
    "secret.md": "# Secret\n",
  });
  await symlink(to, join(folder, "resources", name));
  const { client } = await serveFolder(folder);
  expect((await client.listResources().all()).map((resource) => resource.name)).toEqual(["resources/a.md"]);
  const path = name.endsWith(".md") ? name : `${name}/plan.md`;
  await expect(client.readResource(`test://resources/${path}`)).rejects.toThrow("Resource not found");
});

test("ends at circular links, and follows a link to another folder inside", async () => {
  const folder = await temporaryFolder({ "resources/a.md": "a", "resources/b/c.md": "c", "resources/d/e.md": "e" });
  await symlink(".", join(folder, "resources", "b", "self"));
  await symlink("..", join(folder, "resources", "b", "up"));
  await symlink("../d", join(folder, "resources", "b", "other"));
  const { client } = await serveFolder(folder);
  const names = (await client.listResources().all()).map(({ name }) => name);
  expect(names).toEqual(["resources/a.md", "resources/b/c.md", "resources/b/other/e.md", "resources/d/e.md"]);
  expect((await client.readResource("test://resources/b/other/e.md")).contents[0]).toMatchObject({ text: "e" });
});

test("omits hidden files and packages, and reports files over the limit", async () => {
  const { client, live } = await serveFiles({
    "server.yaml": "limits: {files: 2}\n",
    "resources/.DS_Store": "x",
    "resources/a.md": "a",
    "resources/b/c.md": "c",
    "resources/d.md": "d",
    "resources/b/node_modules/p/x.md": "x",
  });
  const names = (await client.listResources().all()).map(({ name }) => name);
  expect(names).toEqual(["resources/a.md", "resources/b/c.md"]);
  expect(live.problems.map((problem) => formatProblem(problem))).toEqual([
    "server.yaml:1:10: the folder has 3 files, and at most 2 are listed: resources/d.md and the files after it are not listed — " +
      "Raise limits.files in server.yaml, or serve a smaller folder.",
  ]);
});

test("reports the limit on files at the folder without server.yaml, and reports progress", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 10_002 }, (_, index) => [`resources/${index + 10_000}.txt`, ""]),
  );
  const counts: number[] = [];
  const folder = await temporaryFolder(files);
  const { live } = await serveFolder(folder, { live: { onProgress: (count) => counts.push(count) } });
  expect(live.problems.map((problem) => formatProblem(problem))).toEqual([
    "resources: the folder has 10002 files, and at most 10000 are listed: resources/20000.txt and the files after it are not listed — " +
      "Raise limits.files in server.yaml, or serve a smaller folder.",
  ]);
  expect(counts).toEqual([2000, 4000, 6000, 8000, 10_000]);
});
