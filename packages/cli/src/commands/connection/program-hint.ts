import { LocalError } from "mcparley";
import type { KnownTarget } from "../../targets/known-target.ts";
import { isObject } from "@mcparley/internal/is-object";

interface Failure {
  /** The message of the error, and the end of the stderr of the server. */
  readonly output: string;
  readonly target?: KnownTarget | undefined;
  /** The variables of this environment that the server does not receive. */
  readonly hiddenVariables?: readonly string[] | undefined;
}

/** Maximum characters of the output that are read, from its end. The end of the stderr has at most 8,192. */
const readCharacters = 65_536;

/** Returns a hint for a started server, if the failure shows that it lacks a variable or cannot be started in this way. */
export function programHint(
  error: unknown,
  { output: fullOutput, target, hiddenVariables = [] }: Failure,
): string | undefined {
  const output = fullOutput.slice(-readCharacters);
  const words = new Set(output.match(variableName));
  const missing = hiddenVariables.filter((name) => words.has(name));
  if (missing.length > 0) {
    const options = missing.map((name) => `--env ${name}`).join(" ");
    return `The server does not receive ${missing.join(", ")} of this shell. Add ${options}.`;
  }
  if (!(error instanceof LocalError)) return undefined;
  const [program = "", ...args] = target?.command ?? [];
  if (error.code === "unreachable" && args.length === 0 && /\s/.test(program))
    return "Write each word of the command after -- without quotes around the whole command.";
  if (error.code !== "exited") return undefined;
  if (/ERR_UNKNOWN_FILE_EXTENSION\b[^\n]{0,1000}\.[cm]?ts\b|Unknown file extension "\.[cm]?ts"/.test(output))
    return "This version of Node does not run TypeScript. Start the server with npx tsx, or use Node 22.18 or newer.";
  if (hiddenVariables.length === 0 || !mayLackVariable(error)) return undefined;
  return "The server receives few variables of this shell, such as PATH and HOME. Pass others with --env NAME, or all with --env-all.";
}

const variableName = /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g;
/** Names of the same form that are codes of errors: `ERR_MODULE_NOT_FOUND`, `MODULE_NOT_FOUND`. */
const errorCode = /^(?:ERR|UV)_|_NOT_FOUND$|_ERROR$/;
const environment = /\benvironment\b|\benv[ _-]?var|\.env\b|\bgetenv\b|\bapi[ _-]?key|\bcredential/i;

/**
 * Whether a server may have ended because it does not receive a variable: it failed, and its stderr names a variable, the
 * environment or a key, or is empty.
 */
function mayLackVariable({ data }: LocalError): boolean {
  if (!isObject(data) || data.exitCode === 0 || typeof data.stderr !== "string") return false;
  const names = data.stderr.match(variableName) ?? [];
  return data.stderr === "" || environment.test(data.stderr) || names.some((name) => !errorCode.test(name));
}
