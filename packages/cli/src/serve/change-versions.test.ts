import { expect, test } from "vitest";
import { changeVersions } from "./change-versions.ts";
import { folderLoader } from "./load-folder.ts";
import { addFiles, temporaryFolder } from "./testing/temporary-folder.ts";

const manifest = "---\nname: deploy\ndescription: Deploys.\n---\n";
const changes = [
  { list: "tools" },
  { list: "prompts" },
  { list: "resources" },
  { uri: "test://resources/a.md" },
  { uri: "test://resources/b.md" },
  { uri: "skill://team/deploy/SKILL.md" },
  { uri: "skill://team/deploy/steps/1.md" },
  { uri: "skill://nowhere/SKILL.md" },
] as const;

async function processOf(folder: string): Promise<{ load: () => Promise<void>; versions: () => string[] }> {
  const loader = await folderLoader(folder, { name: "test" });
  let contents = await loader.load();
  const versionOf = changeVersions(() => contents);
  return {
    load: async () => void (contents = await loader.load([])),
    versions: () => changes.map((change) => versionOf(change)),
  };
}

test("two processes of one folder have the same versions, and an edit changes only the affected ones", async () => {
  const folder = await temporaryFolder({
    "prompts/hello.md": "Hello",
    "resources/a.md": "a",
    "resources/b.md": "b",
    "skills/team/deploy/SKILL.md": manifest,
    "skills/team/deploy/steps/1.md": "1",
  });
  const [one, other] = [await processOf(folder), await processOf(folder)];
  const before = one.versions();
  expect(other.versions()).toEqual(before);
  await addFiles(folder, { "resources/a.md": "changed", "skills/team/deploy/steps/1.md": "changed" });
  expect(one.versions()).toEqual(before);
  await one.load();
  await other.load();
  const after = one.versions();
  expect(other.versions()).toEqual(after);
  expect(after.map((version, at) => version !== before[at])).toEqual([
    false,
    false,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
});
