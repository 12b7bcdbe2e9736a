import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { CommandTarget, ProcessListener } from "../client/connect/transports.ts";
import { LocalError } from "../rpc/errors.ts";
import { guarded } from "../rpc/guarded.ts";
import { redact } from "../rpc/redact.ts";

/** The variables that a child process inherits, for its home directory, programs and language. None is a secret. */
const inheritedVariables: readonly string[] =
  process.platform === "win32"
    ? [
        "APPDATA",
        "COMMONPROGRAMFILES",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS",
        "OS",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "PROGRAMW6432",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERDOMAIN",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
      ]
    : [
        "HOME",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "LOGNAME",
        "NODE_EXTRA_CA_CERTS",
        "PATH",
        "SHELL",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
      ];

/**
 * Returns the environment of a server's process: the inherited variables and the given ones.
 *
 * The other variables are not inherited, because the environment of a host can contain its keys and tokens.
 */
export function childEnv(variables: Readonly<Record<string, string>> = {}): Record<string, string> {
  const isGiven = new Set(Object.keys(variables).map(fold));
  const env: Record<string, string> = {};
  for (const name of inheritedVariables) {
    const value = process.env[name];
    if (value !== undefined && !isGiven.has(fold(name))) env[name] = value;
  }
  return { ...env, ...variables };
}

/** On Windows names are case-insensitive, and two spellings of one name would have an undefined result. */
function fold(name: string): string {
  return process.platform === "win32" ? name.toUpperCase() : name;
}

/** Returns the error for a command that could not be started, with the reason and a cure. */
export function spawnError(
  target: { command: string; cwd?: string | undefined },
  cause: NodeJS.ErrnoException,
): LocalError {
  const { command, cwd } = target;
  const message = `Cannot start ${JSON.stringify(redact(command))}: ${reasonFor(command, cwd, cause)}`;
  return new LocalError("unreachable", message, { cause, data: { command, code: cause.code } });
}

function reasonFor(command: string, cwd: string | undefined, { code, message }: NodeJS.ErrnoException): string {
  if (cwd !== undefined && !existsSync(cwd)) {
    return `its working directory ${JSON.stringify(cwd)} does not exist. Create it, or correct cwd.`;
  }
  switch (code) {
    case "ENOENT":
      if (/\s/.test(command)) return withArguments(command);
      return /[\\/]/.test(command)
        ? "the file does not exist. Correct the path, or build or install the program."
        : "it was not found on PATH. Install it, use its absolute path, or set PATH in env.";
    case "EACCES":
    case "EPERM":
      return "permission to execute it was denied. Make it executable (chmod +x), or start it with its interpreter.";
    default:
      return `${message}.`;
  }
}

/** Returns the reason for a command that is not found and contains spaces: most likely it is a whole command line. */
function withArguments(command: string): string {
  const [program, ...args] = redact(command).trim().split(/\s+/);
  const parts = `{ command: ${JSON.stringify(program)}, args: ${JSON.stringify(args)} }`;
  return `no such program exists. "command" must be the name or path of a program; arguments belong into args: ${parts}.`;
}

/** The exit code of a process, or the signal that ended it. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The output of a process that ended, and its earlier failures. */
interface Ended {
  /** The end of its stderr, redacted. */
  stderr: string;
  /** A sentence about earlier failures. May be empty. */
  failureNote: string;
  /** Whether the process sent a message. */
  hasSpoken: boolean;
}

/** Returns the error for a server whose process ended. */
export function exitedError(
  command: string,
  { code, signal }: Exit,
  { stderr, failureNote, hasSpoken }: Ended,
): LocalError {
  const how = signal === null ? `with code ${code}` : `by the signal ${signal}`;
  const cure = code === 0 && !hasSpoken ? ` ${neverServed}` : "";
  const excerpt = excerptOf(stderr);
  const output = excerpt === "" ? "It wrote nothing to stderr." : `The end of its stderr:\n${excerpt}`;
  const message = `The server ${JSON.stringify(redact(command))} exited ${how}.${failureNote}${cure} ${output}`;
  return new LocalError("exited", message, { data: { exitCode: code, signal, stderr } });
}

const neverServed =
  "It ended by itself and sent no message. Check that it calls serveStdio or its equivalent, and that no condition, such as a test for the main module, prevents this.";

/** The part of stderr that an error shows. */
const SHOWN_LINES = 12;
const SHOWN_CHARS = 1_500;
const HEADLINE_CHARS = 500;

/** The first line of an error, as common runtimes print it. Lines of stack traces and causes are indented. */
const headline = /^(?:\w+: )?(?:Uncaught )?(?:[\w.$]*(?:Error|Exception|Panic)\b|(?:error|fatal|panic)\b.*:)/i;

/**
 * Returns the last lines of stderr, without frames inside of Node. If the last error starts before them, its first line
 * precedes them.
 */
function excerptOf(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => !/^\s+at .*\bnode:/.test(line));
  const tail = lines.slice(-SHOWN_LINES).join("\n").slice(-SHOWN_CHARS);
  const error = lines.findLast((line) => headline.test(line))?.slice(0, HEADLINE_CHARS);
  return error === undefined || tail.includes(error) ? tail : `${error}\n…\n${tail}`;
}

const TAIL_CHARS = 8_192;

/**
 * Reads the stderr of a child, because a full pipe would block it. Errors of the sink are reported. The returned function
 * returns the last 8 KiB, redacted.
 */
export function stderrTail(
  stderr: Readable,
  sink: NonNullable<CommandTarget["stderr"]>,
  report: (error: Error) => void,
): () => string {
  const decoder = new StringDecoder("utf8");
  let tail = "";
  stderr.on("error", () => {});
  stderr.on("data", (chunk: Buffer) => {
    const text = decoder.write(chunk);
    tail = (tail + text).slice(-TAIL_CHARS);
    if (sink === "inherit") process.stderr.write(chunk);
    else if (sink !== "ignore") reporting(() => sink(text), report);
  });
  return () => redact(tail.trim());
}

/** Calls a callback of the target, and reports its error. */
export function reporting<T>(callback: () => T, report: (error: Error) => void): T | undefined {
  return guarded(callback, (error) => report(error instanceof Error ? error : new Error(String(error))));
}

/** Calls `onStart` before a process is started, and returns the listener for its start and end. Its errors are reported. */
export function listenerFor(
  onStart: CommandTarget["onStart"],
  report: (error: Error) => void,
): Required<ProcessListener> {
  const listener = onStart && reporting(onStart, report);
  return {
    started: (pid) => reporting(() => listener?.started?.(pid), report),
    ended: () => reporting(() => listener?.ended?.(), report),
  };
}
