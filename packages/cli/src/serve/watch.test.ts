import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "mcparley/client";
import { expect, onTestFinished, test } from "vitest";
import { formatProblem } from "./yaml/problem.ts";
import { type ServedFolder, serveFolder } from "./testing/served-folder.ts";
import { addFiles, temporaryFolder } from "./testing/temporary-folder.ts";
import { watchFolder } from "./watch.ts";

const toolHead = 'import { tool } from "mcparley/server";\n';

interface Watched extends ServedFolder {
  folder: string;
  /**
   * Makes a change and waits until the folder is read again. Returns the notifications that the client received until
   * then.
   */
  after: (change: () => Promise<unknown>) => Promise<string[]>;
}

async function watched(files: Record<string, string>, uris: string[] = []): Promise<Watched> {
  const folder = await temporaryFolder(files);
  const served = await serveFolder(folder, { live: { watch: true } });
  const told: string[] = [];
  let reloaded: () => void = () => {};
  const watch = watchFolder(served.live, {
    onReload: () => reloaded(),
    onError: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => watch.close());
  await watch.ready;
  await served.client.listen({ tools: true, prompts: true, resources: true, uris }, (change) => {
    told.push("uri" in change ? `updated ${change.uri}` : change.kind);
  });
  return {
    ...served,
    folder,
    async after(change) {
      told.length = 0;
      const done = new Promise<void>((resolve) => (reloaded = resolve));
      await change();
      await done;
      // All earlier notifications arrive before the reply to this request.
      await served.client.ping();
      return told.toSorted();
    },
  };
}

const promptNames = async (client: Client) => (await client.listPrompts().all()).map(({ name }) => name);

test("adds new files, removes deleted ones, and notifies clients of the changed list", async () => {
  const { folder, client, after } = await watched({});
  expect(await after(() => addFiles(folder, { "prompts/a.md": "Hello" }))).toEqual(["prompts"]);
  expect(await promptNames(client)).toEqual(["a"]);
  expect(await after(() => rename(join(folder, "prompts/a.md"), join(folder, "prompts/b.md")))).toContain("prompts");
  await expect.poll(() => promptNames(client)).toEqual(["b"]);
  expect(await after(() => rm(join(folder, "prompts/b.md")))).toEqual(["prompts"]);
  expect(await promptNames(client)).toEqual([]);
});

test("notifies subscribers of a changed resource, and updates its list entry", async () => {
  const uri = "test://resources/a.md";
  const { folder, client, after } = await watched({ "resources/a.md": "old", "resources/b.md": "b" }, [uri]);
  expect(await after(() => addFiles(folder, { "resources/a.md": "longer than before" }))).toEqual([
    "resources",
    `updated ${uri}`,
  ]);
  expect((await client.readResource(uri)).contents[0]).toMatchObject({ text: "longer than before" });
  expect((await client.listResources().all()).map(({ size }) => size)).toEqual([18, 1]);
  expect(await after(() => addFiles(folder, { "resources/b.md": "not subscribed" }))).toEqual(["resources"]);
  expect(await after(() => rm(join(folder, "resources/a.md")))).toEqual(["resources", `updated ${uri}`]);
});

test("uses a new text of a prompt without a list change notification", async () => {
  const { folder, client, after } = await watched({ "prompts/a.md": "---\ntitle: A\n---\nold" });
  expect(await after(() => addFiles(folder, { "prompts/a.md": "---\ntitle: A\n---\nnew" }))).toEqual([]);
  expect((await client.getPrompt("a")).messages[0]?.content).toMatchObject({ text: "new" });
  expect(await after(() => addFiles(folder, { "prompts/a.md": "---\ntitle: B\n---\nnew" }))).toEqual(["prompts"]);
});

test("removes an invalid file with a problem, and adds it again when it is corrected", async () => {
  const { folder, live, client, after } = await watched({ "prompts/a.md": "fine", "prompts/b.md": "fine" });
  expect(await after(() => addFiles(folder, { "prompts/a.md": "{{ oops" }))).toEqual(["prompts"]);
  expect(live.problems.map((problem) => formatProblem(problem))).toEqual([
    expect.stringMatching(/^prompts\/a\.md:1:1: output "\{\{ oops" not closed/),
  ]);
  expect(await promptNames(client)).toEqual(["b"]);
  expect(await after(() => addFiles(folder, { "prompts/a.md": "fine again" }))).toEqual(["prompts"]);
  expect(live.problems).toEqual([]);
  expect(await promptNames(client)).toEqual(["b", "a"]);
});

test("runs the new code of an edited tool, and of one whose import was edited", async () => {
  const { folder, client, after } = await watched({
    "lib/word.ts": 'export const word = "one";\n',
    "tools/say.ts": `${toolHead}import { word } from "../lib/word.ts";\nexport default tool({ call: () => word });\n`,
  });
  expect(await client.callTool("say")).toBe("one");
  expect(await after(() => addFiles(folder, { "lib/word.ts": 'export const word = "two";\n' }))).toEqual([]);
  expect(await client.callTool("say")).toBe("two");
  const described = `${toolHead}export default tool({ description: "Says.", call: () => "three" });\n`;
  expect(await after(() => addFiles(folder, { "tools/say.ts": described }))).toEqual(["tools"]);
  expect(await client.callTool("say")).toBe("three");
});

test("reports a prompt while the file that it embeds is missing", async () => {
  const { folder, live, after } = await watched({
    "prompts/a.md": "![x](../resources/x.md)",
    "resources/x.md": "x",
    "resources/y.md": "y",
  });
  await after(() => rm(join(folder, "resources/x.md")));
  expect(live.problems.map(({ file, message }) => [file, message])).toEqual([
    ["prompts/a.md", 'there is no file "../resources/x.md"'],
  ]);
  await after(() => addFiles(folder, { "resources/x.md": "x" }));
  expect(live.problems).toEqual([]);
});

test("watches another root outside the folder", async () => {
  const parent = await temporaryFolder({
    "served/server.yaml": "roots: [{name: books, path: ../books}]\n",
    "books/a.md": "a",
  });
  const { live, client } = await serveFolder(join(parent, "served"), { live: { watch: true } });
  const reloaded = new Promise<void>((resolve) => {
    const watch = watchFolder(live, { onReload: () => resolve() });
    onTestFinished(() => watch.close());
    void watch.ready.then(() => addFiles(parent, { "books/b.md": "b" }));
  });
  await reloaded;
  expect((await client.listResources().all()).map(({ uri }) => uri)).toEqual([
    "test://books/a.md",
    "test://books/b.md",
  ]);
});
