import type { Option, Options } from "../terminal/options.ts";
import { wrap } from "../terminal/text.ts";
import type { CommandDeclaration, TableRows } from "./connection/command.ts";

/** The names of the pages of `mcparley help`. */
export const topicNames = ["targets", "options", "questions", "network", "signing-in", "exit-codes", "errors"] as const;

const noBreakSpace = "\u00a0";

/** Returns the output of `mcparley COMMAND --help`, wrapped to `width` columns. */
export function commandHelp(name: string, command: CommandDeclaration, width: number): string {
  const columns = Math.min(width, 100);
  const { kind = "server", options, tables = {}, exitCodes } = command;
  const ownOptions = [
    ...optionsOf(options, undefined),
    ...(kind === "account" ? optionsOf(options, "signing-in") : []),
  ];
  // No line ends between an option and its value.
  const labels = optionsOf(options, "options").map((one) => optionLabel(one).trim().replaceAll(" ", noBreakSpace));
  const topics = topicNames.filter((topic) => {
    if (topic === "network" || topic === "signing-in") return optionsOf(options, topic).length > 0;
    if (topic === "targets") return command.namesTargets ?? command.usage.includes("TARGET");
    if (topic === "options") return kind !== "other";
    if (topic === "exit-codes" || topic === "errors") return exitCodes === undefined;
    return topic !== "questions" || kind === "server";
  });
  return [
    wrap(`mcparley ${name} ${command.usage}`, columns).join("\n"),
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
    ...command.details.map((text) => wrap(text, columns).join("\n")),
    ...Object.entries(tables).map(([title, rows]) => `${title}\n${table(rows, columns)}`),
    `Examples\n${command.examples.map((line) => `  ${line}`).join("\n")}`,
    ...(ownOptions.length === 0 ? [] : [`Options\n${optionTable(ownOptions, columns)}`]),
    `Common options\n${indentWrapped(labels.join("   "), columns).replaceAll(noBreakSpace, " ")}`,
    ...(exitCodes ? [`Exit codes\n${table(exitCodes, columns)}`] : []),
    ...(topics.length === 0
      ? []
      : [wrap(`More: mcparley help TOPIC, where TOPIC is ${topics.join(", ")}.`, columns).join("\n")]),
  ].join("\n\n");
}

/** Returns the options that a page of the help describes, or the help of their command if the page is undefined. */
export function optionsOf(options: Options, topic: Option["topic"]): Option[] {
  return Object.values(options).filter((option) => option.topic === topic);
}

function indentWrapped(text: string, columns: number): string {
  return wrap(text, columns - 2)
    .map((line) => `  ${line}`)
    .join("\n");
}

export function optionTable(options: readonly Option[], columns: number): string {
  return table(
    options.map((option) => [optionLabel(option), option.description]),
    columns,
  );
}

function optionLabel({ name, short, value }: Option): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

/** Returns rows in two columns, of which the second is wrapped. */
export function table(rows: TableRows, columns: number): string {
  const labelWidth = Math.max(...rows.map(([label]) => label.length)) + 4;
  return rows
    .flatMap(([label, text]) =>
      wrap(text, columns - labelWidth).map(
        (line, index) => `  ${(index === 0 ? label : "").padEnd(labelWidth - 2)}${line}`,
      ),
    )
    .join("\n");
}
