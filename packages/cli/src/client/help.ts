import { exitCodeMeanings } from "./report-error.ts";
import { type OptionDefinition, optionDefinitions } from "./options.ts";
import type { AccountCommand, ClientCommand } from "./session.ts";
import { wrap } from "./terminal-text.ts";

const targetHelp = [
  "TARGET is one of",
  "  a URL            http://127.0.0.1:3333/mcp",
  "  a name           in mcp.json, .mcp.json, .vscode/mcp.json or .cursor/mcp.json",
  "                   of this folder or one above it",
  "  -- COMMAND ...   a program to start, after all other words:",
  "                   mcparley call add a=1 b=2 -- node server.js",
].join("\n");

const questionsHelp =
  "A server may ask you something while it works. You are asked at the terminal, and see the whole answer before it is " +
  "sent. Without a terminal, or with --no-input, questions are declined, unless --answer gives what a form requires; " +
  "its other fields then have their defaults. A URL is opened only when you say so at the terminal.";

const signInHelp =
  "A server at a URL may want you to sign in: you are asked at the terminal, and a browser is opened when you say so; " +
  "without a terminal the command fails with exit code 3. What signing in gives is kept, encrypted, for the next time.";

/** The options that apply to account commands, which send no MCP request. */
const accountOptions: ReadonlySet<string> = new Set(["json", "timeout", "no-input", "verbose", "help"]);

/** Returns the output of `mcparley COMMAND --help`, wrapped to `width` columns. */
export function commandHelp(name: string, command: ClientCommand | AccountCommand, width: number): string {
  const columns = Math.min(width, 100);
  const isAboutAccount = "run" in command;
  return [
    wrap(`mcparley ${name} ${command.usage}`, columns).join("\n"),
    sentence(command.summary),
    ...command.details.map((text) => wrap(text, columns).join("\n")),
    `Examples\n${command.examples.map((line) => `  ${line}`).join("\n")}`,
    targetHelp,
    ...(isAboutAccount ? [] : [`Questions\n${indented(questionsHelp, columns)}`]),
    `Options\n${optionTable((one) => !one.topic && (!isAboutAccount || accountOptions.has(one.name)), columns)}`,
    `Signing in\n${indented(signInHelp, columns)}\n\n${optionTable(({ topic }) => topic === "sign-in", columns)}`,
    `Exit codes\n${table(
      exitCodeMeanings.map(([code, meaning]) => [String(code), meaning]),
      columns,
    )}`,
  ].join("\n\n");
}

function indented(text: string, columns: number): string {
  return wrap(text, columns - 2)
    .map((line) => `  ${line}`)
    .join("\n");
}

function optionTable(isWanted: (option: OptionDefinition) => boolean, columns: number): string {
  const rows = optionDefinitions
    .filter(isWanted)
    .map(({ name, short, value, description }): [string, string] => [optionLabel(name, short, value), description]);
  return table(rows, columns);
}

function optionLabel(name: string, short: string | undefined, value: string | undefined): string {
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

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
