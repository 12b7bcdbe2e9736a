import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder with these files, by path. It is deleted when the test has finished. */
export async function temporaryFolder(files: Record<string, string | Uint8Array> = {}): Promise<string> {
  // The temporary folder of some systems is itself a link.
  const folder = await realpath(await mkdtemp(join(tmpdir(), "mcparley-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await addFiles(folder, files);
  return folder;
}

/** Writes files, by path. The calls are synchronous, because thousands of files take ten times as long otherwise. */
export async function addFiles(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  const parents = new Set(Object.keys(files).map((path) => dirname(join(folder, path))));
  for (const parent of parents) mkdirSync(parent, { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content);
}
