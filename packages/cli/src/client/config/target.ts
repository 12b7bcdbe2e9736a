import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { HttpConnection } from "mcparley/client";
import { type ConfigEntry, configEntries, configFileNames } from "./config-files.ts";
import { type Target, configTarget, isHttpUrl } from "./config-target.ts";
import { didYouMean } from "../../did-you-mean.ts";
import { UsageError } from "../io.ts";
import { quotedWord } from "../quoted-word.ts";

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
 * above it, and then in the configurations of all hosts. `HOST:NAME` is searched only in those of one host.
 *
 * Rejects with a `UsageError` that has a suggestion for anything else.
 */
export async function resolveTarget(words: TargetWords, surroundings: Surroundings): Promise<Target> {
  return withWords(await findTarget(words, surroundings), words, surroundings);
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
function namedOf({ env: named }: AddedWords, { env }: Surroundings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(named).map(([name, given]) => {
      const value = given ?? env[name];
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
  if (command !== undefined) return started(command, surroundings.cwd);
  if (word === undefined) throw missingTarget(surroundings);
  if (/^https?:\/\//i.test(word)) {
    if (!isHttpUrl(word)) throw new UsageError(`${JSON.stringify(word)} is not a valid URL.`);
    return { kind: "url", url: word, headers: {} };
  }
  if (config !== undefined) {
    const { findInFile, targetOf } = await import("../hosts/find-server.ts");
    return targetOf(findInFile(word, config, surroundings.cwd), surroundings);
  }
  const names: string[] = [];
  // The names of files in a project can have a colon, so they have precedence over HOST:NAME.
  for (const entry of configEntries(surroundings.cwd, surroundings.env)) {
    if (entry.name === word) return configTarget(entry, surroundings.env);
    names.push(entry.name);
  }
  return findInHosts(word, names, surroundings);
}

/** Searches the configurations of hosts. `names` are the names of the files in the folders, for a suggestion. */
async function findInHosts(word: string, names: readonly string[], surroundings: Surroundings): Promise<Target> {
  // Other targets do not wait for the package that reads the configurations.
  const { findServer, readAll, targetOf } = await import("../hosts/find-server.ts");
  const found = readAll(surroundings);
  const server = findServer(word, found);
  if (server) return targetOf(server, surroundings);
  const known = [...names, ...found.servers.flatMap(({ host, name }) => [name, `${host}:${name}`])];
  throw unknownTarget(word, [...new Set(known)], surroundings);
}

function started([command, ...args]: readonly string[], cwd: string): Target {
  if (command === undefined || command === "") {
    throw new UsageError("There is no command after --.", "Such as: mcparley list -- node server.js");
  }
  return { kind: "command", command, args, env: {}, cwd };
}

function missingTarget(surroundings: Surroundings): UsageError {
  const names = knownNames(surroundings);
  const known = names.length > 0 ? ` Names known here: ${names.join(", ")}.` : "";
  return new UsageError(
    "Which server? TARGET is missing.",
    `Give a URL, a name from an mcp.json, or a command after --.${known}`,
  );
}

/** Returns the names of all configured servers. Leaves out the rest if a file is invalid. */
function knownNames({ cwd, env }: Surroundings): string[] {
  const names = new Set<string>();
  const entries: Iterator<ConfigEntry> = configEntries(cwd, env);
  try {
    for (let next = entries.next(); !next.done; next = entries.next()) names.add(next.value.name);
  } catch (error) {
    // The names only improve a hint. The error in the file is reported when a name is looked up.
    if (!(error instanceof UsageError)) throw error;
  }
  return [...names];
}

function unknownTarget(word: string, names: readonly string[], surroundings: Surroundings): UsageError {
  return new UsageError(`There is no server ${JSON.stringify(word)}.`, hintFor(word, names, surroundings));
}

function hintFor(word: string, names: readonly string[], { cwd, runsTypeScript }: Surroundings): string {
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
  if (names.length > 0) return didYouMean(word, names);
  return `No ${configFileNames.join(", ")} here or above and no host names a server. Give a URL, or a command after --.`;
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
  const known = runners.find(([end]) => end.test(word))?.[1];
  const runner = known === "npx tsx" && runsTypeScript ? "node" : known;
  if (runner !== undefined) return `${runner} ${quotedWord(word)}`;
  return quotedWord(/[\\/]/.test(word) ? word : `./${word}`);
}

function isLocal(word: string): boolean {
  return /^(localhost|127\.|\[::1\])/i.test(word);
}
