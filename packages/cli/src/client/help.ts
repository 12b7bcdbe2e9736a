import { exitCodeMeanings } from "./exit-codes.ts";
import { optionDefinitions } from "./options.ts";
import type { ClientCommand } from "./session.ts";
import { wrap } from "./terminal-text.ts";

const targetHelp = [
  "TARGET is one of",
  "  a URL            http://127.0.0.1:3333/mcp",
  "  a name           from mcp.json, .mcp.json, .vscode/mcp.json or .cursor/mcp.json,",
  "                   looked for in this folder and those above it",
  "  -- COMMAND ...   a program to start, after all other words:",
  "                   mcparley call add a=1 b=2 -- node server.js",
].join("\n");

/** What `mcparley COMMAND --help` prints, wrapped to `width` columns. */
export function commandHelp(name: string, command: ClientCommand, width: number): string {
  const columns = Math.min(width, 100);
  return [
    wrap(`mcparley ${name} ${command.usage}`, columns).join("\n"),
    sentence(command.summary),
    ...command.details.map((text) => wrap(text, columns).join("\n")),
    `Examples\n${command.examples.map((line) => `  ${line}`).join("\n")}`,
    targetHelp,
    `Options\n${table(
      optionDefinitions.map(({ name, short, value, description }) => [optionLabel(name, short, value), description]),
      columns,
    )}`,
    `Exit codes\n${table(
      exitCodeMeanings.map(([code, meaning]) => [String(code), meaning]),
      columns,
    )}`,
  ].join("\n\n");
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
