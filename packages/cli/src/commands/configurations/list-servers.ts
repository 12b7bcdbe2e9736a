import { homeFolder } from "@mcparley/internal/home-folder";
import { type ConfiguredServer, type Problem, type ReadResult, type Scope } from "@mcparley/config";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { Reported } from "../connection/report-error.ts";
import { type View, paragraph, printJson, printText } from "../../terminal/screen.ts";
import type { CommandSetting } from "../connection/command.ts";
import { visibleLine, widthOf } from "../../terminal/text.ts";
import { readGivenFile } from "../../targets/config-file.ts";
import { withoutCure } from "../../targets/config-problem.ts";
import { readAll } from "../../targets/find-server.ts";
import { describeTarget } from "./safe-target.ts";

/** Prints the servers of all hosts, or of the file of `--config`. Ends with exit code 1 if a file or an entry is invalid. */
export async function listServers({
  io,
  screen,
  options,
}: CommandSetting<{ readonly json: boolean; readonly config: string | undefined }>): Promise<void> {
  const result = options.config === undefined ? readAll(io) : readGivenFile(options.config, io);
  const servers = result.servers.toSorted(compareServers);
  const problems = problemsOf(result);
  if (options.json) {
    await printJson({ servers: servers.map(toJson), problems: problems.map(problemToJson) }, { screen });
  } else {
    const home = homeFolder(io.env);
    await printText(
      showServers(servers, screen.out, (file) => shorten(file, home)),
      { screen },
    );
    for (const { message, cure } of problems) {
      screen.note(paragraph(`mcparley: ${withoutCure(message, cure)}`, screen.err));
      if (cure !== undefined) screen.note(paragraph(cure, screen.err, "  "));
    }
  }
  if (problems.length > 0) throw new Reported(exitCodes.usage);
}

function problemsOf({ servers, problems }: ReadResult): Problem[] {
  return [...problems, ...servers.flatMap((server) => server.problems)].toSorted(
    (first, second) => compare(first.file, second.file) || (first.position?.line ?? 0) - (second.position?.line ?? 0),
  );
}

const scopes: readonly Scope[] = ["local", "project", "user"];

function compareServers(first: ConfiguredServer, second: ConfiguredServer): number {
  return (
    compare(first.name, second.name) ||
    compare(first.host, second.host) ||
    scopes.indexOf(first.scope) - scopes.indexOf(second.scope) ||
    compare(first.file, second.file)
  );
}

/** Compares by code units, so that the order is the same in each locale. */
function compare(first: string, second: string): number {
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

function toJson({ name, host, scope, folder, file, line, isDisabled, target }: ConfiguredServer): object {
  const transport = target?.kind === "url" ? target.transport : "stdio";
  return {
    name,
    host,
    scope,
    folder,
    file,
    line,
    disabled: isDisabled,
    ...(target && { transport, target: describeTarget(target) }),
    ...(target?.revision !== undefined && { revision: target.revision }),
  };
}

function problemToJson({ message, cure, file, position }: Problem): object {
  return { message: withoutCure(message, cure), hint: cure, file, ...position };
}

/** Returns a table, or two lines for each server if the table is wider than the terminal. */
function showServers(servers: readonly ConfiguredServer[], view: View, short: (file: string) => string): string {
  if (servers.length === 0) return "No host has a server. Add one: mcparley help add";
  const rows = servers.map((server) => cellsOf(server, short));
  const head = ["Name", "Host", "Scope", "Target", "Place"] as const;
  const widths = head.map((title, column) => Math.max(...[head, ...rows].map((row) => widthOf(row[column] ?? title))));
  const { bold, dim } = view.style;
  if (widths.reduce((sum, width) => sum + width + 2, -2) <= view.width) {
    const lines = [head, ...rows].map((row) => row.map((cell, column) => pad(cell, widths[column]!)).join("  "));
    return lines.map((line, index) => (index === 0 ? bold(line.trimEnd()) : line.trimEnd())).join("\n");
  }
  return rows
    .map(([name, host, scope, target, place]) => `${bold(name)}  ${host} (${scope})  ${target}\n  ${dim(place)}`)
    .join("\n");
}

type Cells = readonly [name: string, host: string, scope: string, target: string, place: string];

function cellsOf(
  { name, host, scope, target, isDisabled, file, line }: ConfiguredServer,
  short: (file: string) => string,
): Cells {
  const text = target ? visibleLine(describeTarget(target)) : "(invalid)";
  return [
    visibleLine(name),
    host,
    scope,
    isDisabled ? `${text} (disabled)` : text,
    visibleLine(`${short(file)}:${line}`),
  ];
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Returns a path that starts with `~` if it is below the home folder. */
function shorten(file: string, home: string): string {
  return file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
