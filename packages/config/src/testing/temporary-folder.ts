import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder with these files, by path, that only the user can write. It is deleted when the test has finished. */
export function temporaryFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  // The temporary folder of some systems is itself a link.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mcparley config ")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o600 });
  }
  return folder;
}
