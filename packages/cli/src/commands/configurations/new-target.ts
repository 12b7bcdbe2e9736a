import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { ConfigValue, ConfiguredServer, Reference, ServerTarget } from "@mcparley/config";
import { type Target, isHttpUrl } from "../../targets/target.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import type { AddOptions } from "./options.ts";
import { readRunner } from "../../targets/package-runner.ts";
import { hasReference, isSecretName, isSecretValue, safeWord } from "@mcparley/internal/secret-values";

type Words = Pick<AddOptions, "env" | "header">;

/** A server to add to hosts. */
export interface NewServer {
  readonly target: ServerTarget;
  /** The entry of another configuration that is copied. Undefined for a server of the command line. */
  readonly origin?: ConfiguredServer;
}

/** Returns a text of the command line with its references, `${env:NAME}` or `${NAME}`. */
function parseReferences(text: string): ConfigValue {
  const parts: (string | Reference)[] = text
    .split(/(\$\{(?:env:)?[A-Za-z_]\w*\})/)
    .filter((part) => part !== "")
    .map((part) => {
      const name = /^\$\{(?:env:)?([A-Za-z_]\w*)\}$/.exec(part)?.[1];
      return name === undefined ? part : { kind: "env", name };
    });
  return parts.every((part) => typeof part === "string") ? text : parts;
}

/** Returns the target of a URL. Throws `UsageError` for a secret in the URL or in a header. */
export function urlTarget(url: string, { env, header }: Words): ServerTarget {
  if (!isHttpUrl(url.replaceAll(/\$\{[^{}]*\}/g, "x")))
    throw new UsageError("TARGET is not a valid http or https URL.");
  if (Object.keys(env).length > 0)
    throw new UsageError("--env applies to servers that the host starts. This server is at a URL.");
  if (hasSecret(url)) {
    throw new UsageError(
      "The URL contains a secret.",
      "Write a reference in its place, in single quotes: '${env:NAME}'",
    );
  }
  const values = Object.entries(header).map(([name, value]) => [name, headerValue(name, value)] as const);
  return { kind: "url", url: parseReferences(url), transport: "http", headers: new Map(values) };
}

/** Whether a URL has user information, or a query parameter whose name or value is that of a secret. */
export function hasSecret(url: string): boolean {
  if (/^\w+:\/\/[^/?#]*@/.test(url)) return true;
  const parameters = [...url.matchAll(/[?&]([^=&#]*)=([^&#]*)/g)];
  return parameters.some(
    ([, name = "", value = ""]) => (isSecretName(name) || isSecretValue(value)) && !hasReference(value) && value !== "",
  );
}

function headerValue(name: string, value: string): ConfigValue {
  if ((isSecretName(name) || isSecretValue(value)) && !hasReference(value)) {
    const form = name.toLowerCase() === "authorization" ? "Bearer ${env:NAME}" : "${env:NAME}";
    throw new UsageError(
      `--header ${name}: the value looks like a secret, which must not be in a configuration file.`,
      `Write a reference to a variable, in single quotes: --header '${name}: ${form}'`,
    );
  }
  return parseReferences(value);
}

/** Returns the target of a command. Throws `UsageError` for a secret in its words or in `--env`. */
export function commandTarget(words: readonly string[], { env, header }: Words): ServerTarget {
  const [command, ...args] = words;
  if (command === undefined || command === "") {
    throw new UsageError("There is no command after --.", "Such as: mcparley add --to cursor -- node server.js");
  }
  if (Object.keys(header).length > 0) throw new UsageError("--header applies to servers at a URL.");
  requireNoSecrets(words);
  const values = Object.entries(env).map(([name, value]) => [name, variable(name, value)] as const);
  return { kind: "command", command: parseReferences(command), args: args.map(parseReferences), env: new Map(values) };
}

/** Whether the value of a header or a variable looks like a secret. */
function isSecretPair(name: string, value: string): boolean {
  return isSecretName(name) || isSecretValue(value);
}

/** Returns the index of the first word that looks like a secret, or -1. */
export function secretWordOf(words: readonly string[]): number {
  return words.findIndex((word, index) =>
    /^https?:\/\//i.test(word) ? hasSecret(word) : safeWord(words, index, isSecretPair) !== word,
  );
}

/** Throws `UsageError` with the number of the word that looks like a secret. The word is not repeated. */
function requireNoSecrets(words: readonly string[]): void {
  const index = secretWordOf(words);
  if (index === -1) return;
  throw new UsageError(
    `Word ${index + 1} of the command looks like a secret, which must not be in a configuration file.`,
    "Pass it in a variable with --env NAME, or write a reference in its place, in single quotes: '${env:NAME}'",
  );
}

function variable(name: string, value: string | undefined): ConfigValue {
  if (value === undefined) return [{ kind: "env", name }];
  if ((isSecretName(name) || isSecretValue(value)) && !hasReference(value) && value !== "") {
    throw new UsageError(
      `--env ${name}=...: the value looks like a secret, which must not be in a configuration file.`,
      `Set the variable ${name} in your environment, and write --env ${name}.`,
    );
  }
  return parseReferences(value);
}

/** Returns the target of a project's file with absolute paths, for a file that is not read in the folder of the project. */
export function withAbsoluteTarget(target: ServerTarget, folder: string): ServerTarget {
  if (target.kind === "url") return target;
  const { command, args, cwd = ".", envFile } = target;
  if (typeof cwd !== "string") return target;
  const words = [command, ...args];
  const paths = withAbsolutePaths(
    words.map((word) => (typeof word === "string" ? word : "-")),
    resolve(folder, cwd),
  );
  const [first = command, ...newArgs] = words.map((word, index) => (typeof word === "string" ? paths[index]! : word));
  return {
    ...target,
    command: first,
    args: newArgs,
    ...(target.cwd !== undefined && { cwd: resolve(folder, cwd) }),
    ...(typeof envFile === "string" && { envFile: resolve(folder, envFile) }),
  };
}

/** Returns words in which the paths of files are absolute, because a host starts the program in a folder of its choice. */
export function withAbsolutePaths(words: readonly string[], cwd: string): string[] {
  if (readRunner(words)) return [...words];
  return words.map((word) => {
    const isPath = /[\\/]/.test(word) || /\.(?:[cm]?[jt]s|py|sh)$/i.test(word);
    if (!isPath || word.startsWith("-") || isAbsolute(word)) return word;
    const path = resolve(cwd, word);
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? path : word;
  });
}

/** Returns a server of the command line with the values of its variables, as it is connected to. */
export function expandNew(target: ServerTarget, { cwd, env: variables }: Pick<CommandIo, "cwd" | "env">): Target {
  const expand = (value: ConfigValue): string => {
    if (typeof value === "string") return value;
    return value
      .map((part) => (typeof part === "string" ? part : part.kind === "env" ? variables[part.name] : ""))
      .join("");
  };
  const expandTable = (table: ReadonlyMap<string, ConfigValue>): Record<string, string> =>
    Object.fromEntries([...table].map(([name, value]) => [name, expand(value)]));
  const { revision } = target;
  const facts = revision === undefined ? {} : { revision };
  if (target.kind === "url")
    return { kind: "url", url: expand(target.url), headers: expandTable(target.headers), ...facts };
  const { command, args, env } = target;
  return { kind: "command", command: expand(command), args: args.map(expand), env: expandTable(env), cwd, ...facts };
}
