import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { ConfigEntry } from "./config-files.ts";
import { UsageError } from "./io.ts";
import { isObject } from "./is-object.ts";
import { type Variables, substitute } from "./substitute.ts";
import type { Target } from "./target.ts";

/** Turns an entry of a configuration file, of whichever dialect, into what can be connected to. */
export function configTarget(entry: ConfigEntry, env: Variables["env"]): Target {
  const reader = new EntryReader(entry, env);
  const command = reader.text("command");
  const url = reader.text("url");
  if (command !== undefined && url !== undefined) throw reader.error('has both "command" and "url"; keep one');
  if (command !== undefined) return commandTarget(command, reader);
  if (url === undefined) throw reader.error('needs a "command" to start or a "url" to connect to');
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw reader.error(`has the "url" ${reader.written("url")}, which is not an http or https URL`, "url");
  }
  return { kind: "url", url, headers: reader.texts("headers") };
}

function commandTarget(command: string, reader: EntryReader): Target {
  const { workspaceFolder } = reader.variables;
  const envFile = reader.text("envFile");
  return {
    kind: "command",
    command,
    args: reader.list("args"),
    env: { ...(envFile === undefined ? {} : readEnvFile(resolve(workspaceFolder, envFile))), ...reader.texts("env") },
    cwd: resolve(workspaceFolder, reader.text("cwd") ?? "."),
  };
}

function readEnvFile(file: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(file, "utf8")) as Record<string, string>;
  } catch (error) {
    throw new UsageError(`The envFile ${file} cannot be read: ${(error as Error).message}`);
  }
}

class EntryReader {
  readonly variables: Variables;
  readonly #entry: ConfigEntry;
  readonly #members: Record<string, unknown>;

  constructor(entry: ConfigEntry, env: Variables["env"]) {
    this.#entry = entry;
    this.variables = { env, workspaceFolder: entry.workspaceFolder, source: entry.file };
    if (!isObject(entry.value)) throw this.error("must be an object");
    this.#members = entry.value;
  }

  text(key: string): string | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw this.error(`must have a string as its "${key}"`, key);
    return this.#substitute(value, key);
  }

  /** A member as it stands in the file, for errors: what its variables stand for may be a secret. */
  written(key: string): string {
    return JSON.stringify(this.#get(key));
  }

  list(key: string): string[] {
    const value = this.#get(key) ?? [];
    if (!Array.isArray(value)) throw this.error(`must have an array of strings as its "${key}"`, key);
    return value.map((item: unknown, index) => this.#scalar(item, key, String(index)));
  }

  texts(key: string): Record<string, string> {
    const value = this.#get(key) ?? {};
    if (!isObject(value)) throw this.error(`must have an object of strings as its "${key}"`, key);
    // VS Code allows null for "not set".
    const given = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(given.map(([name, member]) => [name, this.#scalar(member, key, name)]));
  }

  error(problem: string, ...path: string[]): UsageError {
    const { file, name } = this.#entry;
    return new UsageError(`${file}:${this.#entry.lineOf(...path) ?? 1}: the server "${name}" ${problem}.`);
  }

  #get(key: string): unknown {
    return Object.hasOwn(this.#members, key) ? (this.#members[key] ?? undefined) : undefined;
  }

  #scalar(value: unknown, ...path: string[]): string {
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (typeof value === "string") return this.#substitute(value, ...path);
    throw this.error(`must have a string as its "${path.join(".")}"`, ...path);
  }

  #substitute(value: string, ...path: string[]): string {
    const { file, name } = this.#entry;
    const where = `${file}:${this.#entry.lineOf(...path) ?? 1}: "${path.join(".")}" of the server "${name}"`;
    return substitute(value, this.variables, where);
  }
}
