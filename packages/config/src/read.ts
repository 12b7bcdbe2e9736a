import { ConfigError, type Position, quoteName } from "./config-error.ts";
import { disabledByMember, withDisabled } from "./disabled.ts";
import { ConfigFiles, notATable, toProblem } from "./files/config-files.ts";
import { type ParsedConfig, type Path, isTable, memberOf } from "./formats/format.ts";
import { InvalidEntry, disablingMember, readEntry } from "./hosts/entry-reader.ts";
import type { HostRules } from "./hosts/host.ts";
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
 * home folder, the nearest first. Outside of the home folder, the search ends at the root of the file system.
 *
 * An invalid file is a problem of the result, and an invalid entry a problem of its server. Neither hides the others. A disabled server
 * is a part of the result: see `isDisabled`. Values of variables are not filled in: see `expandTarget`.
 *
 * @example
 * ```ts
 * import { readServers } from "@mcparley/config";
 *
 * const { servers, problems } = readServers({ folder: "." });
 * for (const { host, name, scope, file, line, isDisabled } of servers) {
 *   console.log(`${name}${isDisabled ? " (disabled)" : ""}: ${host} (${scope}), ${file}:${line}`);
 * }
 * for (const { file, message } of problems) console.error(file, message);
 * ```
 */
export function readServers(options: ReadOptions = {}): ReadResult {
  const place = placeOf(options);
  const { hosts, scopes } = options;
  const files = new ConfigFiles();
  const servers = allRules
    .filter(({ id }) => hosts?.includes(id) ?? true)
    .flatMap((rules) => {
      const locations = locationsOf((folderPlace) => rules.locations(folderPlace), place);
      const lists = locationsOf((folderPlace) => rules.disabledLists?.(folderPlace) ?? [], place);
      const read = locations
        .filter(({ scope }) => scopes?.includes(scope) ?? true)
        .flatMap((location) => readLocation(rules, location, files));
      return read.length === 0 ? [] : withDisabled(read, { rules, lists, files });
    });
  return { servers, problems: files.problems };
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
  const place = placeOf({});
  const locations = rules.locations(place);
  const keys = path ?? locations[0]?.path ?? ["mcpServers"];
  const files = new ConfigFiles();
  const servers = readLocation(rules, { file, scope, folder, path: keys }, files);
  // A host can have its lists in the file of its servers.
  const lists = (rules.disabledLists?.(place) ?? [])
    .filter((list) => locations.some((location) => location.file === list.file))
    .map((list) => ({ ...list, file, folder }));
  return { servers: withDisabled(servers, { rules, lists, files }), problems: files.problems };
}

function readLocation(rules: HostRules, location: FoundLocation, files: ConfigFiles): ConfiguredServer[] {
  const { file, path, scope, folder } = location;
  const place = { host: rules.id, file, scope, folder };
  const config = files.read(rules, file, place);
  if (!config) return [];
  const table = files.try(place, () => tableAt(config, path, file)) ?? {};
  return Object.entries(table).flatMap(([name, value]) => {
    const server = readServer(rules, { location, config }, { name, value });
    return server ? [server] : [];
  });
}

/** Returns the table of servers. Throws `ConfigError` if a value of the path is no table. */
function tableAt({ value, positionOf }: ParsedConfig, path: Path, file: string): Readonly<Record<string, unknown>> {
  let table: unknown = value;
  for (const [index, key] of path.entries()) {
    table = memberOf(table, key) ?? {};
    if (!isTable(table)) throw notATable(quoteName(String(key)), file, positionOf(path.slice(0, index + 1)));
  }
  return table as Readonly<Record<string, unknown>>;
}

function readServer(
  rules: HostRules,
  { location: { file, scope, folder, path }, config }: { location: FoundLocation; config: ParsedConfig },
  { name, value }: { name: string; value: unknown },
): ConfiguredServer | undefined {
  const find = (...member: readonly string[]) => config.positionOf([...path, name, ...member]);
  const start = find() ?? { line: 1, column: 1 };
  const positionOf = (...member: readonly string[]): Position => find(...member) ?? start;
  const place = { host: rules.id, file, scope, folder };
  const base = { ...place, name, line: start.line, positionOf, rawEntry: () => value };
  try {
    const entry = readEntry(value, rules.syntax);
    if (scope === "project" && allRules.some(({ id }) => name.startsWith(`${id}:`))) {
      throw new InvalidEntry("A project cannot define a name of the form HOST:NAME. Rename it", []);
    }
    const target = rules.read(entry);
    if (!target) return undefined;
    const member = disablingMember(entry);
    if (member === undefined) return { ...base, target, isDisabled: false, disabledBy: undefined, problems: [] };
    const disabledBy = toProblem(disabledByMember(member, { name, file, position: positionOf(member) }), place);
    return { ...base, target, isDisabled: true, disabledBy, problems: [] };
  } catch (error) {
    if (!(error instanceof InvalidEntry)) throw error;
    const fact = `Server ${quoteName(name)}: ${error.message}.`;
    const problem = new ConfigError("invalid_entry", fact, { file, position: positionOf(...error.path) });
    const problems = [toProblem(problem, place)];
    return { ...base, target: undefined, isDisabled: false, disabledBy: undefined, problems };
  }
}
