import { didYouMean } from "../did-you-mean.ts";
import { loginCommand, logoutCommand, whoamiCommand } from "./commands/account.ts";
import { addCommand, removeCommand } from "./commands/add.ts";
import { callCommand } from "./commands/call.ts";
import { completeCommand } from "./commands/complete.ts";
import { listCommand } from "./commands/list.ts";
import { promptCommand } from "./commands/prompt.ts";
import { readCommand } from "./commands/read.ts";
import { serversCommand } from "./commands/servers.ts";
import { watchCommand } from "./commands/watch.ts";
import { LocalError } from "mcparley";
import { programOutput } from "./program-output.ts";
import { Reported, exitCodes, reportError } from "./report-error.ts";
import { commandHelp } from "./help.ts";
import { isEditing, yesNotice } from "./option-definitions.ts";
import { type CommandIo, UsageError } from "./io.ts";
import { type Action, type AnyCommand, type Connected, type Session, authOf, openSession } from "./session.ts";
import { readConnection } from "./config/network.ts";
import { readWords } from "./options.ts";
import { type JsonForm, Screen, printText } from "./screen.ts";
import { credentialsReleased } from "./sign-in/credentials.ts";
import { type Stop, createStop, endedBySignal } from "./stop.ts";
import { resolveTarget } from "./config/target.ts";

/** The commands that use a server, by name. */
export const clientCommands: ReadonlyMap<string, AnyCommand> = new Map<string, AnyCommand>([
  ["list", listCommand],
  ["call", callCommand],
  ["prompt", promptCommand],
  ["read", readCommand],
  ["complete", completeCommand],
  ["watch", watchCommand],
  ["login", loginCommand],
  ["logout", logoutCommand],
  ["whoami", whoamiCommand],
  ["servers", serversCommand],
  ["add", addCommand],
  ["remove", removeCommand],
]);

/** The commands that print lines of JSON while they run. */
const inLines: ReadonlySet<string> = new Set(["watch", "login"]);

/**
 * Runs one of the commands that use a server and returns the exit code. Reports errors and does not throw them.
 *
 * The first Ctrl-C cancels the work and closes the connection. After a second one this function returns immediately,
 * with handles still open. The caller then ends the process.
 */
export async function runClientCommand(name: string, argv: readonly string[], io: CommandIo): Promise<number> {
  const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  const json: JsonForm | undefined = own.includes("--json") ? (inLines.has(name) ? "line" : "document") : undefined;
  const shown = { json, verbose: own.includes("--verbose") || own.includes("-v") };
  const connected: Connected = {};
  const screen = new Screen(io, () => stop.breakPipe());
  const stop = createStop(io, () => {
    screen.endProgress();
    screen.note("Stopping. Press Ctrl-C again to exit immediately.");
  });
  try {
    const work = runCommand(name, argv, { io, screen, stop, connected }).then(
      () => endedBySignal(stop) ?? exitCodes.ok,
      (error: unknown) =>
        endedBy(error, stop) ?? reportError(inTime(error, connected, stop), { screen, ...shown, ...connected }),
    );
    // The request of a renewal is not aborted with the call for which the tokens are renewed.
    const released = work.then((code) => credentialsReleased().then(() => code));
    return await Promise.race([released, stop.ended.then(() => endedBySignal(stop) ?? exitCodes.interrupted)]);
  } catch (error) {
    // The report itself could not be written.
    screen.note(error instanceof Error ? error.message : String(error));
    return exitCodes.usage;
  } finally {
    stop.dispose();
  }
}

/** Returns the exit code if a signal or the reader of stdout ended the command. Its error is then not reported. */
function endedBy(error: unknown, stop: Stop): number | undefined {
  const code = endedBySignal(stop);
  if (code !== undefined) return code;
  if (stop.reason === "broken_pipe" && !(error instanceof UsageError)) return exitCodes.ok;
  return undefined;
}

interface Context {
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly stop: Stop;
  readonly connected: Connected;
}

/** Returns the error of a command. After the end of `--timeout`, the reason is the time and not its consequence. */
function inTime(error: unknown, { program, timeout = 0 }: Connected, { reason }: Stop): unknown {
  if (reason !== "timeout" || error instanceof UsageError) return error;
  const stray = program?.strayLine === undefined ? "" : ` The server printed to stdout. ${program.strayLine}`;
  return new LocalError("timeout", `The command did not finish within ${timeout / 1000} s.${stray}`, { cause: error });
}

async function runCommand(name: string, argv: readonly string[], context: Context): Promise<void> {
  const { io, screen, stop, connected } = context;
  const command = clientCommands.get(name);
  if (!command)
    throw new UsageError(`There is no command ${JSON.stringify(name)}.`, didYouMean(name, clientCommands.keys()));
  const { positionals, command: started, options } = readWords(argv, name);
  if (options.yes && !isEditing(name)) screen.noteParagraph(yesNotice(name));
  if (options.help) {
    await printText(commandHelp(name, command, screen.out.terminal ? screen.out.width : 80), { screen });
    return;
  }
  if (options.timeout !== undefined) connected.timeout = options.timeout;
  if ("edit" in command) {
    stop.limit(options.timeout);
    await command.edit({ positionals, command: started }, { io, screen, options, stop, connected });
    return;
  }
  // A command after `--` replaces TARGET.
  const [word, rest] = started === undefined ? [positionals[0], positionals.slice(1)] : [undefined, positionals];
  const { headers, env, envAll, config } = options;
  connected.target = {
    word,
    command: started,
    headerNames: Object.keys(headers),
    options: options.ofTarget,
  };
  const connection = readConnection(options.network, io);
  const target = await resolveTarget({ word, command: started, headers, env, envAll, config, connection }, io);
  if (target.kind === "url") {
    connected.target = { ...connected.target, url: target.url, headerNames: Object.keys(target.headers) };
  }
  // The values of variables and files can be in a URL, and so in an output.
  const isHarmless = "run" in command && command.sendsNothing && target.origin?.entry.sends.length === 0;
  if (target.origin && !isHarmless) {
    // Other targets do not wait for the package that reads the configurations.
    const { approve } = await import("./config/approval.ts");
    await approve(target.origin, { io, screen, options, stop });
  }
  if ("run" in command) {
    await command.run(rest, { target, io, screen, options, stop });
    return;
  }
  const action = await command.prepare(rest, io);
  const onRefused = (method: string): void => void (connected.method = method);
  const setting = { io, screen, options, stop, onRefused, callsTools: command.callsTools ?? false };
  const auth = authOf(target, setting);
  const program = target.kind === "command" ? programOutput(screen, { isLive: options.verbose }) : undefined;
  if (target.kind === "command") connected.hidden = Object.keys(io.env).filter((name) => !isPassed(name, target.env));
  if (program) connected.program = program;
  stop.limit(options.timeout);
  try {
    const session = await openSession(target, { ...setting, auth, program });
    connected.revisionKind = session.client.server.revisionKind;
    await useSession(session, action);
  } finally {
    // An unfinished sign-in holds a lock that the next command would wait for.
    await auth?.settled();
  }
}

/** Whether a started server receives a variable. The library passes some, of which these may occur in its messages. */
function isPassed(name: string, env: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(env, name) || /^(?:LC_|XDG_|SSL_CERT_|NODE_EXTRA_CA_CERTS$)/.test(name);
}

async function useSession(session: Session, action: Action): Promise<void> {
  const { screen, questions, client } = session;
  try {
    await action(session);
    for (const name of questions.unasked())
      screen.note(`--answer ${name}=... was not used, because no question asked for it.`);
  } catch (error) {
    await session.tasks?.cancelAfter(error, client);
    throw error;
  } finally {
    screen.endProgress();
    const closed = client.close();
    // A process may take seconds to end, and the time of the command is over.
    if (session.stop.reason !== "timeout") await closed;
  }
  // The result is printed, but the server did not receive the answers of the command line.
  if (questions.hasRejectedAnswers()) throw new Reported(exitCodes.declined);
}
