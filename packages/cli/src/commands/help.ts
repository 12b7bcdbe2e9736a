import { networkOptions } from "../targets/options.ts";
import { signInOptions } from "../targets/sign-in/options.ts";
import { exitCodeMeanings } from "../terminal/exit-codes.ts";
import type { Option, Options } from "../terminal/options.ts";
import { wrap } from "../terminal/text.ts";
import { callCommand } from "./call.ts";
import type { CommandDeclaration } from "./connection/command.ts";
import { connectOptions, formerYes } from "./connection/options.ts";

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

const noBreakSpace = "\u00a0";

/** The pages of `mcparley help`, by name. Each is wrapped to a number of columns. */
export const helpTopics: ReadonlyMap<string, (columns: number) => string> = new Map<
  string,
  (columns: number) => string
>([
  ["targets", () => targetHelp],
  [
    "options",
    (columns) =>
      `Options of all commands that use a server\n${optionTable(optionsOf(connectOptions, "options"), columns)}`,
  ],
  [
    "questions",
    (columns) => {
      const { answer, sample, allow, sendAnswers } = callCommand.options;
      const { root, trust, noInput } = connectOptions;
      const options = [root, answer, sample, allow, sendAnswers, trust, formerYes, noInput];
      return page([questionsHelp, capabilitiesHelp], options, columns);
    },
  ],
  ["network", (columns) => page([networkHelp], Object.values(networkOptions), columns)],
  ["signing-in", (columns) => page([signInHelp], Object.values(signInOptions), columns)],
  [
    "exit-codes",
    (columns) => {
      const rows = exitCodeMeanings.map(([code, meaning]) => [String(code), meaning] as const);
      return `Exit codes\n${table(rows, columns)}`;
    },
  ],
]);

/** Returns the output of `mcparley COMMAND --help`, wrapped to `width` columns. */
export function commandHelp(name: string, command: CommandDeclaration, width: number): string {
  const columns = Math.min(width, 100);
  const { kind = "server", options } = command;
  const own = [...optionsOf(options, undefined), ...(kind === "account" ? optionsOf(options, "signing-in") : [])];
  // No line ends between an option and its value.
  const labels = optionsOf(options, "options").map((one) => optionLabel(one).trim().replaceAll(" ", noBreakSpace));
  const topics = [...helpTopics.keys()].filter((topic) => {
    if (topic === "network" || topic === "signing-in") return optionsOf(options, topic).length > 0;
    if (topic === "options") return kind !== "other";
    return topic !== "questions" || kind === "server";
  });
  return [
    wrap(`mcparley ${name} ${command.usage}`, columns).join("\n"),
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
    ...command.details.map((text) => wrap(text, columns).join("\n")),
    `Examples\n${command.examples.map((line) => `  ${line}`).join("\n")}`,
    ...(own.length === 0 ? [] : [`Options\n${optionTable(own, columns)}`]),
    `Common options\n${indented(labels.join("   "), columns).replaceAll(noBreakSpace, " ")}`,
    wrap(`More: mcparley help TOPIC, where TOPIC is ${topics.join(", ")}.`, columns).join("\n"),
  ].join("\n\n");
}

/** Returns the options that a page of the help describes, or the help of their command if the page is undefined. */
function optionsOf(options: Options, topic: Option["topic"]): Option[] {
  return Object.values(options).filter((option) => option.topic === topic);
}

/** Returns paragraphs and a table of options. */
function page(texts: readonly string[], options: readonly Option[], columns: number): string {
  return [...texts.map((text) => wrap(text, columns).join("\n")), optionTable(options, columns)].join("\n\n");
}

function indented(text: string, columns: number): string {
  return wrap(text, columns - 2)
    .map((line) => `  ${line}`)
    .join("\n");
}

function optionTable(options: readonly Option[], columns: number): string {
  return table(
    options.map((option) => [optionLabel(option), option.description]),
    columns,
  );
}

function optionLabel({ name, short, value }: Option): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function table(rows: readonly (readonly [string, string])[], columns: number): string {
  const left = Math.max(...rows.map(([label]) => label.length)) + 4;
  return rows
    .flatMap(([label, text]) =>
      wrap(text, columns - left).map((line, index) => `  ${(index === 0 ? label : "").padEnd(left - 2)}${line}`),
    )
    .join("\n");
}
