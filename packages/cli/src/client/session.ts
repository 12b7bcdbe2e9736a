import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type LoggingMessage, loggingLevels } from "mcparley";
import type { Client, CommandTarget, HttpTarget, ReceivedPart, RequestOptions, Root } from "mcparley/client";
import { safeUrl } from "@mcparley/internal/secret-values";
import { type CommandIo, UsageError, version } from "./io.ts";
import type { ClientOptions } from "./options.ts";
import { type Questions, createQuestions } from "./questions/questions.ts";
import { type Screen, paragraph } from "./screen.ts";
import { type SessionAuth, sessionAuth } from "./sign-in/session-auth.ts";
import type { ProgramOutput } from "./program-output.ts";
import type { Stop } from "./stop.ts";
import { type TaskSupport, taskSupport } from "./task-status.ts";
import type { Target } from "./config/config-target.ts";
import type { KnownTarget } from "./config/known-target.ts";
import { visibleLine } from "./terminal-text.ts";

/** An open connection, with the options and the terminal of a command. */
export interface Session {
  readonly client: Client;
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly questions: Questions;
  readonly stop: Stop;
  /** Authorizes the requests. Undefined for a program, and if the user sets the `Authorization` header. */
  readonly auth: SessionAuth | undefined;
  /** The options of every request: its cancellation and its progress display. */
  readonly request: RequestOptions;
  /** Undefined for commands that call no tools. */
  readonly tasks: TaskSupport | undefined;
}

/** The part of a command that runs after the connection is open. */
export type Action = (session: Session) => Promise<void>;

/** The help of a command. */
interface Described {
  /** Its words after the name, as the help shows them. */
  readonly usage: string;
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly details: readonly string[];
  readonly examples: readonly string[];
}

/** A command that uses a server. */
export interface ClientCommand extends Described {
  /** Reads the words after TARGET, before anything is connected. Throws `UsageError`. */
  prepare(words: readonly string[], io: CommandIo): Action | Promise<Action>;
  /** Whether the command calls tools. Default: false. */
  readonly callsTools?: boolean;
}

/** The context of a command that opens no connection. */
export interface AccountSetting {
  readonly target: Target;
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly stop: Stop;
}

/** A command about the user's account at a server. */
export interface AccountCommand extends Described {
  /** Whether the command sends no request, so that its server needs no trust. Default: false. */
  readonly sendsNothing?: boolean;
  run(words: readonly string[], setting: AccountSetting): Promise<void>;
}

/** The connection of a command, for the report of its error. */
export interface Connected {
  revisionKind?: "modern" | "legacy";
  /** The method of the last request that failed. */
  method?: string;
  /** Undefined until the words of the command are read. */
  target?: KnownTarget;
  program?: ProgramOutput;
  /** The variables of this environment that a started server does not receive. */
  hidden?: readonly string[];
  /** `--timeout` in milliseconds. */
  timeout?: number;
}

/** The context of a command that reads or edits configurations. */
export interface EditSetting {
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly stop: Stop;
  readonly connected: Connected;
}

/** The words of a command that reads or edits configurations. */
export interface EditWords {
  readonly positionals: readonly string[];
  /** The words after `--`. Undefined without `--`. */
  readonly command: readonly string[] | undefined;
}

/** A command about the configurations of hosts. */
export interface EditCommand extends Described {
  edit(words: EditWords, setting: EditSetting): Promise<void>;
}

export type AnyCommand = ClientCommand | AccountCommand | EditCommand;

interface Setting {
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly stop: Stop;
  /** Called with the method of each request that fails. */
  readonly onRefused: (method: string) => void;
  /** Whether the command calls tools, which may be tasks. */
  readonly callsTools: boolean;
}

/** The setting of a session. */
export interface SessionSetting extends Setting {
  readonly auth: SessionAuth | undefined;
  /** Receives the output of a server that is started. */
  readonly program: ProgramOutput | undefined;
}

/** The lowest level of log messages that are shown, and requested if the revision supports it. */
const usualLogLevel = "warning";

/** Connects to a target. The caller closes the session's client and waits until `auth` has settled. */
export async function openSession(target: Target, setting: SessionSetting): Promise<Session> {
  const { io, screen, options, stop, auth, program } = setting;
  const questions = createQuestions(setting);
  const request = {
    signal: stop.signal,
    logLevel: options.logLevel ?? usualLogLevel,
    ...limits(options),
    onProgress: (progress: Parameters<Screen["progress"]>[0]) => screen.progress(progress),
  } as const;
  const roots = readRoots(options.roots, io);
  const tasks = setting.callsTools ? await taskSupport(screen) : undefined;
  const client = await io.connect(connectTarget(target, setting), {
    ...(auth && { auth }),
    info: { name: "mcparley", version },
    elicit: questions.elicit,
    ...(questions.sample ? { sample: questions.sample } : {}),
    ...(roots.length > 0 && { roots }),
    ...(tasks && { extensions: [tasks.extension] }),
    ...(options.revision === undefined ? {} : { revision: options.revision }),
    ...limits(options),
    signal: stop.signal,
    onLog: (message) => showLog(message, setting),
    onCall: ({ outcome, method }) => {
      if (outcome === "error") setting.onRefused(method);
    },
    onError: (error) => {
      program?.problem(error);
      if (options.verbose) screen.note(screen.err.style.dim(visibleLine(error.message)));
    },
  });
  if (options.verbose) showConnection(client, screen);
  const { revisionKind, capabilities } = client.server;
  // Legacy servers choose a level until it is set. Modern servers receive it with each request.
  if (options.logLevel && revisionKind === "legacy" && capabilities.logging) await client.setLogLevel(options.logLevel);
  return { client, io, screen, options, questions, stop, auth, request, tasks };
}

/** Shows the server of a new connection, for `--verbose`. */
export function showConnection({ server, target }: Client, screen: Screen): void {
  const { info, revision, revisionKind } = server;
  const name = info === undefined ? "a server without a name" : `${info.name} ${info.version}`;
  const text = `Connected to ${name} at ${shownTarget(target)}, revision ${revision} (${revisionKind}).`;
  screen.note(screen.err.style.dim(visibleLine(text)));
}

/** Returns the target of a client for display: a URL without the values of its query, or the name of a program. */
export function shownTarget(target: string): string {
  return /^https?:\/\//i.test(target) ? safeUrl(target) : target;
}

/** Returns the folders of `--root` as roots. Throws `UsageError` for one that is not a folder. */
function readRoots(folders: readonly string[], { cwd }: Pick<CommandIo, "cwd">): readonly Root[] {
  return folders.map((folder) => {
    const path = resolve(cwd, folder);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isDirectory()) {
      const what = found ? "is a file, not a folder" : "does not exist";
      throw new UsageError(`--root ${folder} ${what}.`, "Name a folder, such as --root . for this one.");
    }
    return { uri: pathToFileURL(path).href, name: basename(path) || path };
  });
}

/**
 * Returns the limits of single calls. With `--timeout`, the limit of the command ends first, and these only remain for `watch`,
 * whose command has no limit after its start.
 */
function limits({ timeout }: ClientOptions): Pick<RequestOptions, "timeout"> {
  return timeout === undefined ? {} : { timeout: { idle: 2 * timeout, total: 2 * timeout } };
}

/** Returns the authorization of the requests to a target. Undefined if the user sets the `Authorization` header. */
export function authOf(target: Target, setting: Setting): SessionAuth | undefined {
  if (target.kind !== "url") return undefined;
  if (Object.keys(target.headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  return sessionAuth({ ...setting, server: target.url, connection: target.connection, isAskedFor: false });
}

function connectTarget(target: Target, { io, screen, options, program }: SessionSetting): HttpTarget | CommandTarget {
  const { maxReply, json } = options;
  const shown = io.isTerminal.stderr && !json;
  const common = shown ? { onReceived: (received: ReceivedPart) => screen.received(received) } : {};
  if (target.kind === "url") {
    const limits = maxReply === undefined ? {} : { limits: { message: maxReply } };
    const { url, headers, connection } = target;
    return { url, headers, ...(connection && { connection }), ...limits, ...common };
  }
  const { command, args, env, cwd } = target;
  const limit = maxReply === undefined ? {} : { maxLineBytes: maxReply };
  return { command, args, env, cwd, stderr: (chunk: string) => program?.write(chunk), ...limit, ...common };
}

function showLog({ level, logger, data }: LoggingMessage, { screen, options }: Setting): void {
  const least = options.logLevel ?? usualLogLevel;
  if (loggingLevels.indexOf(level) < loggingLevels.indexOf(least)) return;
  const { red, yellow, dim } = screen.err.style;
  const colour = ["debug", "info", "notice"].includes(level) ? dim : level === "warning" ? yellow : red;
  const from = logger === undefined ? "" : ` ${visibleLine(logger)}:`;
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const prefix = `[${level}]`;
  screen.note(colour(prefix) + paragraph(`${prefix}${from} ${text}`, screen.err).slice(prefix.length));
}
