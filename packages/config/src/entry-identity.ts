import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { locateExecutable } from "@mcparley/internal/find-executable";
import { withSortedMembers } from "@mcparley/internal/sorted-members";
import { isTable } from "./formats/format.ts";
import type { CommandTarget, ConfiguredServer, UrlTarget } from "./model.ts";
import { type ReferencedFiles, formatEntryValue, isWithin, withoutLinks } from "./files/referenced-files.ts";
import { referencesIn } from "./target-references.ts";
import type { ConfigValue, Reference } from "./values.ts";

/**
 * The entry of a server as its file has it: the identity to which consent is bound, and the facts that a person reads before.
 *
 * References are not filled in, so that a renewed token does not change the identity. The values can be secrets that the file contains:
 * replace those that look like secrets before you show them.
 */
export interface EntryIdentity {
  /**
   * SHA-256, as hexadecimal digits, over each member of the entry, the host whose form it has, its folder, the content of its `envFile` and
   * of the files of its folder to which it refers, and `executable`. A short value can be guessed from it. Store an HMAC of it, with a secret key of the user.
   */
  readonly digest: string;
  readonly kind: "command" | "url";
  /** The file of the entry. Its path is no part of the digest. */
  readonly file: string;
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /**
   * The executable, without symbolic links, if the entry or its folder chooses it: by a path, by a variable `PATH`, or because it or
   * a link to it is in the folder of the entry or of the program. Undefined for a program that the `PATH` of the user chooses.
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

/** The server of an entry, and the values of its references that are a part of the identity. */
interface EntryContext {
  readonly server: ConfiguredServer;
  /** The folder that `${workspaceFolder}` means. */
  readonly folder: string;
  readonly files: ReferencedFiles;
  /** The environment of the user. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the identity of the entry of a server at a URL. */
export function identityOfUrl({ url, headers }: UrlTarget, context: EntryContext): EntryIdentity {
  const facts = { url: formatEntryValue(url, context.files), headers: formatTable(headers, context) };
  return identify({ kind: "url", ...facts }, [], context);
}

/** Returns the identity of the entry of a program. */
export async function identityOfCommand(
  target: CommandTarget,
  program: StartedProgram,
  context: EntryContext,
): Promise<EntryIdentity> {
  const { cwd, fromFile } = program;
  const executable = await chosenExecutable(program, context);
  const facts = {
    kind: "command",
    command: [target.command, ...target.args].map((word) => formatEntryValue(word, context.files)),
    ...(executable !== undefined && { executable }),
    cwd,
    environment: { ...fromFile, ...formatTable(target.env, context) },
    ...(target.envFile !== undefined && { envFile: formatEntryValue(target.envFile, context.files) }),
  } as const;
  return identify(facts, [cwd, fromFile, executable], context);
}

/** Returns the identity with these facts. `more` is the part of the digest that the entry does not contain. */
function identify(
  facts: Omit<EntryIdentity, "digest" | "file" | "sends">,
  more: readonly unknown[],
  { server, folder, files }: EntryContext,
): EntryIdentity {
  const { host, file, target } = server;
  const references = target ? referencesIn(target) : [];
  const isOfWorkspace = references.some(
    (reference) => reference.kind === "path" && reference.name.startsWith("workspaceFolder"),
  );
  const read = [...files].map(([path, { path: realPath, isOfFolder, text }]) => [path, realPath, isOfFolder && text]);
  const place = [host, server.folder ?? null, isOfWorkspace && folder];
  const digest = digestOf([...place, read, server.rawEntry(), ...more]);
  return { digest, file, ...facts, sends: sentValues(references, files) };
}

/** Returns the executable if the entry or its folder chooses it. An update of a program of the user's `PATH` is not a change. */
async function chosenExecutable(
  { command, cwd, env }: StartedProgram,
  { server, env: userEnv }: EntryContext,
): Promise<string | undefined> {
  const { platform } = process;
  const location = await locateExecutable({ command, cwd, env: { ...userEnv, ...env }, platform });
  if (location === undefined) return undefined;
  const isPath = command.includes("/") || (platform === "win32" && command.includes("\\"));
  const hasOwnPath = Object.keys(env).some((name) => name.toUpperCase() === "PATH");
  const executable = withoutLinks(location);
  // A link of the folder can lead to a program outside of it.
  const files = [executable, join(withoutLinks(dirname(location)), basename(location))];
  const folders = [cwd, server.folder ?? cwd].map(withoutLinks);
  const isOfFolder = folders.some((folder) => files.some((file) => isWithin(folder, file)));
  return isPath || hasOwnPath || isOfFolder ? executable : undefined;
}

function formatTable(table: ReadonlyMap<string, ConfigValue>, { files }: EntryContext): Record<string, string> {
  return Object.fromEntries([...table].map(([name, value]) => [name, formatEntryValue(value, files)]));
}

/** Returns the names of the variables and the paths of the files that the references send. A link is followed by its target. */
function sentValues(references: readonly Reference[], files: ReferencedFiles): string[] {
  const names = references.flatMap((reference) => {
    if (reference.kind === "env") return [reference.name];
    const file = reference.kind === "file" ? files.get(reference.path) : undefined;
    return reference.kind === "file" && file?.isOfFolder === false ? [reference.path, file.path] : [];
  });
  return [...new Set(names)];
}

/**
 * Returns the SHA-256 of a value of a configuration file. The order of the members of a table makes no difference. Texts and numbers have a
 * prefix, because JSON has no form for integers of TOML and for numbers such as infinity.
 */
function digestOf(value: unknown): string {
  const json = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === "string") return `"${member}`;
    if (typeof member === "number" || typeof member === "bigint") return `${typeof member} ${member}`;
    return isTable(member) ? withSortedMembers(member) : member;
  });
  return createHash("sha256").update(json).digest("hex");
}
