import { networkOptions } from "../targets/options.ts";
import { signInOptions } from "../targets/sign-in/options.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { exitCodeMeanings } from "../terminal/exit-codes.ts";
import { UsageError } from "../terminal/io.ts";
import type { Option } from "../terminal/options.ts";
import { wrap } from "../terminal/text.ts";
import { declaredCommands } from "./all-commands.ts";
import { callCommand } from "./call.ts";
import { connectOptions, formerYes } from "./connection/options.ts";
import { errorList, errorNames, errorPage } from "../terminal/error-help.ts";
import { commandHelp, optionTable, optionsOf, table, topicNames } from "./help.ts";

const targetHelp = [
  "TARGET is one of",
  "  a URL            http://127.0.0.1:3333/mcp",
  "  a name           in mcp.json, .mcp.json, .vscode/mcp.json or .cursor/mcp.json",
  "                   of this folder or one above it, and then in the",
  "                   configurations of hosts: mcparley servers",
  "  HOST:NAME        a name in those of one host: claude-code:notes",
  "  -- COMMAND ...   a program to start, after all other words:",
  "                   mcparley call add a=1 b=2 -- node server.js",
].join("\n");

const questionsHelp =
  "A server may ask you for input while it works. You are asked at the terminal, and see the complete answer before it is " +
  "sent. Without a terminal, or with --no-input, questions are declined, unless --answer gives what a form requires; " +
  "its other fields then have their defaults. A URL is opened only if you agree at the terminal.";

const capabilitiesHelp =
  "Some servers offer a tool only to clients that have a model or folders. Such tools are not listed unless --sample or " +
  "--root is given. The server receives the path of each --root; it can ask for nothing else in your file system, but a " +
  "server that you start has all your rights in any case.";

const networkHelp =
  "Servers at a URL are reached through the proxy that the environment names: HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, but not " +
  "for this machine and the hosts in NO_PROXY. --proxy replaces them. Other programs can see the words of a command, so pass " +
  "the password of a proxy in HTTPS_PROXY. Certificates are always verified; --cacert and the file in NODE_EXTRA_CA_CERTS add " +
  "authorities. The client certificate is sent only to the server, and not to a proxy or to the server of a sign-in.";

const signInHelp =
  "A server at a URL may require a sign-in. You are asked at the terminal, and a browser is opened if you agree. Without a " +
  "terminal the command fails with exit code 3. The credentials are stored, encrypted, for the next time.";

const { answer, sample, allow, sendAnswers } = callCommand.options;
const { root, trust, noInput } = connectOptions;
const questionOptions = [root, answer, sample, allow, sendAnswers, trust, formerYes, noInput];

/** The pages of `mcparley help` by name. Each is wrapped to a number of columns. */
export const helpTopics: Readonly<Record<(typeof topicNames)[number], (columns: number) => string>> = {
  targets: () => targetHelp,
  errors: errorList,
  options: (columns) =>
    `Options of all commands that use a server\n${optionTable(optionsOf(connectOptions, "options"), columns)}`,
  questions: (columns) => page([questionsHelp, capabilitiesHelp], questionOptions, columns),
  network: (columns) => page([networkHelp], Object.values(networkOptions), columns),
  "signing-in": (columns) => page([signInHelp], Object.values(signInOptions), columns),
  "exit-codes": (columns) =>
    `Exit codes\n${table(
      exitCodeMeanings.map(([code, meaning]) => [String(code), meaning]),
      columns,
    )}`,
};

/** Returns paragraphs and a table of options. */
function page(texts: readonly string[], options: readonly Option[], columns: number): string {
  return [...texts.map((text) => wrap(text, columns).join("\n")), optionTable(options, columns)].join("\n\n");
}

/** Returns the help of a command, a topic or an error, or without words that of the program. Throws `UsageError` for unknown words. */
export function helpPage(words: readonly string[], width: number): string {
  const columns = Math.min(width, 100);
  if (words.length === 0) return programHelp(columns);
  const word = words.join(" ");
  const command = declaredCommands.get(word);
  if (command) return commandHelp(word, command, columns);
  const topic = topicNames.find((name) => name === word);
  if (topic) return helpTopics[topic](columns);
  const error = errorPage(word, columns);
  if (error !== undefined) return error;
  const names = [...declaredCommands.keys(), ...topicNames, ...errorNames()];
  throw new UsageError(`There is no help for "${word}".`, didYouMean(word, names));
}

/** Maximum length of the words of a command that are shown whole. */
const maxWords = 16;

/** Returns the output of `mcparley --help`: a line for each command. Of long words after its name, those before the first choice are shown. */
function programHelp(columns: number): string {
  const rows = [...declaredCommands].map(([name, { usage, summary }]) => {
    const [firstWords = ""] = /^(?:[A-Z]+ )*/.exec(usage) ?? [];
    return [`mcparley ${name} ${usage.length > maxWords ? `${firstWords}...` : usage}`, summary] as const;
  });
  const topics = `describe a command, or one of the topics ${topicNames.join(", ")}`;
  const more = [
    ["mcparley help COMMAND|TOPIC", topics] as const,
    ["mcparley help CODE", "explain an error, such as ECONNREFUSED, 401 or exit 5"] as const,
  ];
  const options = [["-h, --help", "show this"] as const, ["    --version", "show the version"] as const];
  return [
    "mcparley: serve a folder to MCP clients, and use any MCP server in a terminal",
    `Usage\n${table([...rows, ...more], columns)}`,
    wrap(
      "TARGET is a URL, a name of a configuration, or a command after --. HOST is a program with MCP servers, such as claude-code or vscode.",
      columns,
    ).join("\n"),
    `Options\n${table(options, columns)}`,
  ].join("\n\n");
}
