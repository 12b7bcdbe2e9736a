import { homedir } from "node:os";
import { basename, resolve, sep } from "node:path";
import { parseEnv } from "node:util";
import type { HttpConnection } from "mcparley/client";
import type { Origin } from "./approval.ts";
import type { ConfigEntry } from "./config-files.ts";
import { readTrusted } from "./trusted-file.ts";
import { UsageError } from "../io.ts";
import { isObject } from "../json.ts";

/** A server to connect to, or a program to start. */
export type Target =
  | { kind: "url"; url: string; headers: Record<string, string>; connection?: HttpConnection; origin?: Origin }
  | { kind: "command"; command: string; args: string[]; env: Record<string, string>; cwd: string; origin?: Origin };

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Converts an entry of a configuration file to a target. Throws `UsageError` with the file and line. */
export function configTarget(entry: ConfigEntry, env: Variables["env"]): Target {
  const reader = new EntryReader(entry, env);
  const command = reader.text("command");
  const url = reader.text("url");
  if (command !== undefined && url !== undefined) throw reader.error('has both "command" and "url"; keep one');
  if (command !== undefined) return commandTarget(command, reader);
  if (url === undefined) throw reader.error('needs a "command" to start or a "url" to connect to');
  if (!isHttpUrl(url)) {
    throw reader.error(`has the "url" ${reader.written("url")}, which is not an http or https URL`, "url");
  }
  return { kind: "url", url, headers: reader.texts("headers"), origin: reader.origin({}) };
}

function commandTarget(command: string, reader: EntryReader): Target {
  const { workspaceFolder } = reader.variables;
  const envFile = reader.text("envFile");
  const fromFile = envFile === undefined ? {} : readEnvFile(resolve(workspaceFolder, envFile));
  const cwd = resolve(workspaceFolder, reader.text("cwd") ?? ".");
  return {
    kind: "command",
    command,
    args: reader.list("args"),
    env: { ...fromFile, ...reader.texts("env") },
    cwd,
    origin: reader.origin({ cwd, envFile: Object.keys(fromFile) }),
  };
}

function readEnvFile(file: string): Record<string, string> {
  const text = readTrusted(file);
  if (text === undefined) throw new UsageError(`The envFile ${file} does not exist, or is not a file.`);
  return parseEnv(text) as Record<string, string>;
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

  /** Returns a member as written in the file, for errors. The values of its variables may be secret. */
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

  /** Returns the entry as written, for the user's approval. */
  origin({ cwd, envFile = [] }: { cwd?: string; envFile?: string[] }): Origin {
    const { file, name } = this.#entry;
    const command = this.#get("command");
    const args = this.#get("args");
    const url = this.#get("url");
    const [headers, env] = [this.#written("headers"), this.#written("env")];
    return {
      file,
      name,
      folder: this.variables.workspaceFolder,
      ...(command !== undefined && { command: [command, ...(Array.isArray(args) ? args : [])].map(String) }),
      ...(cwd !== undefined && { cwd }),
      ...(typeof url === "string" && { url }),
      headers,
      env,
      envFile,
      sends: typeof url === "string" ? variablesIn([url, ...Object.values(headers)].join("\n")) : [],
    };
  }

  #written(key: string): Record<string, string> {
    const value = this.#get(key);
    const members = Object.entries(isObject(value) ? value : {}).filter(([, member]) => member !== null);
    return Object.fromEntries(members.map(([name, member]) => [name, String(member)]));
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

/** The values of the variables in a configuration file. */
interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the file belongs to: the one that holds it, or holds its `.vscode` or `.cursor`. */
  readonly workspaceFolder: string;
  /** The file, for errors. */
  readonly source: string;
}

const reference = /\$\{([^{}]*)\}/g;

/**
 * Replaces `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${workspaceFolder}` and the other variables that editors know.
 *
 * Throws `UsageError` for a variable without a value. Otherwise a server would start with incomplete settings and fail later,
 * far from the cause. `where` names the setting and its line.
 */
export function substitute(text: string, variables: Variables, where: string): string {
  return text.replace(reference, (whole: string, name: string) => {
    const value = valueOf(name, variables);
    if (value !== undefined) return value;
    throw new UsageError(`${where} uses ${whole}, ${whyUnset(name)}.`, cureFor(name));
  });
}

function valueOf(name: string, { env, workspaceFolder }: Variables): string | undefined {
  if (name === "workspaceFolder") return workspaceFolder;
  if (name === "workspaceFolderBasename") return basename(workspaceFolder);
  if (name === "userHome") return homedir();
  if (name === "pathSeparator" || name === "/") return sep;
  if (name.startsWith("env:")) return env[name.slice("env:".length)];
  const [, variable, , fallback] = /^([A-Za-z_]\w*)(:-(.*))?$/s.exec(name) ?? [];
  if (variable === undefined) return undefined;
  // As in a shell, `:-` also replaces a variable that is set to nothing.
  if (fallback !== undefined) return env[variable] || fallback;
  return env[variable];
}

/** Returns the names of the environment variables that a text refers to. */
function variablesIn(text: string): string[] {
  const names = [...text.matchAll(reference)].map(([, name = ""]) => /^(?:env:)?([A-Za-z_]\w*)/.exec(name)?.[1]);
  const own = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", undefined];
  return [...new Set(names)].filter((name): name is string => !own.includes(name));
}

function whyUnset(name: string): string {
  if (name.startsWith("input:")) return "which only an editor can ask for";
  if (/^(env:)?[A-Za-z_]\w*$/.test(name)) return "and that environment variable is not set";
  return "which is not a known variable";
}

function cureFor(name: string): string {
  if (name.startsWith("input:")) return "Write ${env:NAME} instead and set that environment variable.";
  const variable = /^(?:env:)?([A-Za-z_]\w*)$/.exec(name)?.[1];
  if (variable !== undefined) return `Set it: ${variable}=... mcparley ...`;
  return "Known variables are ${env:NAME}, ${NAME}, ${NAME:-default}, ${workspaceFolder}, ${userHome} and ${pathSeparator}.";
}
