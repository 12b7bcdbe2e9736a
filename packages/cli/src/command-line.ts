import { exitCodes } from "./client/report-error.ts";
import { type CommandIo, UsageError, version } from "./client/io.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { ServeIo } from "./serve/serve.ts";

export type ProgramIo = CommandIo & ServeIo;

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
];

/** What `mcparley --help` prints; at most 80 columns wide. */
export const help: string = `mcparley: serve a folder to MCP clients, and use any MCP server in a terminal

Usage
  mcparley serve DIR                 serve a folder of prompts, resources, tools
  mcparley list TARGET               show what a server offers
  mcparley call TARGET TOOL k=v      call a tool
  mcparley prompt TARGET NAME k=v    get a prompt
  mcparley read TARGET URI           read a resource
  mcparley complete TARGET ...       complete an argument
  mcparley watch TARGET              show what changes, as it changes
  mcparley login TARGET              sign in to a server
  mcparley logout TARGET             sign out of it
  mcparley whoami TARGET             show as whom you are signed in

TARGET is a URL, a name from mcp.json, or a command after --.
mcparley COMMAND --help says more of each.

Options
  -h, --help     show this
      --version  show the version
`;

/** Runs the command with the words after its name and gives the code to exit with. */
export async function run(argv: readonly string[], io: ProgramIo): Promise<number> {
  const [command, ...rest] = argv;
  try {
    if (command === undefined || command === "--help" || command === "-h" || command === "help") {
      io.stdout.write(help);
      return command === undefined ? exitCodes.usage : exitCodes.ok;
    }
    if (command === "--version") {
      io.stdout.write(`${version}\n`);
      return exitCodes.ok;
    }
    // Each side is loaded when it is wanted: a host that starts a server waits for nothing that only a client needs.
    if (command === "serve") return await (await import("./serve/serve.ts")).runServe(rest, io);
    if (clientCommandNames.includes(command)) {
      return await (await import("./client/run.ts")).runClientCommand(command, rest, io);
    }
    throw new UsageError(`There is no command "${command}".`, didYouMean(command, ["serve", ...clientCommandNames]));
  } catch (error) {
    return explain(error, io);
  }
}

function explain(error: unknown, io: ProgramIo): number {
  if (error instanceof UsageError) {
    io.stderr.write(`mcparley: ${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`);
    return exitCodes.usage;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.stderr.write(`mcparley failed, which it should not. Please report this:\n${detail}\n`);
  return exitCodes.internal;
}
