import { basename, resolve, sep } from "node:path";
import { parseEnv } from "node:util";
import { homeFolder } from "@mcparley/internal/home-folder";
import { ConfigError, quoteName } from "./config-error.ts";
import { type EntryIdentity, identityOfCommand, identityOfUrl } from "./entry-identity.ts";
import { readTrustedFile } from "./files/trusted-file.ts";
import type { CommandTarget, ConfiguredServer, UrlTarget } from "./model.ts";
import { type ReferencedFiles, readReferencedFiles } from "./files/referenced-files.ts";
import { type ConfigValue, type PathVariable, type Reference, formatValue, partsOf } from "./values.ts";

/** Options of `expandTarget`. */
export interface ExpandOptions {
  /** The environment. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder for relative paths and `${workspaceFolder}` of a server in the `user` scope. Default: the current folder. */
  readonly folder?: string;
  /** The home folder. Default: that of the user. */
  readonly home?: string;
  /** Returns the value of an input, which a host would ask the user for. Default: inputs have no value. */
  readonly input?: (id: string) => string | undefined | Promise<string | undefined>;
}

/** A program to start, or a URL to connect to, and the entry that it comes from. */
export type ExpandedTarget = { entry: EntryIdentity; revision?: string } & (
  | { kind: "command"; command: string; args: string[]; env: Record<string, string>; cwd: string }
  | { kind: "url"; url: string; transport: "http" | "sse"; headers: Record<string, string> }
);

/**
 * Returns the target of a server with the values of its references and the variables of its `envFile`, and the identity of its `entry`, to
 * which consent is bound. Show the entry to the user, and store the consent, before the target is used.
 *
 * Rejects with a `ConfigError` (`unset_reference`) that names the file, the line and the reference if one has no value. A server with
 * incomplete settings would start and fail later, far from the cause. Rejects with `invalid_entry` for an invalid entry.
 *
 * @example
 * ```ts
 * import { expandTarget, readServers } from "@mcparley/config";
 *
 * const { servers } = readServers({ folder: "." });
 * const notes = servers.find(({ name }) => name === "notes");
 * if (notes) console.log(await expandTarget(notes, { env: process.env }));
 * ```
 */
export async function expandTarget(server: ConfiguredServer, options: ExpandOptions = {}): Promise<ExpandedTarget> {
  const { target, file, line, name, disabledBy } = server;
  if (disabledBy) throw new ConfigError("disabled", disabledBy.message);
  if (!target) {
    const [problem] = server.problems;
    throw new ConfigError(
      "invalid_entry",
      problem?.message ?? `${file}:${line}: Server ${quoteName(name)} is invalid.`,
    );
  }
  const home = options.home ?? homeFolder(process.env);
  const expansion: Expansion = {
    server,
    env: options.env ?? process.env,
    folder: resolve(server.folder ?? options.folder ?? "."),
    home,
    input: options.input ?? (() => undefined),
    files: readReferencedFiles(server, target, home),
  };
  const expanded = await (target.kind === "command" ? expandCommand(target, expansion) : expandUrl(target, expansion));
  return target.revision === undefined ? expanded : { ...expanded, revision: target.revision };
}

type Expansion = Required<ExpandOptions> & { readonly server: ConfiguredServer; readonly files: ReferencedFiles };

async function expandCommand(target: CommandTarget, expansion: Expansion): Promise<ExpandedTarget> {
  const { folder } = expansion;
  const envFile = target.envFile && (await expandValue(target.envFile, expansion, ["envFile"]));
  const fromFile = envFile === undefined ? {} : readEnvFile(resolve(folder, envFile), expansion);
  const args: string[] = [];
  for (const [index, arg] of target.args.entries())
    args.push(await expandValue(arg, expansion, ["args", String(index)]));
  const command = await expandValue(target.command, expansion, ["command"]);
  const env = { ...fromFile, ...(await expandTable(target.env, expansion, "env")) };
  const cwd = resolve(folder, target.cwd === undefined ? "." : await expandValue(target.cwd, expansion, ["cwd"]));
  const program = { command, cwd, env, fromFile };
  const entry = await identityOfCommand(target, program, expansion);
  return { kind: "command", command, args, env, cwd, entry };
}

async function expandUrl(target: UrlTarget, expansion: Expansion): Promise<ExpandedTarget> {
  const { url, transport, headers } = target;
  const address = await expandValue(url, expansion, ["url"]);
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw failure("invalid_entry", expansion, {
      path: ["url"],
      fact: "is not an http or https URL after its references",
    });
  }
  const entry = identityOfUrl(target, expansion);
  return { kind: "url", url: address, transport, headers: await expandTable(headers, expansion, "headers"), entry };
}

async function expandTable(
  table: ReadonlyMap<string, ConfigValue>,
  expansion: Expansion,
  member: string,
): Promise<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const [name, value] of table) entries.push([name, await expandValue(value, expansion, [member, name])]);
  return Object.fromEntries(entries);
}

async function expandValue(value: ConfigValue, expansion: Expansion, path: readonly string[]): Promise<string> {
  let text = "";
  for (const part of partsOf(value)) {
    const partText = typeof part === "string" ? part : await valueOf(part, expansion);
    if (partText === undefined) throw unset(part as Reference, expansion, path);
    text += partText;
  }
  return text;
}

async function valueOf(reference: Reference, expansion: Expansion): Promise<string | undefined> {
  const { env, input } = expansion;
  switch (reference.kind) {
    case "env":
      // As in a shell, `:-` also replaces a variable that is set to nothing.
      return reference.fallback === undefined
        ? variable(env, reference.name)
        : variable(env, reference.name) || reference.fallback;
    case "input":
      return input(reference.id);
    case "file":
      return expansion.files.get(reference.path)?.text;
    case "path":
      return pathOf(reference.name, expansion);
    default:
      return undefined;
  }
}

/** Returns an environment variable. The members that each object has, such as `toString`, are none. */
function variable(env: Expansion["env"], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

function pathOf(name: PathVariable, { folder, home }: Expansion): string {
  if (name === "workspaceFolder") return folder;
  if (name === "workspaceFolderBasename") return basename(folder);
  return name === "userHome" ? home : sep;
}

function readEnvFile(file: string, expansion: Expansion): Record<string, string> {
  const text = readTrustedFile(file);
  if (text !== undefined) return parseEnv(text) as Record<string, string>;
  // The path as written: an expanded reference can be secret.
  const { target } = expansion.server;
  const envFileText = target?.kind === "command" && target.envFile !== undefined ? formatValue(target.envFile) : "";
  const fact = `names ${quoteName(envFileText)}, which does not exist or is not a file`;
  throw failure("unset_reference", expansion, { path: ["envFile"], fact });
}

function unset(reference: Reference, expansion: Expansion, path: readonly string[]): ConfigError {
  const fact = `refers to ${formatValue([reference])}, ${whyUnset(reference)}`;
  return failure("unset_reference", expansion, { path, fact, cure: cureFor(reference) });
}

function whyUnset({ kind }: Reference): string {
  if (kind === "env") return "and that environment variable is not set";
  if (kind === "input") return "which only the host asks for";
  return kind === "file" ? "which does not exist or is not a file" : "which is not a known reference";
}

function cureFor(reference: Reference): string {
  if (reference.kind === "env") return `Set the environment variable ${reference.name}.`;
  if (reference.kind === "input") return "Refer to an environment variable instead, and set it.";
  if (reference.kind === "file") return "Create the file.";
  return "Known are ${env:NAME}, ${NAME}, ${NAME:-default}, ${workspaceFolder}, ${userHome} and ${pathSeparator}.";
}

interface Failure {
  readonly path: readonly string[];
  readonly fact: string;
  readonly cure?: string;
}

function failure(
  code: "invalid_entry" | "unset_reference",
  { server }: Expansion,
  { path, fact, cure }: Failure,
): ConfigError {
  const position = server.positionOf(...path);
  const subject = `${quoteName(path.join("."))} of the server ${quoteName(server.name)}`;
  return new ConfigError(code, `${subject} ${fact}.`, {
    file: server.file,
    position,
    ...(cure !== undefined && { cure }),
  });
}
