import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { endProcesses, processesOfHome } from "./process-tree.mjs";
import { PseudoTerminal } from "./pseudo-terminal.mjs";

/** The built command. */
export const program: string = fileURLToPath(new URL("../../../packages/cli/bin/mcparley.cjs", import.meta.url));

/** Options of `openTerminal`. All but one of `args` and `command` are optional. */
interface TerminalOptions {
  /** The arguments of the built command `mcparley`. */
  readonly args?: readonly string[];
  /** Another program and its arguments, in place of `mcparley`. */
  readonly command?: readonly [string, ...string[]];
  readonly columns?: number;
  readonly rows?: number;
  /** Variables to add to the environment, or to remove from it with undefined. The variables of this process are not passed on. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: a new folder beside the home folder. */
  readonly cwd?: string;
  /** A folder of `newHome`, if two programs share their files. Default: a new one. */
  readonly home?: string;
}

/** A pseudo-terminal with the folders of its program. */
export interface Terminal extends PseudoTerminal {
  readonly home: string;
  readonly cwd: string;
}

/** Starts the built command, or another program, in a pseudo-terminal that is closed when the test is finished. */
export function openTerminal(options: TerminalOptions): Terminal {
  const { args = [], command = [process.execPath, program, ...args], columns = 80, rows = 24 } = options;
  const home = options.home ?? newHome();
  const cwd = options.cwd ?? path.join(home, "work");
  mkdirSync(cwd, { recursive: true });
  const env = { ...environmentOf(home), ...options.env };
  const terminal = new PseudoTerminal({ command, columns, rows, env, cwd });
  onTestFinished(() => terminal.close());
  return Object.assign(terminal, { home, cwd });
}

/**
 * Returns a new home folder. When the test is finished, the processes that still use it are ended, such as the servers of a
 * program that was killed, and the folder is deleted.
 */
export function newHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), "mcparley-chat-"));
  onTestFinished(async () => {
    await endProcesses(processesOfHome(home));
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}

/** Returns the environment of a user without settings, whose files are all in one folder. */
export function environmentOf(home: string): Record<string, string | undefined> {
  return {
    PATH: process.env["PATH"],
    TMPDIR: process.env["TMPDIR"],
    HOME: home,
    XDG_CACHE_HOME: path.join(home, "cache"),
    XDG_CONFIG_HOME: path.join(home, "config"),
    XDG_DATA_HOME: path.join(home, "data"),
    XDG_STATE_HOME: path.join(home, "state"),
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
  };
}
