import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ReadResult } from "@mcparley/config";
import type { HttpConnection } from "mcparley/client";
import type { ApprovalSetting } from "./approval.ts";
import { type Target, isHttpUrl } from "./target.ts";
import { didYouMean, nearest } from "../terminal/did-you-mean.ts";
import { UsageError } from "../terminal/io.ts";
import { quotedWord } from "../terminal/quoted-word.ts";

/** The words of the command line that choose the server. */
export interface TargetWords {
  /** The word TARGET. Undefined if a command after `--` replaces it. */
  readonly word: string | undefined;
  /** The words after `--`. Undefined without `--`. */
  readonly command: readonly string[] | undefined;
  /** `--header`, `--env` and `--env-all`, read. */
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly envAll?: boolean;
  /** The file of `--config`. */
  readonly config?: string | undefined;
  /** The proxy and the certificates of the options. */
  readonly connection?: HttpConnection | undefined;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the platform of the process. */
  readonly platform?: NodeJS.Platform;
  /** Whether this Node runs TypeScript. Default: the value that it reports. */
  readonly runsTypeScript?: boolean;
}

/**
 * Resolves TARGET: a URL, the command after `--`, or a name. A name is searched in the nearest configuration file of this folder or one
 * above it, and then in the configurations of all hosts. `HOST:NAME` is searched in those of one host. A disabled server is refused.
 *
 * Rejects with a `UsageError` that has a suggestion for anything else.
 */
export async function resolveTarget(words: TargetWords, surroundings: Surroundings): Promise<Target> {
  return withWords(await findTarget(words, surroundings), words, surroundings);
}

/** Loads the code that needs the package of configurations. */
export const loadConfigured = () => import("./configured.ts");

/** Asks whether the server of a configuration may be started or connected to. Throws `Declined` on a no. */
export async function approveTarget({ origin }: Target, setting: ApprovalSetting): Promise<void> {
  if (origin) await (await loadConfigured()).approve(origin, setting);
}

/** The words of the command line that add to a target. */
type AddedWords = Pick<TargetWords, "headers" | "env" | "envAll" | "connection">;

/** Returns a target with the headers, the variables and the connection of the command line. Throws `UsageError` if one does not apply. */
export function withWords(target: Target, words: AddedWords, surroundings: Surroundings): Target {
  if (target.kind === "url") {
    if (words.envAll || Object.keys(words.env).length > 0) {
      throw new UsageError("--env applies to servers that mcparley starts. This server is at a URL.");
    }
    const { headers, connection } = words;
    return { ...target, headers: { ...target.headers, ...headers }, ...(connection && { connection }) };
  }
  if (words.connection) {
    throw new UsageError(
      `--proxy, --cacert, --cert and --key apply to servers at a URL. "${target.command}" is a program to start.`,
      "A program reads the proxy from its own environment: --env HTTPS_PROXY",
    );
  }
  if (Object.keys(words.headers).length > 0) {
    throw new UsageError(`--header applies to servers at a URL. "${target.command}" is a program to start.`);
  }
  return { ...target, env: { ...shellOf(words, surroundings), ...target.env, ...namedOf(words, surroundings) } };
}

function shellOf({ envAll }: AddedWords, { env }: Surroundings): Record<string, string> {
  if (!envAll) return {};
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Returns the variables of `--env`. One without a value has that of this environment. */
function namedOf({ env: namedVariables }: AddedWords, { env }: Surroundings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(namedVariables).map(([name, typedValue]) => {
      const value = typedValue ?? env[name];
      if (value !== undefined) return [name, value];
      throw new UsageError(`--env ${name}: this variable is not set here.`, `Set it, or write --env ${name}=VALUE.`);
    }),
  );
}

/** Returns the target as it is named, without the other words of the command line. */
export async function findTarget(
  { word, command, config }: Pick<TargetWords, "word" | "command" | "config">,
  surroundings: Surroundings,
): Promise<Target> {
  if (command !== undefined) return startedTarget(command, surroundings.cwd);
  if (word === undefined) throw await missingTarget(surroundings);
  if (/^https?:\/\//i.test(word)) {
    if (!isHttpUrl(word)) throw new UsageError(`${JSON.stringify(word)} is not a valid URL.`);
    return { kind: "url", url: word, headers: {} };
  }
  return findConfigured(word, config, surroundings);
}

/** Returns the target with a name in the configurations. The name can have any form, because other people choose those of a project. */
export async function findConfigured(
  word: string,
  config: string | undefined,
  surroundings: Surroundings,
): Promise<Target> {
  const { findInFile, findServer, readAll, targetOf } = await loadConfigured();
  if (config !== undefined) return targetOf(findInFile(word, config, surroundings), surroundings);
  const result = readAll(surroundings);
  const server = findServer(word, result);
  if (server) return targetOf(server, surroundings);
  throw new UsageError(`There is no server ${JSON.stringify(word)}.`, hintFor(word, result, surroundings));
}

function startedTarget([command, ...args]: readonly string[], cwd: string): Target {
  if (command === undefined || command === "") {
    throw new UsageError("There is no command after --.", "Such as: mcparley list -- node server.js");
  }
  return { kind: "command", command, args, env: {}, cwd };
}

async function missingTarget(surroundings: Surroundings): Promise<UsageError> {
  const { readAll } = await loadConfigured();
  const names = new Set(readAll(surroundings).servers.flatMap(({ name, isDisabled }) => (isDisabled ? [] : [name])));
  const knownNames = names.size > 0 ? ` Names known here: ${[...names].join(", ")}.` : "";
  return new UsageError(
    "Which server? TARGET is missing.",
    `Give a URL, a name from an mcp.json, or a command after --.${knownNames}`,
  );
}

function hintFor(word: string, { servers, problems }: ReadResult, { cwd, runsTypeScript }: Surroundings): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return "Only http and https URLs can be connected to.";
  const path = resolve(cwd, word);
  if (existsSync(path)) {
    const command = statSync(path).isDirectory()
      ? `mcparley serve ${quotedWord(word)} --stdio`
      : commandFor(word, runsTypeScript);
    return `To start a server, write the command after two dashes, last: -- ${command}`;
  }
  if (isPath(word)) {
    return `There is no file ${word} here. To start a server, write the command after two dashes, last: -- ${commandFor(word, runsTypeScript)}`;
  }
  if (/^(localhost|\[?[\da-f.:]+\]?|[\w-]+(\.[\w-]+)+):?\d*(\/|$)/i.test(word) && /[:./]/.test(word)) {
    return `Did you mean http${isLocal(word) ? "" : "s"}://${word}?`;
  }
  const names = [...new Set(servers.map(({ name }) => name))];
  const namesOfHosts = servers.map(({ host, name }) => `${host}:${name}`);
  const nameHint =
    names.length > 0
      ? didYouMean(word, nearest(word, namesOfHosts) === undefined ? names : [...names, ...namesOfHosts])
      : "No file here or above and no host names a server. Give a URL, or a command after --.";
  const problem = problems.find(({ scope }) => scope !== undefined);
  return problem ? `${nameHint} A file was not read, which may have the name: ${problem.message}` : nameHint;
}

/** The program that runs a file, by the end of its name. */
const runners: readonly (readonly [end: RegExp, command: string])[] = [
  [/\.[cm]?js$/i, "node"],
  [/\.[cm]?ts$/i, "npx tsx"],
  [/\.py$/i, "python"],
  [/\.sh$/i, "sh"],
];

function isPath(word: string): boolean {
  return /^(?:\.{0,2}[\\/]|~)/.test(word) || runners.some(([end]) => end.test(word));
}

/** Whether this Node runs TypeScript without a flag. Versions that cannot have no such feature, or have it with the value false. */
const nodeRunsTypeScript = "typescript" in process.features && Boolean(process.features.typescript);

function commandFor(word: string, runsTypeScript = nodeRunsTypeScript): string {
  const program = runners.find(([end]) => end.test(word))?.[1];
  const runner = program === "npx tsx" && runsTypeScript ? "node" : program;
  if (runner !== undefined) return `${runner} ${quotedWord(word)}`;
  return quotedWord(/[\\/]/.test(word) ? word : `./${word}`);
}

function isLocal(word: string): boolean {
  return /^(localhost|127\.|\[::1\])/i.test(word);
}
