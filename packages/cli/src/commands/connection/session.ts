import { LocalError, type LoggingMessage, loggingLevels, redact } from "mcparley";
import type { Client, CommandTarget, HttpTarget, ReceivedPart, RequestOptions } from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import { safeUrl } from "@mcparley/internal/secret-values";
import { approveTarget, resolveTarget } from "../../targets/find-target.ts";
import { readConnection } from "../../targets/network.ts";
import type { NetworkOptions } from "../../targets/options.ts";
import { readRoot } from "../../targets/roots.ts";
import { type SessionAuth, sessionAuth } from "../../targets/sign-in/session-auth.ts";
import { storedRevision } from "../../targets/stored-revisions.ts";
import type { Target } from "../../targets/target.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { version } from "../../terminal/io.ts";
import type { Words } from "../../terminal/options.ts";
import { type Screen, paragraph, printJson } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";
import type { CommandSetting } from "./command.ts";
import type { ConnectionOptions } from "./options.ts";
import { type ProgramOutput, programOutput } from "./program-output.ts";
import { type Questions, createQuestions } from "./questions.ts";
import { exitCodeOf } from "./report-error.ts";
import { UnansweredError } from "./unanswered.ts";
import { type TaskSupport, taskSupport } from "./task-status.ts";

/** An open connection, with the options and the terminal of a command. */
export interface Session<V = ConnectionOptions> extends CommandSetting<V> {
  readonly client: Client;
  readonly questions: Questions;
  /** Authorizes the requests. Undefined for a program, and if the user sets the `Authorization` header. */
  readonly auth: SessionAuth | undefined;
  /** The options of every request: its cancellation and its progress display. */
  readonly request: RequestOptions;
  /** Undefined for commands that call no tools. */
  readonly tasks: TaskSupport | undefined;
}

/** The words and the options that choose a target. */
type TargetOptions = Partial<NetworkOptions> & {
  readonly config: string | undefined;
  readonly trust: boolean;
  readonly noInput: boolean;
  readonly header?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly envAll?: boolean;
};

/**
 * Returns the target of a command, which the user has approved, and the words after TARGET. A command after `--` replaces TARGET. The server
 * of a command that sends no request needs no trust.
 */
export async function chooseTarget(
  { positionals, command }: Words,
  setting: CommandSetting<TargetOptions>,
  sendsNothing = false,
): Promise<{ target: Target; argumentWords: readonly string[] }> {
  const { io, options, facts } = setting;
  const [word, argumentWords] =
    command === undefined ? [positionals[0], positionals.slice(1)] : [undefined, positionals];
  const { header: headers = {}, env = {}, envAll = false, config } = options;
  facts.target = { word, command, headerNames: Object.keys(headers), options: setting.targetOptions };
  const connection = readConnection(options, io);
  const target = await resolveTarget({ word, command, headers, env, envAll, config, connection }, io);
  if (target.origin) {
    const program = target.kind === "command" ? redact(target.command) : undefined;
    facts.target = { ...facts.target, configured: { name: target.origin.name, program } };
  }
  if (target.kind === "url") {
    facts.target = { ...facts.target, url: target.url, headerNames: Object.keys(target.headers) };
  }
  // The values of variables and files can be in a URL, and so in an output.
  const isHarmless = sendsNothing && target.kind === "url" && target.origin?.entry.sends.length === 0;
  if (!isHarmless) await approveTarget(target, setting);
  return { target, argumentWords };
}

interface SessionSetting<V> extends CommandSetting<V> {
  /** Whether the command calls tools, which may be tasks. Default: false. */
  readonly callsTools?: boolean;
}

/**
 * Connects to a server, runs an action, and closes the connection. Ends the command with exit code 7 if the server did not receive the
 * answers of the command line.
 */
export async function useServer<V extends ConnectionOptions>(
  target: Target,
  setting: SessionSetting<V>,
  action: (session: Session<V>) => Promise<void>,
): Promise<void> {
  const { io, options, screen, stop, facts } = setting;
  const auth = authOf(target, setting);
  const program = target.kind === "command" ? programOutput(screen, { isLive: options.verbose }) : undefined;
  if (target.kind === "command")
    facts.hiddenVariables = Object.keys(io.env).filter((name) => !isPassed(name, target.env));
  if (program) facts.program = program;
  stop.limit(options.timeout);
  try {
    const session = await openSession(target, { ...setting, auth, program });
    facts.revisionKind = session.client.server.revisionKind;
    await runAction(session, action);
  } finally {
    // An unfinished sign-in holds a lock that the next command would wait for.
    await auth?.waitUntilSettled();
  }
}

/** Whether a started server receives a variable. The library passes some, of which these may occur in its messages. */
function isPassed(name: string, env: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(env, name) || /^(?:LC_|XDG_|SSL_CERT_|NODE_EXTRA_CA_CERTS$)/.test(name);
}

async function runAction<V extends ConnectionOptions>(
  session: Session<V>,
  action: (session: Session<V>) => Promise<void>,
): Promise<void> {
  const { screen, questions, client, stop } = session;
  try {
    await action(session);
    noteUnusedAnswers(session);
  } catch (error) {
    await session.tasks?.cancelAfter(error, client);
    if (!isEndOfCall(error) || questions.unanswered().length === 0) throw error;
    noteUnusedAnswers(session);
    throw new UnansweredError(questions.unanswered(), { cause: error });
  } finally {
    screen.endProgress();
    const closing = client.close();
    // A process may take seconds to end, and the time of the command is over.
    if (stop.reason !== "timeout") await closing;
  }
  // The result is printed, but the server did not receive the answers that it asked for.
  if (questions.unanswered().length > 0) throw new UnansweredError(questions.unanswered());
}

function noteUnusedAnswers({ questions, screen }: Session<unknown>): void {
  for (const name of questions.unusedAnswers())
    screen.note(`--answer ${name}=... was not used, because no question asked for it.`);
}

/** Whether an error is the answer of the server. A question that nobody answered can be its cause. */
function isEndOfCall(error: unknown): boolean {
  if (error instanceof UnansweredError) return false;
  const code = exitCodeOf(error);
  return code === exitCodes.toolError || code === exitCodes.protocol;
}

/**
 * Prints the result of a request as the JSON document of `--json`. Throws `UnansweredError` with the result if the server asked for answers that
 * it did not receive, so that the document has the questions.
 */
export async function printResult(result: unknown, session: Session<unknown>): Promise<void> {
  const unanswered = session.questions.unanswered();
  if (unanswered.length > 0) throw new UnansweredError(unanswered, { result });
  await printJson(result, session);
}

/** The lowest level of log messages that are shown, and requested if the revision supports it. */
const usualLogLevel = "warning";

interface OpenSetting<V> extends SessionSetting<V> {
  readonly auth: SessionAuth | undefined;
  /** Receives the output of a server that is started. */
  readonly program: ProgramOutput | undefined;
}

/** Connects to a target. The caller closes the session's client and waits until `auth` has settled. */
export async function openSession<V extends ConnectionOptions>(
  target: Target,
  setting: OpenSetting<V>,
): Promise<Session<V>> {
  const { io, screen, stop, auth, program, facts, options } = setting;
  const { verbose, timeout } = options;
  const revision = options.revision ?? target.revision ?? (await storedRevision(target, io));
  const logLevel = options.logLevel ?? (verbose ? "debug" : undefined);
  // With `--timeout`, the limit of the command ends first. These remain for `watch`, whose command has no limit after its start.
  const limits = timeout === undefined ? {} : { timeout: { idle: 2 * timeout, total: 2 * timeout } };
  const questions = createQuestions({ ...setting, serverName: target.origin?.name });
  const request = {
    signal: stop.signal,
    logLevel: logLevel ?? usualLogLevel,
    ...limits,
    onProgress: (progress: Parameters<Screen["progress"]>[0]) => screen.progress(progress),
  } as const;
  const roots = (options.root ?? []).map((folder) => readRoot(folder, io, true));
  const tasks = setting.callsTools ? await taskSupport(screen) : undefined;
  const client = await io.connect(connectTarget(target, setting), {
    ...(auth && { auth }),
    info: { name: "mcparley", version },
    elicit: questions.elicit,
    ...(questions.sample ? { sample: questions.sample } : {}),
    ...(roots.length > 0 && { roots }),
    ...(tasks && { extensions: [tasks.extension] }),
    ...(revision === undefined ? {} : { revision }),
    ...limits,
    signal: stop.signal,
    onLog: (message) => {
      if (loggingLevels.indexOf(message.level) >= loggingLevels.indexOf(request.logLevel)) showLog(message, screen);
    },
    onCall: ({ outcome, method }) => {
      if (outcome === "error") facts.method = method;
    },
    onError: (error) => {
      program?.problem(error);
      // The user must know that entries are missing.
      const isIncomplete = error instanceof LocalError && isObject(error.data) && "incompleteList" in error.data;
      if (isIncomplete) screen.note(paragraph(error.message, screen.err));
      else if (verbose) screen.note(screen.err.style.dim(visibleLine(error.message)));
    },
  });
  if (verbose) showConnection(client, screen);
  const { revisionKind, capabilities } = client.server;
  // Legacy servers choose a level until it is set. Modern servers receive it with each request.
  if (logLevel && revisionKind === "legacy" && capabilities.logging) await client.setLogLevel(logLevel);
  return { ...setting, client, questions, auth, request, tasks };
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

/** Returns the authorization of the requests to a target. Undefined if the user sets the `Authorization` header. */
function authOf(target: Target, setting: CommandSetting<ConnectionOptions>): SessionAuth | undefined {
  if (target.kind !== "url") return undefined;
  if (Object.keys(target.headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  return sessionAuth({ ...setting, server: target.url, connection: target.connection, isAskedFor: false });
}

function connectTarget(
  target: Target,
  { io, screen, options, program }: OpenSetting<ConnectionOptions>,
): HttpTarget | CommandTarget {
  const { maxReply, json } = options;
  const showsArrival = io.isTerminal.stderr && !json;
  const common = showsArrival ? { onReceived: (part: ReceivedPart) => screen.showReceived(part) } : {};
  if (target.kind === "url") {
    const limits = maxReply === undefined ? {} : { limits: { message: maxReply } };
    const { url, headers, connection } = target;
    return { url, headers, ...(connection && { connection }), ...limits, ...common };
  }
  const { command, args, env, cwd } = target;
  const limit = maxReply === undefined ? {} : { maxLineBytes: maxReply };
  return { command, args, env, cwd, stderr: (chunk: string) => program?.write(chunk), ...limit, ...common };
}

function showLog({ level, logger, data }: LoggingMessage, screen: Screen): void {
  const { red, yellow, dim } = screen.err.style;
  const colour = ["debug", "info", "notice"].includes(level) ? dim : level === "warning" ? yellow : red;
  const source = logger === undefined ? "" : ` ${visibleLine(logger)}:`;
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const prefix = `[${level}]`;
  screen.note(colour(prefix) + paragraph(`${prefix}${source} ${text}`, screen.err).slice(prefix.length));
}
