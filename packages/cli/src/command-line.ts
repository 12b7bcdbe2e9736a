import { exitCodes } from "./terminal/exit-codes.ts";
import { type CommandIo, UsageError, version } from "./terminal/io.ts";
import { UnknownOption } from "./terminal/options.ts";
import { paragraph, viewOf } from "./terminal/screen.ts";
import { writeText } from "./terminal/output.ts";

/** Loads the commands that use a server, and the help. */
const loadCommands = () => import("./commands/run.ts");

/** Runs the command and returns the exit code. `argv` starts with the command's name. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const [command, ...words] = argv;
  try {
    if (command === undefined || command === "--help" || command === "-h" || command === "help") {
      const { helpPage } = await loadCommands();
      writeText(io.stdout, `${helpPage(command === "help" ? words : [], io.columns() ?? 80)}\n`);
      return command === undefined ? exitCodes.usage : exitCodes.ok;
    }
    if (command === "--version") {
      writeText(io.stdout, `${version}\n`);
      return exitCodes.ok;
    }
    if (command.startsWith("-")) {
      const { runClientCommand, withCommandFirst } = await loadCommands();
      const reordered = withCommandFirst(argv);
      return await (reordered ? run(reordered, io) : runClientCommand(undefined, argv, io));
    }
    // Server and client are loaded lazily, so a host that starts a server does not wait for client code.
    if (command === "serve") {
      return await (await import("./serve/serve.ts")).runServe(words, io).catch(async (error: unknown) => {
        // The other commands are only loaded for this message.
        if (error instanceof UnknownOption) throw (await loadCommands()).explainOption(error, command);
        throw error;
      });
    }
    if (command === "chat") return await (await import("./chat/run-chat.ts")).runChat(words, io);
    return await (await loadCommands()).runClientCommand(command, words, io);
  } catch (error) {
    return explain(error, io);
  }
}

function explain(error: unknown, io: CommandIo): number {
  if (error instanceof UsageError) {
    const view = viewOf(io, io.isTerminal.stderr);
    const hint = error.hint === undefined ? "" : `${paragraph(error.hint, view, "  ")}\n`;
    writeText(io.stderr, `${paragraph(`mcparley: ${error.message}`, view)}\n${hint}`);
    return exitCodes.usage;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  writeText(io.stderr, `mcparley failed with an internal error. Please report it:\n${detail}\n`);
  return exitCodes.internal;
}
