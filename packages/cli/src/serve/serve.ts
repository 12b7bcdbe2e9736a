import { isLoopback } from "./loopback.ts";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { LocalError, printableJson } from "mcparley";
import type { ProtectedResource } from "mcparley/auth";
import { type RunningHttpServer, listen } from "mcparley/node";
import { type Store, auditTo, localUser } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { exitCodes } from "../client/report-error.ts";
import { type CommandIo, UsageError } from "../client/io.ts";
import { styleFor } from "../client/terminal-text.ts";
import { writeText } from "../output.ts";
import { banner, commandName } from "./banner.ts";
import { type LiveFolder, openFolder } from "./live-folder.ts";
import { FolderProblem, type ProblemReport, formatProblem, problemReport } from "./problem.ts";
import type { OpenStore } from "./settings/open-store.ts";
import { type ServeOptions, readServeOptions, serveHelp } from "./serve-options.ts";
import { settingsFile } from "./settings/server-settings.ts";
import type { FolderWatch } from "./watch.ts";

export type ServeIo = Pick<
  CommandIo,
  "stdin" | "stdout" | "stderr" | "env" | "cwd" | "isTerminal" | "onInterrupt" | "onTerminate"
>;

/** Runs `mcparley serve` and returns the exit code. Throws `UsageError`. */
export async function runServe(argv: readonly string[], io: ServeIo): Promise<number> {
  const options = readServeOptions(argv);
  if (options.help) {
    writeText(io.stdout, serveHelp);
    return exitCodes.ok;
  }
  await requireFolder(options.folder, io.cwd);
  const tell = (line: string): void => writeText(io.stderr, `${line}\n`);
  const serving = { options, io, tell, isFirst: true };
  if (options.stdio) await overStdio(serving);
  else if (options.workers === undefined) await overHttp(serving);
  else await (await import("./serve-workers.ts")).overHttpInWorkers(serving, options.workers);
  return exitCodes.ok;
}

/** The folder that a process serves, and the streams and the terminal of the command. */
export interface Serving {
  options: ServeOptions;
  io: ServeIo;
  tell: (line: string) => void;
  /** Whether this process writes messages about the folder. If several processes serve it, only one does. */
  isFirst: boolean;
  /** The store of `--workers`. `--store` has precedence. */
  store?: Store;
}

function readFolder({ options, io, tell, isFirst, store }: Serving): Promise<LiveFolder> {
  return openFolder(resolve(io.cwd, options.folder), {
    env: { ...io.env },
    watch: options.watch,
    scoped: !options.stdio,
    ...(options.name !== undefined && { name: options.name }),
    ...(isFirst && { onProgress: (files) => tell(`Reading ${options.folder}: ${files} files so far`) }),
    ...(options.audit && { observers: [auditTo((record) => tell(printableJson(record)))] }),
    ...(store && { store }),
    onError: (error, what) => tell(`${what}: ${describeError(error)}`),
  });
}

async function overStdio(serving: Serving): Promise<void> {
  const { options, io, tell } = serving;
  const live = await readFolder(serving);
  const report = problemReport(live.folder, io.cwd, tell);
  const watch = options.watch ? await startWatch(live, report, tell) : undefined;
  await watch?.ready;
  try {
    report.update(live.problems);
    const own = io.stdin === process.stdin && io.stdout === process.stdout;
    // The user who starts the process can read the files and run the tools without it.
    await serveStdio(live.server, { principal: localUser, ...(!own && { input: io.stdin, output: io.stdout }) });
  } finally {
    await watch?.close();
  }
}

async function overHttp(serving: Serving): Promise<void> {
  const { asked, listen, stopListening } = ending(serving.io);
  const service = await startHttp(serving, listen).catch((error: unknown) => {
    stopListening();
    throw error;
  });
  service.show();
  await asked;
  await service.close();
}

/** A folder that is served over HTTP. */
export interface FolderService {
  readonly url: string;
  /** Writes the banner. */
  show(): void;
  /** Ends the service. While requests are in flight, `/readyz` answers 503, so load balancers stop sending new ones. */
  close(): Promise<void>;
}

/** Opens the store, reads the folder and listens. Calls `beforeListening` when all but the last is done. */
export async function startHttp(given: Serving, beforeListening: () => void = () => {}): Promise<FolderService> {
  const { options, io, isFirst } = given;
  const tellOnce = isFirst ? given.tell : () => {};
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).toReversed()) await end();
  };
  try {
    const kept = await storeOf(options, io, given.tell);
    if (kept) opened.push(() => kept.close());
    const live = await readFolder(kept ? { ...given, store: kept.store } : given);
    const auth = await protection(live, io);
    const report = problemReport(live.folder, io.cwd, tellOnce);
    if (options.watch) {
      const watch = await startWatch(live, report, tellOnce);
      opened.push(() => watch.close());
      await watch.ready;
    }
    beforeListening();
    const listening = await open({ live, auth, options, io });
    opened.push(async () => {
      await listening.drain();
      await listening.close();
    });
    const show = (): void => showService({ url: listening.url, live, report, options, io });
    return { url: listening.url, show, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ShownService extends Pick<Serving, "options" | "io"> {
  url: string;
  live: LiveFolder;
  report: ProblemReport;
}

function showService({ url, live, report, options, io }: ShownService): void {
  const shown = {
    url,
    contents: live.contents,
    problems: live.problems.length,
    watching: options.watch ? options.folder : undefined,
    workers: options.workers,
    command: commandName(io.env),
    legacySse: options.legacySse ? new URL("/sse", url).href : undefined,
  };
  writeText(io.stdout, `${banner(shown, styleFor(io.isTerminal.stdout, io.env))}\n`);
  report.update(live.problems);
  const { length } = live.problems;
  const problems = `${length} problem${length === 1 ? "" : "s"}`;
  if (length > 0) writeText(io.stderr, `${problems}. The rest is served at ${url}\n`);
  if (!isLoopback(options.host) && namesOf(live, options).length === 0) writeText(io.stderr, `${unnamedHost}\n`);
}

interface Opening extends Pick<Serving, "options" | "io"> {
  live: LiveFolder;
  auth: ProtectedResource | undefined;
}

async function open({ live, auth, options, io }: Opening): Promise<RunningHttpServer> {
  const { host, port, path, allowOrigins, trustProxy, legacySse } = options;
  const allowHosts = namesOf(live, options);
  try {
    return await listen(live.server, {
      host,
      port,
      path,
      legacySse,
      ...(auth && { auth }),
      ...(trustProxy && { trustProxy }),
      ...(allowHosts.length > 0 && { allowedHosts: allowHosts }),
      ...(allowOrigins.length > 0 && { allowedOrigins: allowOrigins, cors: true }),
    });
  } catch (error) {
    if (error instanceof LocalError) throw new UsageError(error.message, hintFor(port, io.env));
    throw error;
  }
}

/**
 * Opens the store of `--store` or `MCPARLEY_STORE`. The variable is for URLs with a password, because all users of the
 * machine can see a command line.
 */
async function storeOf(
  options: ServeOptions,
  io: ServeIo,
  tell: (line: string) => void,
): Promise<OpenStore | undefined> {
  const url = options.store ?? io.env.MCPARLEY_STORE;
  return url === undefined || url === "" ? undefined : (await import("./settings/open-store.ts")).openStore(url, tell);
}

/** Returns the accepted host names: those of `--allow-host`, and the host of the protected resource. */
function namesOf({ contents }: LiveFolder, { allowHosts }: ServeOptions): string[] {
  const { auth } = contents.settings;
  return auth ? [...allowHosts, new URL(auth.resource).hostname] : allowHosts;
}

/** Returns the protection of the folder over HTTP. Throws `UsageError` if `auth` is present but cannot be applied. */
async function protection({ contents }: LiveFolder, { env }: ServeIo): Promise<ProtectedResource | undefined> {
  const { auth, authProblem } = contents.settings;
  if (authProblem) {
    throw new UsageError(formatProblem(authProblem), "Nothing is served over HTTP while auth is invalid.");
  }
  return auth && (await import("./settings/protect-folder.ts")).protectFolder(auth, env);
}

const unnamedHost =
  "Only requests for localhost are accepted. Allow the name that clients use for this machine: --allow-host NAME.";

/** Returns the cure for an address that is not available, as it can be typed after the command that the user typed. */
function hintFor(port: number, { npm_lifecycle_event: script }: ServeIo["env"]): string {
  if (port === 0) return "Give another --host.";
  const options = script === "start" ? "npm start -- --port 0" : "--port 0";
  return `Stop the program that uses the port, or choose another port, such as any free port: ${options}`;
}

/**
 * Milliseconds within which a second signal is ignored. On Ctrl-C a terminal also signals the parent, which may forward
 * the signal.
 */
const sameSignal = 500;

interface Ending {
  /** Resolves at the first request to end the process. A later signal ends the process by its default action. */
  asked: Promise<void>;
  /** Starts to listen to signals. Until then they have their default action. */
  listen: () => void;
  stopListening: () => void;
}

function ending(io: ServeIo): Ending {
  let settle: () => void;
  const asked = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const leaves: (() => void)[] = [];
  const stopListening = (): void => leaves.forEach((leave) => leave());
  const stop = (): void => {
    settle();
    setTimeout(stopListening, sameSignal).unref();
  };
  return { asked, stopListening, listen: () => void leaves.push(io.onInterrupt(stop), io.onTerminate(stop)) };
}

async function startWatch(live: LiveFolder, report: ProblemReport, tell: (line: string) => void): Promise<FolderWatch> {
  const { watchFolder } = await import("./watch.ts");
  return watchFolder(live, {
    onReload: (changed) => {
      report.update(live.problems);
      if (changed.includes(settingsFile))
        tell(`${settingsFile} changed: new roots apply now, all other settings at the next start.`);
    },
    onError: (error) => tell(`The folder could not be read again: ${describeError(error)}`),
  });
}

async function requireFolder(folder: string, cwd: string): Promise<void> {
  const found = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new UsageError(
    found ? `"${folder}" is a file, not a folder.` : `There is no folder "${folder}".`,
    "Name the folder that contains prompts/, resources/ or tools/.",
  );
}

/** Describes an error in a handler for the folder's owner: a position in a file, or the error with its stack. */
function describeError(error: unknown): string {
  if (error instanceof FolderProblem) return formatProblem(error.problem);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
