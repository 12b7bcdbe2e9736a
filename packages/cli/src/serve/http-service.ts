import { isLoopback } from "@mcparley/internal/loopback";
import { LocalError } from "mcparley";
import type { ProtectedResource } from "mcparley/auth";
import { type RunningHttpServer, listen } from "mcparley/node";
import { type CommandIo, UsageError } from "../terminal/io.ts";
import { writeText } from "../terminal/output.ts";
import { styleFor } from "../terminal/text.ts";
import { banner, commandName } from "./banner.ts";
import type { LiveFolder } from "./live-folder.ts";
import type { ServeOptions } from "./serve-options.ts";
import { type Serving, readFolder, startWatch } from "./serving.ts";
import type { OpenStore } from "./settings/open-store.ts";
import { type ProblemReport, formatProblem, problemReport } from "./yaml/problem.ts";

/** A folder that is served over HTTP. */
export interface FolderService {
  readonly url: string;
  /** Writes the banner. */
  show(): void;
  /** Ends the service. While requests are in flight, `/readyz` answers 503, so load balancers stop sending new ones. */
  close(): Promise<void>;
}

/** Opens the store, reads the folder and listens. Calls `beforeListening` when all but the last is done. */
export async function startHttp(serving: Serving, beforeListening: () => void = () => {}): Promise<FolderService> {
  const { options, io, isFirst } = serving;
  const tellOnce = isFirst ? serving.tell : () => {};
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    const openStore = await storeOf(options, io, serving.tell);
    if (openStore) closers.push(() => openStore.close());
    const live = await readFolder(openStore ? { ...serving, store: openStore.store } : serving);
    const auth = await protection(live, io);
    const report = problemReport(live.folder, io.cwd, tellOnce);
    if (options.watch) {
      const watch = await startWatch(live, report, tellOnce);
      closers.push(() => watch.close());
      await watch.ready;
    }
    beforeListening();
    const listening = await open(live, auth, serving);
    closers.push(async () => {
      await listening.drain();
      await listening.close();
    });
    const { url } = listening;
    return { url, show: () => showService(url, { live, report }, serving), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function showService(
  url: string,
  { live, report }: { live: LiveFolder; report: ProblemReport },
  { options, io }: Serving,
): void {
  const input = {
    url,
    contents: live.contents,
    problems: live.problems.length,
    watching: options.watch ? options.folder : undefined,
    workers: options.workers,
    command: commandName(io.env),
    legacySse: options.legacySse ? new URL("/sse", url).href : undefined,
  };
  writeText(io.stdout, `${banner(input, styleFor(io.isTerminal.stdout, io.env))}\n`);
  report.update(live.problems);
  const { length } = live.problems;
  const problems = `${length} problem${length === 1 ? "" : "s"}`;
  if (length > 0) writeText(io.stderr, `${problems}. The rest is served at ${url}\n`);
  if (!isLoopback(options.host) && namesOf(live, options).length === 0) writeText(io.stderr, `${unnamedHost}\n`);
}

async function open(
  live: LiveFolder,
  auth: ProtectedResource | undefined,
  { options, io }: Serving,
): Promise<RunningHttpServer> {
  const { host, port, path, allowOrigin, trustProxy, legacySse } = options;
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
      ...(allowOrigin.length > 0 && { allowedOrigins: allowOrigin, cors: true }),
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
  io: CommandIo,
  tell: (line: string) => void,
): Promise<OpenStore | undefined> {
  const url = options.store ?? io.env.MCPARLEY_STORE;
  return url === undefined || url === "" ? undefined : (await import("./settings/open-store.ts")).openStore(url, tell);
}

/** Returns the accepted host names: those of `--allow-host`, and the host of the protected resource. */
function namesOf({ contents }: LiveFolder, { allowHost }: ServeOptions): readonly string[] {
  const { auth } = contents.settings;
  return auth ? [...allowHost, new URL(auth.resource).hostname] : allowHost;
}

/** Returns the protection of the folder over HTTP. Throws `UsageError` if `auth` is present but cannot be applied. */
async function protection({ contents }: LiveFolder, { env }: CommandIo): Promise<ProtectedResource | undefined> {
  const { auth, authProblem } = contents.settings;
  if (authProblem) {
    throw new UsageError(formatProblem(authProblem), "Nothing is served over HTTP while auth is invalid.");
  }
  return auth && (await import("./settings/protect-folder.ts")).protectFolder(auth, env);
}

const unnamedHost =
  "Only requests for localhost are accepted. Allow the name that clients use for this machine: --allow-host NAME.";

/** Returns the cure for an address that is not available, as it can be typed after the command that the user typed. */
function hintFor(port: number, { npm_lifecycle_event: script }: CommandIo["env"]): string {
  if (port === 0) return "Give another --host.";
  const options = script === "start" ? "npm start -- --port 0" : "--port 0";
  return `Stop the program that uses the port, or choose another port, such as any free port: ${options}`;
}
