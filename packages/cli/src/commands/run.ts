import { LocalError } from "mcparley";
import { optionsOfTarget } from "../targets/known-target.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { type CommandIo, UsageError } from "../terminal/io.ts";
import {
  type UnknownOption,
  type Words,
  hasOption,
  readOptions,
  readWords,
  unknownOption,
} from "../terminal/options.ts";
import { Screen, printText } from "../terminal/screen.ts";
import { credentialsReleased } from "../targets/sign-in/exclusive-work.ts";
import { Stop, endedBySignal } from "../terminal/stop.ts";
import { clientCommands, declaredCommands } from "./all-commands.ts";
import type { CommandSetting } from "./connection/command.ts";
import { commonOptions, formerYes, yesNotice } from "./connection/options.ts";
import { type FailureFacts, reportError } from "./connection/report-error.ts";
import { commandHelp } from "./help.ts";

export { helpPage } from "./help-topics.ts";

/** Returns the words of a command line that starts with options, with its command first. Undefined if they name none. */
export function withCommandFirst(argv: readonly string[]): string[] | undefined {
  const end = argv.indexOf("--");
  const index = argv.findIndex((word, at) => declaredCommands.has(word) && (end === -1 || at < end));
  return index === -1 ? undefined : [argv[index]!, ...argv.slice(0, index), ...argv.slice(index + 1)];
}

/** Returns the error for an option that a command does not have, with the commands that have it. */
export function explainOption({ option }: UnknownOption, command: string): UnknownOption {
  return unknownOption(option, command, declaredCommands);
}

/**
 * Runs one of the commands that use a server and returns the exit code. Reports errors and does not throw them.
 *
 * The first Ctrl-C cancels the work and closes the connection. After a second one this function returns immediately,
 * with handles still open. The caller then ends the process.
 */
export async function runClientCommand(
  name: string | undefined,
  argv: readonly string[],
  io: CommandIo,
): Promise<number> {
  const command = clientCommands.get(name ?? "");
  const words = readWords(argv, command?.options ?? commonOptions);
  const json = hasOption(words, commonOptions.json) ? (command?.printsLines ? "line" : "document") : undefined;
  const facts: FailureFacts = {};
  const screen = new Screen(io, () => stop.breakPipe());
  const stop = new Stop(io, () => {
    screen.endProgress();
    screen.note("Stopping. Press Ctrl-C again to exit immediately.");
  });
  const report = { screen, json, verbose: hasOption(words, commonOptions.verbose) } as const;
  try {
    const work = runCommand(name, words, { io, screen, stop, facts }).then(
      () => endedBySignal(stop) ?? exitCodes.ok,
      (error: unknown) => endedBy(error, stop) ?? reportError(inTime(error, facts, stop), { ...report, ...facts }),
    );
    // The request of a renewal is not aborted with the call for which the tokens are renewed.
    const workAndRelease = work.then((code) => credentialsReleased().then(() => code));
    return await Promise.race([
      workAndRelease,
      stop.secondSignal.then(() => endedBySignal(stop) ?? exitCodes.interrupted),
    ]);
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

/** Returns the error of a command. After the end of `--timeout`, the reason is the time and not its consequence. */
function inTime(error: unknown, { program, timeout = 0 }: FailureFacts, { reason }: Stop): unknown {
  if (reason !== "timeout" || error instanceof UsageError) return error;
  const stray = program?.strayLine === undefined ? "" : ` The server printed to stdout. ${program.strayLine}`;
  return new LocalError("timeout", `The command did not finish within ${timeout / 1000} s.${stray}`, { cause: error });
}

async function runCommand(
  name: string | undefined,
  words: Words,
  setting: Omit<CommandSetting, "options" | "targetOptions">,
): Promise<void> {
  const { screen, facts } = setting;
  if (name === undefined)
    throw new UsageError(
      `Which command? ${JSON.stringify(words.options[0]?.word ?? words.positionals[0] ?? "--")} is an option, and no command follows.`,
      "Such as: mcparley list TARGET --json. mcparley help shows the commands.",
    );
  const command = clientCommands.get(name);
  if (!command)
    throw new UsageError(`There is no command ${JSON.stringify(name)}.`, didYouMean(name, declaredCommands.keys()));
  const options = readOptions(words, { name, options: command.options }, declaredCommands);
  const isFormerYes = options.yes === true && command.options.yes === formerYes;
  if (isFormerYes) screen.noteParagraph(yesNotice(command.options));
  if (options.help) {
    await printText(commandHelp(name, command, screen.out.terminal ? screen.out.width : 80), { screen });
    return;
  }
  if (typeof options.timeout === "number") facts.timeout = options.timeout;
  const targetOptions = optionsOfTarget(isFormerYes ? withTrust(words) : words, command.options, declaredCommands);
  await command.run(words, {
    ...setting,
    targetOptions,
    options: isFormerYes ? { ...options, trust: true, sendAnswers: true, allow: ["*"] } : options,
  });
}

/** Returns words with `--trust`, as which `--yes` is repeated. */
function withTrust(words: Words): Words {
  return { ...words, options: [...words.options, { name: "trust", word: "--trust", value: undefined }] };
}
