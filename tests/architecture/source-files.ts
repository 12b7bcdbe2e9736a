import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));
export const librarySource: string = path.join(root, "packages/mcparley/src");

export interface SourceFile {
  /** Relative to the library's source, with forward slashes: `server/dispatch/call.ts`. */
  name: string;
  text: string;
  /** The text without comments. */
  code: string;
}

/** The library's sources, without tests. */
export function sourceFiles(): SourceFile[] {
  return readdirSync(librarySource, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => name.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(name))
    .map((name) => {
      const text = readFileSync(path.join(librarySource, name), "utf8");
      return { name, text, code: withoutComments(text) };
    });
}

/** What a file imports, resolved to names like those of `SourceFile`; packages and `node:` modules as they are written. */
export function importsOf({ name, code }: SourceFile): string[] {
  const specifiers = [...code.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  return specifiers.map((specifier) =>
    specifier.startsWith(".") ? path.posix.join(path.posix.dirname(name), specifier) : specifier,
  );
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|[^:"'`])\/\/.*$/gm, "$1");
}
