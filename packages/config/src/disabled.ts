import { ConfigError, type Position, quoteName } from "./config-error.ts";
import { type ConfigFiles, toProblem } from "./files/config-files.ts";
import { isTable, memberOf, valueAt } from "./formats/format.ts";
import type { DisabledList, HostRules } from "./hosts/host.ts";
import type { ConfiguredServer, Problem } from "./model.ts";
import type { FoundLocation } from "./place.ts";

/** A server, and the file and the position of the member that disables it. */
interface DisabledPlace {
  readonly name: string;
  readonly file: string;
  readonly position: Position | undefined;
}

/** Returns the error for the use of a server that `disabled` or `enabled` disables. */
export function disabledByMember(member: "disabled" | "enabled", place: DisabledPlace): ConfigError {
  const isDisabled = member === "disabled";
  return disabledError(place, `"${member}" is ${isDisabled}`, `Set "${member}" to ${!isDisabled}, or remove it.`);
}

function disabledError({ name, ...place }: DisabledPlace, reason: string, cure: string): ConfigError {
  return new ConfigError("disabled", `The server ${quoteName(name)} is disabled: ${reason}.`, { ...place, cure });
}

interface Lists {
  readonly rules: HostRules;
  readonly lists: readonly FoundLocation<DisabledList>[];
  readonly files: ConfigFiles;
}

/** Returns the servers of a host. Those that a list of the host disables are marked, as are those of a list that cannot be read. */
export function withDisabled(
  servers: readonly ConfiguredServer[],
  { rules, lists, files }: Lists,
): readonly ConfiguredServer[] {
  const readLists = lists.map((list) => ({ ...list, problemOf: readList(list, { rules, lists, files }) }));
  return servers.map((server) => {
    if (server.isDisabled || !server.target) return server;
    const scopeLists = readLists.filter(({ disables }) => disables.includes(server.scope));
    const [disabledBy] = scopeLists.flatMap(({ problemOf }) => problemOf?.(server.name) ?? []);
    return disabledBy ? { ...server, isDisabled: true, disabledBy } : server;
  });
}

/** Returns a function for the problem of a name that a list disables. Returns undefined if there is no such list. */
function readList(
  { file, path, folder, isAllowList, ignoresCase }: FoundLocation<DisabledList>,
  { rules, files }: Lists,
): ((name: string) => Problem | undefined) | undefined {
  const place = { host: rules.id, file, folder };
  const config = files.read(rules, file, place);
  if (!config) {
    const problem = files.problems.find((one) => one.file === file && one.scope === undefined);
    return problem && (() => problem);
  }
  const value = valueAt(config.value, path);
  if (value === undefined || value === null) return undefined;
  const keyOf = (name: string): string => (ignoresCase ? name.trim().toLowerCase() : name);
  if (isTable(value)) {
    const entries = Object.entries(value).filter(([, entry]) => memberOf(entry, "enabled") === false);
    const names = new Map(entries.map(([name]) => [keyOf(name), name]));
    return (name) => {
      const entry = names.get(keyOf(name));
      if (entry === undefined) return undefined;
      const position = config.positionOf([...path, entry, "enabled"]);
      return toProblem(disabledByMember("enabled", { name, file, position }), place);
    };
  }
  const label = quoteName(String(path.at(-1)));
  const position = config.positionOf(path);
  if (!Array.isArray(value)) {
    const problem = toProblem(
      new ConfigError("invalid_file", `${label} must be an array of names.`, { file, position }),
      place,
    );
    files.problems.push(problem);
    return () => problem;
  }
  const indexes = new Map(value.map((name: unknown, index) => [typeof name === "string" ? keyOf(name) : name, index]));
  return (name) => {
    const index = indexes.get(keyOf(name));
    const isListed = index !== undefined;
    if (isAllowList ? isListed || indexes.size === 0 : !isListed) return undefined;
    const error = isListed
      ? disabledError(
          { name, file, position: config.positionOf([...path, index]) },
          `${label} has its name`,
          `Remove it from ${label}.`,
        )
      : disabledError({ name, file, position }, `${label} does not have its name`, `Add it to ${label}.`);
    return toProblem(error, place);
  };
}
