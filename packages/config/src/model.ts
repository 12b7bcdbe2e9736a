import type { Position } from "./config-error.ts";
import type { ConfigValue } from "./values.ts";

/** The hosts whose configuration the package reads and writes. */
export type HostId =
  | "claude-code"
  | "claude-desktop"
  | "vscode"
  | "cursor"
  | "windsurf"
  | "zed"
  | "codex"
  | "gemini-cli"
  | "goose"
  | "opencode"
  | "mcparley";

/**
 * The users and folders to which a configuration applies: `user` is one user in all folders, `project` is everyone in one folder, and
 * `local` is one user in one folder.
 */
export type Scope = "user" | "project" | "local";

/** A server that the host starts as a program. */
export interface CommandTarget {
  readonly kind: "command";
  readonly command: ConfigValue;
  readonly args: readonly ConfigValue[];
  readonly env: ReadonlyMap<string, ConfigValue>;
  /** The folder in which the program starts. */
  readonly cwd?: ConfigValue | undefined;
  /** A file of `NAME=value` lines that are added to the environment. */
  readonly envFile?: ConfigValue | undefined;
  /** The revision of the protocol, such as `2025-11-25`. Only the host `mcparley` has this member. Default: the client negotiates it. */
  readonly revision?: string | undefined;
}

/** A server at a URL. */
export interface UrlTarget {
  readonly kind: "url";
  readonly url: ConfigValue;
  /** `http` is Streamable HTTP, `sse` the transport of 2024-11-05. */
  readonly transport: "http" | "sse";
  readonly headers: ReadonlyMap<string, ConfigValue>;
  /** As for a program. */
  readonly revision?: string | undefined;
}

/** A server as configured, in the same form for every host. References are not expanded: see `expandTarget`. */
export type ServerTarget = CommandTarget | UrlTarget;

/** A problem of a file or an entry. It contains no value of `env`, `headers` or a URL. */
export interface Problem {
  readonly message: string;
  readonly cure?: string | undefined;
  readonly file: string;
  readonly position?: Position | undefined;
  readonly host: HostId;
  /** The scope of the servers in the file. Undefined if the file only disables servers. */
  readonly scope?: Scope | undefined;
  /** The folder to which the file applies. Undefined in the `user` scope. */
  readonly folder?: string | undefined;
}

/** One server of a configuration file. */
export interface ConfiguredServer {
  readonly host: HostId;
  readonly name: string;
  readonly scope: Scope;
  readonly file: string;
  /** The line of the entry, from 1. */
  readonly line: number;
  /** The folder to which the entry applies. Undefined in the `user` scope. */
  readonly folder: string | undefined;
  /** Undefined if the entry is invalid: see `problems`. */
  readonly target: ServerTarget | undefined;
  /** Whether the host does not use the server. A program should not use it either. */
  readonly isDisabled: boolean;
  /** The member that disables the server: `disabled` or `enabled` of the entry, or a list of the host. Undefined if the server is enabled. */
  readonly disabledBy: Problem | undefined;
  readonly problems: readonly Problem[];
  /** Returns the position of a member of the entry, such as `("env", "TOKEN")`, or of the entry if it has no such member. */
  readonly positionOf: (...path: readonly string[]) => Position;
  /** Returns the entry as the file has it, before references are filled in. It can contain secrets. */
  readonly rawEntry: () => unknown;
}
