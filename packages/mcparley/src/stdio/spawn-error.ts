import { existsSync } from "node:fs";
import { LocalError } from "../rpc/errors.ts";

/** What a command that could not be started needs, in words. */
export function spawnError(
  target: { command: string; cwd?: string | undefined },
  cause: NodeJS.ErrnoException,
): LocalError {
  const { command, cwd } = target;
  const message = `Cannot start ${JSON.stringify(command)}: ${reasonFor(command, cwd, cause)}`;
  return new LocalError("unreachable", message, { cause, data: { command, code: cause.code } });
}

function reasonFor(command: string, cwd: string | undefined, { code, message }: NodeJS.ErrnoException): string {
  if (cwd !== undefined && !existsSync(cwd)) {
    return `its working directory ${JSON.stringify(cwd)} does not exist. Make it, or correct cwd.`;
  }
  switch (code) {
    case "ENOENT":
      return /[\\/]/.test(command)
        ? "there is no such file. Correct the path, or build or install what belongs there."
        : "it was not found on PATH. Install it, give its absolute path, or pass a PATH with env.";
    case "EACCES":
    case "EPERM":
      return "it may not be executed. Make it executable (chmod +x), or start it with its interpreter.";
    default:
      return `${message}.`;
  }
}

/** How a process ended: an exit code, or the signal that ended it. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const SHOWN_LINES = 12;
const SHOWN_CHARS = 1_500;

/** The error for a server whose process ended; `stderr` is the end of what it wrote there, redacted. */
export function exitedError(command: string, { code, signal }: Exit, stderr: string): LocalError {
  const how = signal === null ? `with code ${code}` : `by the signal ${signal}`;
  const shown = stderr.split("\n").slice(-SHOWN_LINES).join("\n").slice(-SHOWN_CHARS);
  const said = shown === "" ? "It wrote nothing to stderr." : `The end of its stderr:\n${shown}`;
  const message = `The server ${JSON.stringify(command)} exited ${how}. ${said}`;
  return new LocalError("exited", message, { data: { exitCode: code, signal, stderr } });
}
