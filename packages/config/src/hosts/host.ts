import { posix, win32 } from "node:path";
import type { ConfigFormat, Path } from "../formats/format.ts";
import type { HostId, Scope, ServerTarget } from "../model.ts";
import type { ReferenceSyntax } from "../values.ts";
import type { EntryReader } from "./entry-reader.ts";

/** The machine and the folder whose configuration is meant. */
export interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly folder: string;
}

/** A file that can configure servers. */
export interface ConfigLocation {
  readonly scope: Scope;
  readonly file: string;
  /** The keys from the root of the file to its table of servers. */
  readonly path: Path;
  /** Whether the file is that of another host, so that no new server is written to it. */
  readonly isForeign?: boolean;
}

/**
 * A list of the names of servers that a host does not use, or a table of entries such as `{ "notes": { "enabled": false } }`. `path` are
 * the keys from the root of the file to it.
 */
export interface DisabledList extends ConfigLocation {
  /** The scopes of the servers that it can disable. */
  readonly disables: readonly Scope[];
  /** Whether it disables the servers that it does not name. An empty list then disables none. */
  readonly isAllowList?: boolean;
  /** Whether the host compares names without case. */
  readonly ignoresCase?: boolean;
}

/** The references that a host replaces in the values of an entry. */
export interface ReferenceSupport {
  /**
   * The values in which an environment variable can be referred to: anywhere in a text (`text`), only in `env` under the same name and
   * in headers (`member`), or nowhere (`none`).
   */
  readonly env: "text" | "member" | "none";
  /** Whether the host asks the user for inputs. */
  readonly input: boolean;
  /** An example of a reference to the variable `NAME`, for help texts. */
  readonly example: string | undefined;
}

/** A host and the form of its configuration. */
export interface Host {
  readonly id: HostId;
  readonly title: string;
  /** The URL of the documentation that the implementation follows. */
  readonly documentation: string;
  readonly transports: readonly ("stdio" | "http" | "sse")[];
  readonly references: ReferenceSupport;
  /** The command that shows the configured servers. */
  readonly check?: readonly string[];
}

/** The rules of a host's configuration. */
export interface HostRules extends Host {
  readonly format: ConfigFormat;
  /** Maximum size of a file in bytes. Default: 1 MiB. */
  readonly limit?: number;
  readonly syntax: ReferenceSyntax;
  /** Returns the files of a scope in their order of use: a new server is written to the first that exists, or else to the first. */
  readonly locations: (place: Place) => readonly ConfigLocation[];
  /** Returns the reason why a name is refused. */
  readonly refuseName: (name: string) => string | undefined;
  /** Returns the lists with which the host disables servers outside of their entries. */
  readonly disabledLists?: (place: Place) => readonly DisabledList[];
  /** Returns undefined if the entry is no MCP server, such as a built-in extension. */
  readonly read: (entry: EntryReader) => ServerTarget | undefined;
  /** The members that `write` sets. All others of an entry are kept. */
  readonly members: readonly string[];
  /** Returns the members of a target. Throws `UnsupportedTarget`. */
  readonly write: (target: ServerTarget) => Readonly<Record<string, unknown>>;
  /** Returns the members that a new entry has in addition. */
  readonly defaults?: (name: string) => Readonly<Record<string, unknown>>;
}

/** The host cannot express a target. */
export class UnsupportedTarget extends Error {
  readonly cure: string;

  constructor(message: string, cure: string) {
    super(message);
    this.cure = cure;
  }
}

/**
 * Returns the `locations` of a host whose files have the servers in one table: the file of the user, if the host exists on the platform, and
 * a file in the folder of a project.
 */
export function filesWith(
  table: string,
  user: (place: Place) => string | undefined,
  project?: string,
): HostRules["locations"] {
  return (place) => {
    const files = [
      ["user", user(place)],
      ["project", project && join(place, place.folder, project)],
    ] as const;
    return files.flatMap(([scope, file]) => (file === undefined ? [] : [{ scope, file, path: [table] }]));
  };
}

/** Joins paths by the rule of the platform of a place. */
export function join({ platform }: Pick<Place, "platform">, ...parts: readonly string[]): string {
  return (platform === "win32" ? win32 : posix).join(...parts);
}

/** Returns the folder of the user's application settings: `%APPDATA%`, `~/Library/Application Support`, or `~/.config`. */
export function settingsFolder(place: Place): string {
  if (place.platform === "win32") return place.env["APPDATA"] || join(place, place.home, "AppData", "Roaming");
  if (place.platform === "darwin") return join(place, place.home, "Library", "Application Support");
  return xdgFolder(place);
}

/** Returns `$XDG_CONFIG_HOME`, or else `~/.config`. A relative path must be ignored (XDG Base Directory Specification). */
export function xdgFolder(place: Place): string {
  const folder = place.env["XDG_CONFIG_HOME"];
  return folder?.startsWith("/") ? folder : join(place, place.home, ".config");
}

/** Refuses names that a file or a terminal cannot show. Programs in JavaScript lose an entry with the name `__proto__`. */
export function refuseUnreadable(name: string): string | undefined {
  if (name.trim() === "") return "it is empty";
  if (name.length > 200) return "it has more than 200 characters";
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(name)) return "it has a control character";
  return undefined;
}

export function refuseForScripts(name: string): string | undefined {
  return name === "__proto__" ? "the host loses an entry of this name" : refuseUnreadable(name);
}
