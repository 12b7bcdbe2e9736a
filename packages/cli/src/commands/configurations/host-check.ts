import { type ConfigPlan, hosts } from "@mcparley/config";
import { redact } from "mcparley";
import type { TalkSetting } from "../../terminal/questions/prompter.ts";
import { cut, visibleLine } from "../../terminal/text.ts";
import { runTool } from "./run-tool.ts";

/** The time limit of the check of a host in milliseconds. Some hosts start all their servers in it. */
const timeout = 60_000;

/** The outcome of the command with which a host shows its servers. */
export interface HostCheck {
  readonly command: string;
  readonly outcome: "listed" | "not_listed" | "failed" | "timeout" | "not_installed" | "not_run";
  /** The lines of its output that have the name of the server, or the last line if it failed. */
  readonly lines: readonly string[];
}

/**
 * Runs the check of a host for a changed entry. Returns undefined if the host has none. It is not run for an entry of one folder: some hosts
 * start the other servers of the folder in it, which the user may not trust.
 */
export async function checkHost(
  { host, name, scope }: Pick<ConfigPlan, "host" | "name" | "scope">,
  setting: TalkSetting,
): Promise<HostCheck | undefined> {
  const words = hosts.find(({ id }) => id === host)?.check;
  if (!words) return undefined;
  const command = words.join(" ");
  if (scope !== "user") return { command, outcome: "not_run", lines: [] };
  const result = await runTool(words, { io: setting.io, signal: setting.stop.signal, timeout });
  if (!result) return { command, outcome: "not_installed", lines: [] };
  const lines = `${result.stdout}\n${result.err}`.split("\n").filter((line) => line.trim() !== "");
  if (result.code === undefined) return { command, outcome: "timeout", lines: [] };
  if (result.code !== 0) return { command, outcome: "failed", lines: lines.slice(-1).map(safe) };
  const namedLines = lines.filter((line) => hasWord(line, name)).map(safe);
  return { command, outcome: namedLines.length > 0 ? "listed" : "not_listed", lines: namedLines.slice(0, 4) };
}

function safe(line: string): string {
  return cut(visibleLine(redact(line)), 200);
}

/** Whether a line has a name that is not a part of another. */
function hasWord(line: string, name: string): boolean {
  for (let index = line.indexOf(name); index !== -1; index = line.indexOf(name, index + 1)) {
    if (!isPart(line[index - 1]) && !isPart(line[index + name.length])) return true;
  }
  return false;
}

function isPart(character: string | undefined): boolean {
  return character !== undefined && /[\w-]/.test(character);
}

/** Returns the outcome of a check as text. */
export function describeCheck({ command, outcome, lines }: HostCheck, action: "add" | "update" | "remove"): string {
  const [first = ""] = lines;
  switch (outcome) {
    case "not_run":
      return `${command} was not run: it can start other servers of this folder.`;
    case "not_installed":
      return `${command} was not run: the program is not installed here.`;
    case "timeout":
      return `${command} did not end within ${timeout / 1000} s.`;
    case "failed":
      return `${command} failed${first === "" ? "" : `: ${first}`}`;
    case "listed":
      return `${command}${action === "remove" ? " still lists it" : ""}: ${lines.join(" ")}`;
    default:
      return action === "remove" ? `${command} does not list it any more.` : `${command} does not list it.`;
  }
}
