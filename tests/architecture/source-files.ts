import path from "node:path";
import { fileURLToPath } from "node:url";
import { withoutComments } from "../../scripts/house/functions.mjs";
import { type Source, parseFolder } from "../../scripts/house/syntax.mjs";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));
const librarySource: string = path.join(root, "packages/mcparley/src");

export interface SourceFile extends Source {
  /** The text without comments. */
  code: string;
}

let parsed: SourceFile[] | undefined;

/** The library's sources, without tests. */
export function sourceFiles(): readonly SourceFile[] {
  return (parsed ??= parseFolder(librarySource).map((source) => ({ ...source, code: withoutComments(source) })));
}
