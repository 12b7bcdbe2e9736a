import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { findExecutable } from "@mcparley/internal/find-executable";
import { isTable } from "./formats/format.ts";
import type { CommandTarget, ConfiguredServer, ServerTarget, UrlTarget } from "./model.ts";
import { referencesIn } from "./target-references.ts";
import { type ConfigValue, formatValue } from "./values.ts";

/**
 * The entry of a server as its file has it: the identity to which consent is bound, and the facts that a person reads before.
 *
 * References are not filled in, so that a renewed token does not change the identity. The values can be secrets that the file contains:
 * replace those that look like secrets before you show them.
 */
export interface EntryIdentity {
  /**
   * SHA-256, as hexadecimal digits, over each member of the entry, the host whose form it has, its folder, the content of its `envFile`,
   * and `executable`. A short value can be guessed from it. Store an HMAC of it, with a secret key of the user.
   */
  readonly digest: string;
  readonly kind: "command" | "url";
  /** The file of the entry. Its path is no part of the digest. */
  readonly file: string;
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /**
   * The executable, without symbolic links, if the entry or its folder chooses it: by a path, by a variable `PATH`, or because it is in
   * the folder. Undefined for a program that the `PATH` of the user chooses.
   */
  readonly executable?: string;
  /** The folder in which the program starts, as an absolute path. */
  readonly cwd?: string;
  /** The variables that the entry and its `envFile` add, by name. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The path of the `envFile`. */
  readonly envFile?: string;
  readonly url?: string;
  /** The headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The variables of the user's environment, and the files, whose values the program or the URL receives. */
  readonly sends: readonly string[];
}

/** The facts of a program that are known after the references of its entry were filled in. */
interface StartedProgram {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The variables of the `envFile`. */
  readonly fromFile: Readonly<Record<string, string>>;
}

/** Returns the identity of the entry of a server at a URL. */
export function identityOfUrl(server: ConfiguredServer, { url, headers }: UrlTarget): EntryIdentity {
  return identify(server, { kind: "url", url: formatValue(url), headers: written(headers) }, []);
}

/** Returns the identity of the entry of a program. `env` is the environment of the user. */
export async function identityOfCommand(
  server: ConfiguredServer,
  target: CommandTarget,
  { program, env }: { program: StartedProgram; env: Readonly<Record<string, string | undefined>> },
): Promise<EntryIdentity> {
  const { cwd, fromFile } = program;
  const executable = await chosenExecutable(program, env);
  const facts = {
    kind: "command",
    command: [target.command, ...target.args].map(formatValue),
    ...(executable !== undefined && { executable }),
    cwd,
    environment: { ...fromFile, ...written(target.env) },
    ...(target.envFile !== undefined && { envFile: formatValue(target.envFile) }),
  } as const;
  return identify(server, facts, [cwd, fromFile, executable]);
}

/** Returns the identity with these facts. `more` is the part of the digest that the entry does not contain. */
function identify(
  server: ConfiguredServer,
  facts: Omit<EntryIdentity, "digest" | "file" | "sends">,
  more: readonly unknown[],
): EntryIdentity {
  const { host, folder = null, file, target } = server;
  const digest = digestOf([host, folder, server.rawEntry(), ...more]);
  return { digest, file, ...facts, sends: target ? sentValues(target) : [] };
}

/** Returns the executable if the entry or its folder chooses it. An update of a program of the user's `PATH` is not a change. */
async function chosenExecutable(
  { command, cwd, env }: StartedProgram,
  userEnv: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const { platform } = process;
  const found = await findExecutable({ command, cwd, env: { ...userEnv, ...env }, platform });
  if (found === undefined) return undefined;
  const isPath = command.includes("/") || (platform === "win32" && command.includes("\\"));
  const hasOwnPath = Object.keys(env).some((name) => name.toUpperCase() === "PATH");
  return isPath || hasOwnPath || (await isWithin(cwd, found)) ? found : undefined;
}

/** Whether a file, without symbolic links, is in a folder. A folder that does not exist has no files. */
async function isWithin(folder: string, file: string): Promise<boolean> {
  const path = relative(await realpath(folder).catch(() => folder), file);
  // Another drive of Windows has no relative path.
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function written(table: ReadonlyMap<string, ConfigValue>): Record<string, string> {
  return Object.fromEntries([...table].map(([name, value]) => [name, formatValue(value)]));
}

/** Returns the names of the variables and the paths of the files to which a target refers. */
function sentValues(target: ServerTarget): string[] {
  const names = referencesIn(target).flatMap((reference) => {
    if (reference.kind === "env") return [reference.name];
    return reference.kind === "file" ? [reference.path] : [];
  });
  return [...new Set(names)];
}

/** Returns the SHA-256 of a value of a configuration file. The order of the members of a table makes no difference. */
function digestOf(value: unknown): string {
  const json = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === "bigint") return `${member}n`;
    if (!isTable(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
  return createHash("sha256").update(json).digest("hex");
}
