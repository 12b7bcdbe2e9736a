import { writeFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { UsageError } from "./io.ts";
import { type Binary, showSize } from "./show-content.ts";
import type { Session } from "./session.ts";
import { visibleLine } from "./terminal-text.ts";

/** Writes bytes to `--output`; more than one get a number before the ending: `chart-1.png`, `chart-2.png`. */
export async function saveBinaries(binaries: readonly Binary[], file: string, session: Session): Promise<void> {
  for (const [index, binary] of binaries.entries()) {
    const path = binaries.length === 1 ? file : numbered(file, index + 1);
    await save(path, Buffer.from(binary.data, "base64"), binary.mimeType, session);
  }
}

/** Writes text to `--output`. */
export async function saveText(text: string, file: string, session: Session): Promise<void> {
  await save(file, Buffer.from(text), undefined, session);
}

async function save(path: string, bytes: Uint8Array, mimeType: string | undefined, session: Session): Promise<void> {
  try {
    await writeFile(resolve(session.io.cwd, path), bytes);
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
  const type = mimeType === undefined ? "" : `, ${visibleLine(mimeType)}`;
  session.screen.note(`Wrote ${path} (${showSize(bytes.length)}${type}).`);
}

function numbered(file: string, number: number): string {
  const ending = extname(file);
  return `${file.slice(0, file.length - ending.length)}-${number}${ending}`;
}
