import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
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

export async function addFiles(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
