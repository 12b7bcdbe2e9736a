import { readFileSync } from "node:fs";
import { LocalError, ProtocolError } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { wrap } from "./text.ts";

/*
 * The help about errors is the guide about errors, which the build copies into the package: each of its headings explains one
 * message, code or exit code.
 */

interface ErrorSection {
  /** The codes and texts in the heading, such as "ECONNREFUSED". */
  readonly names: readonly string[];
  /** The Markdown below the heading. */
  readonly text: string;
}

let sections: readonly ErrorSection[] | undefined;

/** Returns the sections of the guide. They are empty if the build has not copied it. */
function errorSections(): readonly ErrorSection[] {
  try {
    sections ??= readSections(
      readFileSync(new URL("../../docs/reference/troubleshooting.md", import.meta.url), "utf8"),
    );
  } catch {
    sections = [];
  }
  return sections;
}

/** Returns the sections of a guide. A heading such as "ENOTFOUND, EAI_AGAIN" has several names. */
export function readSections(guide: string): ErrorSection[] {
  // A line that starts with "#" in a code block has one or more spaces in front of it, or is a comment of a shell.
  return [...guide.matchAll(/^### (.*)\n([^]*?)(?=^##|(?![^]))/gm)].map(([, heading = "", text = ""]) => ({
    names: heading.replaceAll("`", "").split(", "),
    text: text.trim(),
  }));
}

/** Returns the names of all errors that have a section. */
export function errorNames(): string[] {
  return errorSections().flatMap(({ names }) => names);
}

/**
 * Returns the section that a code or a message names, wrapped to `columns`: the one with this name, or the only one that has all
 * words in its names, or in its text. Undefined if there is none.
 */
export function errorPage(message: string, columns: number): string | undefined {
  const name = message.trim().toLowerCase();
  const words = name.length < 6 ? [] : name.split(/[\s_]+/);
  const hasWords = (text: string): boolean =>
    words.length > 0 && words.every((word) => text.toLowerCase().includes(word));
  const searches: readonly ((section: ErrorSection) => boolean)[] = [
    ({ names }) => names.some((one) => one.toLowerCase() === name),
    ({ names }) => names.some(hasWords),
    ({ text }) => text.toLowerCase().includes(name) && words.length > 0,
  ];
  for (const isFound of searches) {
    const [found, ...others] = errorSections().filter(isFound);
    if (found && others.length === 0) return plainText(`${found.names.join(", ")}\n\n${found.text}`, columns);
  }
  return undefined;
}

/** Returns the list of all errors that have a section, wrapped to `columns`. */
export function errorList(columns: number): string {
  const lines = errorSections().map(({ names }) => wrap(`- ${names.join(", ")}`, columns).join("\n"));
  return `mcparley help CODE explains an error\n\n${lines.join("\n")}`;
}

/** Returns the command that explains an error. Undefined if the guide has no section for its code. */
export function helpFor(error: unknown): string | undefined {
  const names = errorNames();
  const code = codesOf(error).find((one) => names.includes(one));
  return code === undefined ? undefined : `mcparley help ${code}`;
}

/** Returns the codes of an error: that of the system first, because it is the most specific one. */
function codesOf(error: unknown): string[] {
  if (error instanceof ProtocolError) return [String(error.code)];
  if (!(error instanceof LocalError)) return [];
  const { code, data, cause } = error;
  const facts = isObject(data) ? [data.code, code === "http" ? data.status : undefined] : [];
  const ofSystem = cause instanceof Error && "code" in cause ? [cause.code] : [];
  return [...facts, ...ofSystem, code].map(String);
}

/** Returns Markdown as text of a terminal: without the addresses of links, and with indented code. */
function plainText(markdown: string, columns: number): string {
  const parts = markdown.split(/^ *```\w*\n([^]*?)^ *```$/gm);
  const texts = parts.map((part, index) => {
    if (index % 2 === 1) return part.trimEnd().replaceAll(/^ */gm, "    ");
    return wrap(part.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1"), columns).join("\n");
  });
  return texts.join("");
}
