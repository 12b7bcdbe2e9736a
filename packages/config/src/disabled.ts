import { ConfigError, type Position, quoted } from "./config-error.ts";
import { type ConfigFiles, toProblem } from "./files/config-files.ts";
import { isTable, memberOf, valueAt } from "./formats/format.ts";
import type { DisabledList, HostRules } from "./hosts/host.ts";
import type { ConfiguredServer } from "./model.ts";
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
  return new ConfigError("disabled", `The server ${quoted(name)} is disabled: ${reason}.`, { ...place, cure });
}

interface Lists {
  readonly rules: HostRules;
  readonly lists: readonly FoundLocation<DisabledList>[];
  readonly files: ConfigFiles;
}

/** Returns the servers of a host. Those that a list of the host disables are marked. */
export function withDisabled(
  servers: readonly ConfiguredServer[],
  { rules, lists, files }: Lists,
): readonly ConfiguredServer[] {
  const readable = lists.flatMap((list) => {
    const place = { host: rules.id, file: list.file, folder: list.folder };
    const errorOf = readList(list, { rules, lists, files });
    return errorOf ? [{ list, errorOf, place }] : [];
  });
  return servers.map((server) => {
    if (server.isDisabled || !server.target) return server;
    for (const { list, errorOf, place } of readable) {
      const error = list.disables.includes(server.scope) ? errorOf(server.name) : undefined;
      if (error) return { ...server, isDisabled: true, disabledBy: toProblem(error, place) };
    }
    return server;
  });
}

/** Returns a function for the names that a list disables. Returns undefined if there is no such list. */
function readList(
  { file, path, folder, isAllowList, ignoresCase }: FoundLocation<DisabledList>,
  { rules, files }: Lists,
): ((name: string) => ConfigError | undefined) | undefined {
  const place = { host: rules.id, file, folder };
  const parsed = files.read(rules, file, place);
  const value = parsed && valueAt(parsed.value, path);
  if (!parsed || value === undefined || value === null) return undefined;
  const keyOf = (name: string): string => (ignoresCase ? name.trim().toLowerCase() : name);
  if (isTable(value)) {
    const entries = Object.entries(value).filter(([, entry]) => memberOf(entry, "enabled") === false);
    const names = new Map(entries.map(([name]) => [keyOf(name), name]));
    return (name) => {
      const entry = names.get(keyOf(name));
      if (entry === undefined) return undefined;
      return disabledByMember("enabled", { name, file, position: parsed.positionOf([...path, entry, "enabled"]) });
    };
  }
  const label = quoted(String(path.at(-1)));
  if (!Array.isArray(value)) {
    return void files.try(place, () => {
      throw new ConfigError("invalid_file", `${label} must be an array of names.`, {
        file,
        position: parsed.positionOf(path),
      });
    });
  }
  const indexes = new Map(value.map((name: unknown, index) => [typeof name === "string" ? keyOf(name) : name, index]));
  return (name) => {
    const index = indexes.get(keyOf(name));
    if (isAllowList) {
      if (index !== undefined || indexes.size === 0) return undefined;
      const position = parsed.positionOf(path);
      return disabledError({ name, file, position }, `${label} does not have its name`, `Add it to ${label}.`);
    }
    if (index === undefined) return undefined;
    const position = parsed.positionOf([...path, index]);
    return disabledError({ name, file, position }, `${label} has its name`, `Remove it from ${label}.`);
  };
}
