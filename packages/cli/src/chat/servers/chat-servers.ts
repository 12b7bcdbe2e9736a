import type { Problem, ReadResult } from "@mcparley/config";
import type { ServerEntry } from "@mcparley/host";
import { Declined } from "mcparley";
import type { Origin } from "../../targets/approval.ts";
import type { Target } from "../../targets/target.ts";
import { readConnection } from "../../targets/network.ts";
import { approveTarget, findConfigured, findTarget, loadConfigured, withWords } from "../../targets/find-target.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import type { ChatOptions } from "../../commands/chat.ts";
import type { TargetOption } from "../../targets/known-target.ts";
import { type TalkSetting, isAttended } from "../../terminal/questions/prompter.ts";
import { visibleLine } from "../../terminal/text.ts";
import { storeRevision, storedRevision } from "../../targets/stored-revisions.ts";
import { serverName, uniqueName, usableName } from "./server-names.ts";

/** The words and the options that name the servers of a chat. */
export interface ServerWords {
  /** Each is a URL or a name of a configuration. */
  readonly targets: readonly string[];
  /** The words after `--`. Undefined without `--`. */
  readonly command: readonly string[] | undefined;
}

/** The terminal before the chat is shown. */
export interface StartSetting extends TalkSetting {
  readonly options: ChatOptions;
  /** The options that a hint with another command repeats. Default: none. */
  readonly targetOptions?: readonly TargetOption[];
}

/** A server of a chat, by its name. */
export interface ChatServer {
  readonly name: string;
  readonly entry: ServerEntry;
  /** The word of the command line or the configuration that names it. Undefined for a command after `--`. */
  readonly word?: string | undefined;
  /** Stores the revision that the user chose, for later chats. Default: it holds for this chat. */
  readonly storeRevision?: (revision: string) => Promise<void>;
}

/** Called with a part of the stderr of a started server. */
type OnStderr = (server: string, chunk: string) => void;

/**
 * Returns the servers of the command line. Without words, these are the servers of `--config`, or of the nearest configuration file of
 * this folder or one above it.
 *
 * Servers of a configuration are approved by the user. Throws `UsageError` for a word that names no server.
 */
export async function chatServers(
  words: ServerWords,
  setting: StartSetting,
  onStderr: OnStderr,
): Promise<ChatServer[]> {
  const isNamed = words.targets.length > 0 || words.command !== undefined;
  const targets = isNamed ? await namedTargets(words, setting) : await configuredTargets(setting);
  checkShared(
    targets.map(({ target }) => target),
    setting.options,
  );
  if (isNamed) for (const { target } of targets) await approveTarget(target, setting);
  const usedNames = new Set<string>();
  // A rule for a server of the user does not apply to one of a project.
  const reservedNames = targets.some(isOfProject) ? await ownNames(setting.io) : [];
  return Promise.all(
    targets.map(async (namedTarget) => {
      const { target, word } = namedTarget;
      const name = uniqueName(
        serverName(target, word),
        new Set(isOfProject(namedTarget) ? [...usedNames, ...reservedNames] : usedNames),
      );
      usedNames.add(name);
      const { options, io } = setting;
      const revision = options.revision ?? target.revision ?? (await storedRevision(target, io));
      const entry = toEntry(withOptions(target, setting), { ...options, revision }, (chunk) => onStderr(name, chunk));
      return { name, word, entry, storeRevision: (chosenRevision) => storeRevision(target, chosenRevision, io) };
    }),
  );
}

function isOfProject({ target }: NamedTarget): boolean {
  return target.origin?.scope === "project";
}

/** A target, and the word of the command line or of a configuration that names it. */
interface NamedTarget {
  readonly target: Target;
  readonly word: string | undefined;
}

/** Returns the targets of the command line. */
async function namedTargets({ targets, command }: ServerWords, { io, options }: StartSetting): Promise<NamedTarget[]> {
  const { config } = options;
  const results: NamedTarget[] = [];
  for (const word of targets)
    results.push({ target: await findTarget({ word, command: undefined, config }, io), word });
  if (command) results.push({ target: await findTarget({ word: undefined, command, config }, io), word: undefined });
  return results;
}

/**
 * Returns the targets of the configuration, in the order of the file. At a terminal, a server that the user does not trust, or whose
 * settings are incomplete, is left out with a note.
 */
async function configuredTargets(setting: StartSetting): Promise<NamedTarget[]> {
  const { io, options, screen } = setting;
  const results: NamedTarget[] = [];
  for (const word of await configuredNames(setting)) {
    try {
      const target = await findConfigured(word, options.config, io);
      if (target.origin) noteOwnServer(target.origin, setting);
      await approveTarget(target, setting);
      results.push({ target, word });
    } catch (error) {
      const isExpected = error instanceof Declined || error instanceof UsageError;
      if (!isExpected || !isAttended(setting) || setting.stop.signal.aborted) throw error;
      screen.noteParagraph(`${visibleLine(error.message)} It is not a part of this chat.`);
    }
  }
  return results;
}

/**
 * Returns the names in the file of `--config`, or in the nearest folder with a configuration file. Disabled servers are left out, as are
 * invalid entries, which are shown.
 */
async function configuredNames({ io, options, screen }: StartSetting): Promise<readonly string[]> {
  const { problemError, readGivenFile } = await loadConfigured();
  const { servers, problems } =
    options.config === undefined ? await nearestProject(io) : readGivenFile(options.config, io);
  const [problem] = problems;
  if (problem) throw problemError(problem);
  for (const { message } of servers.flatMap((server) => server.problems)) screen.noteParagraph(message);
  return [...new Set(servers.flatMap(({ name, isDisabled, target }) => (isDisabled || !target ? [] : [name])))];
}

/** Returns the names that the servers of the user have in a chat. */
async function ownNames(io: CommandIo): Promise<string[]> {
  const { readAll } = await loadConfigured();
  const userServers = readAll(io).servers.filter(({ scope }) => scope !== "project");
  return userServers.map(({ name }) => usableName(name));
}

/** Returns the servers and problems of the nearest folder with a configuration file. */
async function nearestProject(io: CommandIo): Promise<ReadResult> {
  const { inProjects, readAll } = await loadConfigured();
  const configurations = readAll(io);
  const servers = inProjects(configurations.servers);
  const problems = inProjects(configurations.problems);
  const [nearest] = inProjects([...servers, ...problems]);
  const isNearest = ({ folder }: Pick<Problem, "folder">): boolean => folder === nearest?.folder;
  return { servers: servers.filter(isNearest), problems: problems.filter(isNearest) };
}

/** States that a server of the user has the name of one of the project. */
function noteOwnServer({ name, scope, entry }: Origin, { options, screen }: StartSetting): void {
  if (scope === "project" || options.config !== undefined) return;
  screen.noteParagraph(
    `${JSON.stringify(name)} is your own server of ${entry.file}. To use the one of the project, name its file with --config.`,
  );
}

/** Throws `UsageError` if an option with a possible secret would be sent to several servers. */
function checkShared(targets: readonly Target[], { header, env, envAll }: ChatOptions): void {
  const urls = targets.filter(({ kind }) => kind === "url").length;
  const commands = targets.length - urls;
  const cure = "Write it into the configuration of the server that needs it.";
  if (Object.keys(header).length > 0 && urls !== 1) {
    throw new UsageError(`--header needs exactly one server at a URL; there are ${urls}.`, cure);
  }
  if ((envAll || Object.keys(env).length > 0) && commands !== 1) {
    throw new UsageError(`--env needs exactly one server that is started; there are ${commands}.`, cure);
  }
}

/** Returns a target with the options that apply to its kind. */
function withOptions(target: Target, { io, options }: StartSetting): Target {
  const { header: headers, env, envAll } = options;
  if (target.kind === "url")
    return withWords(target, { headers, env: {}, connection: readConnection(options, io) }, io);
  return withWords(target, { headers: {}, env, envAll }, io);
}

function toEntry(target: Target, { maxReply, revision }: ChatOptions, stderr: (chunk: string) => void): ServerEntry {
  const settings = { entry: target.origin?.entry, ...(revision !== undefined && { revision }) };
  if (target.kind === "url") {
    const { url, headers, connection } = target;
    const limits = maxReply === undefined ? {} : { limits: { message: maxReply } };
    return { target: { url, headers, ...(connection && { connection }), ...limits }, ...settings };
  }
  const { command, args, env, cwd } = target;
  const limit = maxReply === undefined ? {} : { maxLineBytes: maxReply };
  return { target: { command, args, env, cwd, stderr, ...limit }, ...settings };
}
