import { open } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { UsageError } from "../../terminal/io.ts";
import type { TalkSetting } from "../../terminal/questions/prompter.ts";
import { type Binary, showSize } from "../../terminal/show-content.ts";
import { visibleLine } from "../../terminal/text.ts";

/** Characters that are converted at a time. A multiple of 4, so that each slice of base64 can be decoded by itself. */
const sliceChars = 1_048_576;

/** Decodes base64 in slices. Only one of them is in memory at a time. */
export function* decodedSlices(base64: string): Generator<Buffer> {
  // Line breaks or other characters would move the borders of the groups of four.
  if (!/^[\w+/-]*={0,2}$/.test(base64)) {
    yield Buffer.from(base64, "base64");
    return;
  }
  for (let start = 0; start < base64.length; start += sliceChars) {
    yield Buffer.from(base64.slice(start, start + sliceChars), "base64");
  }
}

/** Encodes text as UTF-8 in slices. */
export function* encodedSlices(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length;) {
    let end = start + sliceChars;
    const last = text.charCodeAt(end - 1);
    // The halves of a surrogate pair are encoded together.
    if (last >= 0xd800 && last < 0xdc00) end--;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}

/** The binary data of a result, and its text, which is only needed without binary data. */
interface Output {
  readonly binaries: readonly (Binary | undefined)[];
  readonly text: () => string;
}

/** Writes a result to `--output`. Several files get a number before the extension: `chart-1.png`, `chart-2.png`. */
export async function saveOutput(
  file: string,
  { binaries: parts, text }: Output,
  setting: Pick<TalkSetting, "io" | "screen">,
): Promise<void> {
  const binaries = parts.filter((binary) => binary !== undefined);
  if (binaries.length === 0) await save(file, { slices: encodedSlices(text()) }, setting);
  for (const [index, binary] of binaries.entries()) {
    const path = binaries.length === 1 ? file : numberedName(file, index + 1);
    await save(path, { slices: decodedSlices(binary.data), mimeType: binary.mimeType }, setting);
  }
}

async function save(
  path: string,
  { slices, mimeType }: { slices: Iterable<Buffer>; mimeType?: string | undefined },
  setting: Pick<TalkSetting, "io" | "screen">,
): Promise<void> {
  let size = 0;
  try {
    const file = await open(resolve(setting.io.cwd, path), "w");
    try {
      for (const bytes of slices) {
        await file.writeFile(bytes);
        size += bytes.length;
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
  const type = mimeType === undefined ? "" : `, ${visibleLine(mimeType)}`;
  setting.screen.note(`Wrote ${path} (${showSize(size)}${type}).`);
}

function numberedName(file: string, number: number): string {
  const ending = extname(file);
  return `${file.slice(0, file.length - ending.length)}-${number}${ending}`;
}
