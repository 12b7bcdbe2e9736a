import { once } from "node:events";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { localUser } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { commandHelp } from "../commands/help.ts";
import { serveCommand } from "../commands/serve.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { type CommandIo, UsageError } from "../terminal/io.ts";
import { writeText } from "../terminal/output.ts";
import { startHttp } from "./http-service.ts";
import { readServeOptions } from "./serve-options.ts";
import { overHttpInWorkers } from "./serve-workers.ts";
import { type Serving, readFolder, startWatch } from "./serving.ts";
import { problemReport } from "./yaml/problem.ts";

/** Runs `mcparley serve` and returns the exit code. Throws `UsageError`. */
export async function runServe(argv: readonly string[], io: CommandIo): Promise<number> {
  const options = readServeOptions(argv);
  if (options.help) {
    writeText(io.stdout, `${commandHelp("serve", serveCommand, io.columns() ?? 80)}\n`);
    return exitCodes.ok;
  }
  await requireFolder(options.folder, io.cwd);
  const tell = (line: string): void => writeText(io.stderr, `${line}\n`);
  const serving = { options, io, tell, isFirst: true };
  if (options.stdio) await overStdio(serving);
  else if (options.workers === undefined) await overHttp(serving);
  else await overHttpInWorkers(serving, options.workers);
  return exitCodes.ok;
}

async function overStdio(serving: Serving): Promise<void> {
  const { options, io, tell } = serving;
  const live = await readFolder(serving);
  const report = problemReport(live.folder, io.cwd, tell);
  const watch = options.watch ? await startWatch(live, report, tell) : undefined;
  await watch?.ready;
  try {
    report.update(live.problems);
    const usesProcessStreams = io.stdin === process.stdin && io.stdout === process.stdout;
    // The user who starts the process can read the files and run the tools without it.
    await serveStdio(live.server, {
      principal: localUser,
      ...(!usesProcessStreams && { input: io.stdin, output: io.stdout }),
    });
  } finally {
    await watch?.close();
  }
}

/**
 * Milliseconds within which a second signal is ignored. On Ctrl-C a terminal also signals the parent, which may forward
 * the signal.
 */
const sameSignal = 500;

/** Serves over HTTP until the first signal that ends the process. A later signal ends the process by its default action. */
async function overHttp(serving: Serving): Promise<void> {
  const { io } = serving;
  const removals: (() => void)[] = [];
  const stopListening = (): void => removals.forEach((remove) => remove());
  const stop = new AbortController();
  const endRequest = once(stop.signal, "abort");
  const end = (): void => {
    stop.abort(new Error("A signal ends the process."));
    setTimeout(stopListening, sameSignal).unref();
  };
  // Until the service listens, the signals have their default action.
  const listen = (): void => void removals.push(io.onInterrupt(end), io.onTerminate(end));
  const service = await startHttp(serving, listen).catch((error: unknown) => {
    stopListening();
    throw error;
  });
  service.show();
  await endRequest;
  await service.close();
}

async function requireFolder(folder: string, cwd: string): Promise<void> {
  const stats = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (stats?.isDirectory()) return;
  throw new UsageError(
    stats ? `"${folder}" is a file, not a folder.` : `There is no folder "${folder}".`,
    "Name the folder that contains prompts/, resources/ or tools/.",
  );
}
