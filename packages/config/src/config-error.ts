/**
 * The reason of a `ConfigError`:
 *
 * - `conflict`: the file changed since the plan, or another process writes it
 * - `untrusted`: another user owns the file or can write to it
 * - `unreadable`: the file cannot be read or written, or is too large
 * - `invalid_file`: the file is not valid JSON, TOML, YAML or UTF-8
 * - `invalid_entry`: an entry or its target is invalid
 * - `invalid_name`: the host does not accept the name
 * - `exists`: the name is in use
 * - `not_found`: there is no such server or file
 * - `unsupported`: the host cannot express the target, or the text cannot be edited safely
 * - `disabled`: the configuration disables the server
 * - `unset_reference`: a referenced variable, input or file has no value
 */
export type ConfigErrorCode =
  | "conflict"
  | "untrusted"
  | "unreadable"
  | "invalid_file"
  | "invalid_entry"
  | "invalid_name"
  | "exists"
  | "not_found"
  | "unsupported"
  | "disabled"
  | "unset_reference";

/** A position in a file. Both numbers count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The place of a `ConfigError` and its cure. */
export interface ConfigErrorDetails {
  /** The action that solves the problem. */
  readonly cure?: string;
  readonly file?: string;
  readonly position?: Position | undefined;
}

/**
 * An error of a configuration file. The message has the file, the line and the column, and contains no value of `env`, `headers`
 * or a URL.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code: ConfigErrorCode;
  readonly cure: string | undefined;
  readonly file: string | undefined;
  readonly position: Position | undefined;

  constructor(code: ConfigErrorCode, fact: string, { cure, file, position }: ConfigErrorDetails = {}) {
    super([placeOf(file, position) + fact, cure].filter(Boolean).join(" "));
    this.code = code;
    this.cure = cure;
    this.file = file;
    this.position = position;
  }
}

function placeOf(file: string | undefined, position: Position | undefined): string {
  if (file === undefined) return "";
  return position ? `${file}:${position.line}:${position.column}: ` : `${file}: `;
}

/** Returns a name from a file in quotes, without characters that control a terminal or change the direction of text. */
export function quoteName(name: string): string {
  const short = name.length > 100 ? `${name.slice(0, 100)}...` : name;
  return JSON.stringify(short).replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** Returns the `code` of an error of the file system, such as `ENOENT`. The message of such an error repeats the path. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "an unknown error";
}
