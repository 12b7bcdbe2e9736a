import { ConfigError, type Position, quoted } from "./config-error.ts";
import { decode, readTrusted } from "./files/trusted-file.ts";
import { type ParsedConfig, SyntaxProblem, isTable, valueAt } from "./formats/format.ts";
import { InvalidEntry, readEntry } from "./hosts/entry-reader.ts";
import type { HostRules, ReadEntry } from "./hosts/host.ts";
import { allRules, rulesOf } from "./hosts/index.ts";
import type { ConfiguredServer, HostId, Problem, Scope } from "./model.ts";
import { type FoundLocation, type PlaceOptions, locationsOf, placeOf } from "./place.ts";

/** Options of `readServers`. */
export interface ReadOptions extends PlaceOptions {
  /** The hosts whose files are read. Default: all. */
  readonly hosts?: readonly HostId[];
  /** The scopes that are read. Default: all. */
  readonly scopes?: readonly Scope[];
}

/** The servers of configuration files, and the problems of files that could not be read. */
export interface ReadResult {
  readonly servers: readonly ConfiguredServer[];
  readonly problems: readonly Problem[];
}

/**
 * Reads the servers from the configuration files of hosts. Files of projects are searched in `folder` and in its parents up to the
 * home folder, the nearest first.
 *
 * An invalid file is a problem of the result, and an invalid entry a problem of its server. Neither hides the others. Values of
 * variables are not filled in: see `expandTarget`.
 *
 * @example
 * ```ts
 * import { readServers } from "@mcparley/config";
 *
 * const { servers, problems } = readServers({ folder: "." });
 * for (const { host, name, scope, file, line } of servers) console.log(`${name}: ${host} (${scope}), ${file}:${line}`);
 * for (const { file, message } of problems) console.error(file, message);
 * ```
 */
export function readServers(options: ReadOptions = {}): ReadResult {
  const place = placeOf(options);
  const { hosts, scopes } = options;
  const results = allRules
    .filter(({ id }) => hosts?.includes(id) ?? true)
    .flatMap((rules) => locationsOf(rules, place).map((location) => ({ rules, location })))
    .filter(({ location }) => scopes?.includes(location.scope) ?? true)
    .map(({ rules, location }) => readLocation(rules, location));
  return { servers: results.flatMap(({ servers }) => servers), problems: results.flatMap(({ problems }) => problems) };
}

/** A file to read, and the host whose form it has. */
export interface FileOptions {
  readonly host: HostId;
  /** Default: `project`. */
  readonly scope?: Scope;
  /** The folder to which the file applies. Default: none. */
  readonly folder?: string;
  /** The keys from the root of the file to its table of servers. Default: those of the host. */
  readonly path?: readonly string[];
}

/**
 * Reads the servers of one file, which has the form of a host but need not be one of its files.
 *
 * @example
 * ```ts
 * import { readConfigFile } from "@mcparley/config";
 *
 * const { servers } = readConfigFile("mcp.json", { host: "claude-code" });
 * console.log(servers.length);
 * ```
 */
export function readConfigFile(file: string, { host, scope = "project", folder, path }: FileOptions): ReadResult {
  const rules = rulesOf(host);
  const keys = path ?? rules.locations(placeOf({}))[0]?.path ?? ["mcpServers"];
  return readLocation(rules, { file, scope, folder, path: keys });
}

function readLocation(rules: HostRules, location: FoundLocation): ReadResult {
  const { file } = location;
  try {
    const content = readTrusted(file, rules.limit);
    if (!content) return { servers: [], problems: [] };
    return readText(rules, location, decode(content.bytes, file));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { message, cure, position } = error;
    return { servers: [], problems: [{ message, cure, file, position }] };
  }
}

/** Parses a file. Throws `ConfigError` with the position. */
export function parseConfig(rules: HostRules, file: string, text: string): ParsedConfig {
  try {
    return rules.format.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { position } = error;
    throw new ConfigError("invalid_file", error.message, { file, position, cure: "Correct the file by hand." });
  }
}

function readText(rules: HostRules, location: FoundLocation, text: string): ReadResult {
  const { file, path } = location;
  const parsed = parseConfig(rules, file, text);
  const invalid = path.findIndex((_, index) => !isTable(valueAt(parsed.value, path.slice(0, index)) ?? {}));
  const table = valueAt(parsed.value, path) ?? {};
  if (invalid !== -1 || !isTable(table)) {
    const position = parsed.positionOf(invalid === -1 ? path : path.slice(0, invalid)) ?? { line: 1, column: 1 };
    const subject = invalid === 0 ? "The file" : quoted(String(path[invalid === -1 ? path.length - 1 : invalid - 1]));
    throw new ConfigError("invalid_file", `${subject} must contain an object.`, { file, position });
  }
  const servers = Object.entries(table).flatMap(([name, value]) => {
    const server = readServer(rules, { location, parsed }, { name, value });
    return server ? [server] : [];
  });
  return { servers, problems: [] };
}

interface Source {
  readonly location: FoundLocation;
  readonly parsed: ParsedConfig;
}

function readServer(
  rules: HostRules,
  { location: { file, scope, folder, path }, parsed }: Source,
  { name, value }: { name: string; value: unknown },
): ConfiguredServer | undefined {
  const place = (...member: readonly string[]) => parsed.positionOf([...path, name, ...member]);
  const start = place() ?? { line: 1, column: 1 };
  const base = { host: rules.id, name, scope, file, folder, line: start.line };
  const positionOf = (...member: readonly string[]): Position => place(...member) ?? start;
  try {
    const entry: ReadEntry | undefined = rules.read(readEntry(value, rules.syntax));
    return entry && { ...base, ...entry, problems: [], positionOf };
  } catch (error) {
    if (!(error instanceof InvalidEntry)) throw error;
    const position = positionOf(...error.path);
    const { message } = new ConfigError("invalid_entry", `Server ${quoted(name)}: ${error.message}.`, {
      file,
      position,
    });
    return { ...base, target: undefined, isDisabled: false, problems: [{ message, file, position }], positionOf };
  }
}
