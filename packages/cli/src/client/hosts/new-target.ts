import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { ConfigValue, Reference, ServerTarget } from "@mcparley/config";
import { isHttpUrl } from "../config/config-target.ts";
import { UsageError } from "../io.ts";
import type { ClientOptions } from "../options.ts";
import { readRunner } from "./package-runner.ts";
import { hasReference, isSecretName, isSecretValue, safeWords } from "@mcparley/internal/secret-values";

type Words = Pick<ClientOptions, "env" | "headers">;

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
export function urlTarget(url: string, { env, headers }: Words): ServerTarget {
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
  const values = Object.entries(headers).map(([name, value]) => [name, headerValue(name, value)] as const);
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
export function commandTarget(words: readonly string[], { env, headers }: Words): ServerTarget {
  const [command, ...args] = words;
  if (command === undefined || command === "") {
    throw new UsageError("There is no command after --.", "Such as: mcparley add --to cursor -- node server.js");
  }
  if (Object.keys(headers).length > 0) throw new UsageError("--header applies to servers at a URL.");
  requireNoSecrets(words);
  const values = Object.entries(env).map(([name, value]) => [name, variable(name, value)] as const);
  return { kind: "command", command: parseReferences(command), args: args.map(parseReferences), env: new Map(values) };
}

/** Throws `UsageError` with the number of the word that looks like a secret. The word is not repeated. */
function requireNoSecrets(words: readonly string[]): void {
  const shown = safeWords(words);
  const index = words.findIndex((word, at) => (/^https?:\/\//i.test(word) ? hasSecret(word) : shown[at] !== word));
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
  const [first = command, ...others] = words.map((word, index) => (typeof word === "string" ? paths[index]! : word));
  return {
    ...target,
    command: first,
    args: others,
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
