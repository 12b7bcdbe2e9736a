import { exitCodes } from "./client/report-error.ts";
import { type CommandIo, UsageError, version } from "./client/io.ts";
import { paragraph, viewOf } from "./client/screen.ts";
import { didYouMean } from "./did-you-mean.ts";
import { writeText } from "./output.ts";

/** The commands that use a server. */
export const clientCommandNames: readonly string[] = [
  "list",
  "call",
  "prompt",
  "read",
  "complete",
  "watch",
  "login",
  "logout",
  "whoami",
  "servers",
  "add",
  "remove",
];

/** The output of `mcparley --help`, at most 80 columns wide. */
export const help: string = `mcparley: serve a folder to MCP clients, and use any MCP server in a terminal

Usage
  mcparley serve DIR                 serve a folder of prompts, resources, tools
  mcparley chat [TARGET ...]         talk to a model that uses servers
  mcparley list TARGET               show what a server offers
  mcparley call TARGET TOOL k=v      call a tool
  mcparley prompt TARGET NAME k=v    get a prompt
  mcparley read TARGET URI           read a resource
  mcparley complete TARGET ...       complete an argument
  mcparley watch TARGET              print changes as they occur
  mcparley login TARGET              sign in to a server
  mcparley logout TARGET             sign out of it
  mcparley whoami TARGET             show your account at a server
  mcparley servers                   list the servers of all hosts
  mcparley add TARGET --to HOST      add a server to a host, such as claude-code
  mcparley remove NAME --from HOST   remove a server from a host
  mcparley help COMMAND|TOPIC        describe a command, or one of the topics
                                     targets, options, questions, network,
                                     signing-in, exit-codes

TARGET is a URL, a name of a configuration, or a command after --.

Options
  -h, --help     show this
      --version  show the version
`;

/** All commands, for the correction of names. */
const commandNames: readonly string[] = ["serve", "chat", ...clientCommandNames];

/** Runs the command and returns the exit code. `argv` starts with the command's name. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const [command, ...rest] = argv;
  try {
    if (command === "help" && rest[0] !== undefined) return await printHelp(rest[0], io);
    if (command === undefined || command === "--help" || command === "-h" || command === "help") {
      writeText(io.stdout, help);
      return command === undefined ? exitCodes.usage : exitCodes.ok;
    }
    if (command === "--version") {
      writeText(io.stdout, `${version}\n`);
      return exitCodes.ok;
    }
    // Server and client are loaded lazily, so a host that starts a server does not wait for client code.
    if (command === "serve") return await (await import("./serve/serve.ts")).runServe(rest, io);
    if (command === "chat") return await (await import("./chat/run-chat.ts")).runChat(rest, io);
    if (clientCommandNames.includes(command)) {
      return await (await import("./client/run.ts")).runClientCommand(command, rest, io);
    }
    throw new UsageError(`There is no command "${command}".`, didYouMean(command, commandNames));
  } catch (error) {
    return explain(error, io);
  }
}

/** Prints the help of a command or a topic. */
async function printHelp(word: string, io: CommandIo): Promise<number> {
  if (commandNames.includes(word)) return run([word, "--help"], io);
  const { helpTopics } = await import("./client/help.ts");
  const topic = helpTopics.get(word);
  if (!topic) {
    const known = [...commandNames, ...helpTopics.keys()];
    throw new UsageError(`There is no help for "${word}".`, didYouMean(word, known));
  }
  writeText(io.stdout, `${topic(Math.min(io.columns() ?? 80, 100))}\n`);
  return exitCodes.ok;
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
