import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { UsageError } from "../io.ts";
import { JsonSyntaxError, type ParsedJson, isObject, parseJsonWithComments } from "../json.ts";
import { readTrusted } from "./trusted-file.ts";

/** The configuration files of a folder, in their order of precedence. */
export const configFileNames: readonly string[] = [
  "mcp.json",
  ".mcp.json",
  join(".vscode", "mcp.json"),
  join(".cursor", "mcp.json"),
];

/** One server that a configuration file names, not yet checked. */
export interface ConfigEntry {
  readonly name: string;
  readonly value: unknown;
  /** The path of the file. */
  readonly file: string;
  readonly workspaceFolder: string;
  /** The line of the entry, or of a member of it. */
  lineOf(...path: string[]): number | undefined;
}

/**
 * Yields the servers of the configuration files, from `folder` upwards, the nearest first. The search ends at the home
 * folder of `env`.
 *
 * A file is read when the iteration reaches it, so an invalid file further up does not affect a search that ends before
 * it. Throws `UsageError` with file and line for a file that cannot be read, and for one that other users can write.
 */
export function* configEntries(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Generator<ConfigEntry> {
  const homes = homeFolders(env);
  for (let current = folder; ; current = dirname(current)) {
    for (const name of configFileNames) yield* entriesOf(join(current, name));
    if (homes.has(current) || dirname(current) === current) return;
  }
}

/** Returns the home folder, and its path without links. */
function homeFolders(env: Readonly<Record<string, string | undefined>>): ReadonlySet<string> {
  const home = resolve(env.HOME || homedir());
  try {
    return new Set([home, realpathSync(home)]);
  } catch {
    return new Set([home]);
  }
}

function* entriesOf(file: string): Generator<ConfigEntry> {
  const text = readTrusted(file);
  if (text === undefined) return;
  const parsed = parseJsonFile(text, file);
  const folder = dirname(file);
  const workspaceFolder = [".vscode", ".cursor"].includes(basename(folder)) ? dirname(folder) : folder;
  for (const dialect of ["mcpServers", "servers"]) {
    for (const [name, value] of Object.entries(serversIn(parsed, dialect, file))) {
      yield { name, value, file, workspaceFolder, lineOf: (...path) => parsed.lineOf(dialect, name, ...path) };
    }
  }
}

function serversIn(parsed: ParsedJson, dialect: string, file: string): object {
  const { value } = parsed;
  if (!isObject(value)) throw new UsageError(`${file}:1: the file must contain a JSON object.`);
  const servers = Object.hasOwn(value, dialect) ? value[dialect] : {};
  if (isObject(servers)) return servers;
  throw new UsageError(`${file}:${parsed.lineOf(dialect)}: "${dialect}" must be an object of servers by name.`);
}

/** Reads the text of a file as JSON with comments. Throws `UsageError` with file, line and column if it is not valid. */
export function parseJsonFile(text: string, file: string): ParsedJson {
  try {
    return parseJsonWithComments(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new UsageError(`${file}:${error.line}:${error.column}: ${error.message}.`);
  }
}
