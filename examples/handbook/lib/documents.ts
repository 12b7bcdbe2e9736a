import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The part of a document below one heading. */
export interface Section {
  /** The URI of the document on this server. */
  uri: string;
  /** The document's path below resources/. */
  path: string;
  /** The document's title. */
  title: string;
  /** The heading of this part. */
  heading: string;
  /** The line number of the heading in the document, starting at 1. */
  line: number;
  text: string;
}

export const resources: string = join(import.meta.dirname, "..", "resources");

/** Returns the URI of a document. It consists of the server's name, the folder, and the path in the folder. */
export function uriOf(path: string): string {
  return `handbook://resources/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** Returns the paths of all Markdown documents in alphabetical order. */
export async function documentPaths(): Promise<string[]> {
  const entries = await readdir(resources, { recursive: true });
  return entries
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".md"))
    .toSorted();
}

export function readDocument(path: string): Promise<string> {
  return readFile(join(resources, path), "utf8");
}

/** Splits a document at its headings. */
export function sectionsOf(path: string, markdown: string): Section[] {
  const lines = markdown.split("\n");
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? path;
  const starts = lines.flatMap((line, index) => (/^#{1,4} /.test(line) ? [index] : []));
  return starts.map((start, index) => ({
    uri: uriOf(path),
    path,
    title,
    heading: lines[start]!.replace(/^#+ /, ""),
    line: start + 1,
    text: lines
      .slice(start + 1, starts[index + 1])
      .join("\n")
      .trim(),
  }));
}

/** Returns the sections of all documents that contain text. */
export async function allSections(): Promise<Section[]> {
  const paths = await documentPaths();
  const sections = await Promise.all(paths.map(async (path) => sectionsOf(path, await readDocument(path))));
  return sections.flat().filter(({ text }) => text !== "");
}
