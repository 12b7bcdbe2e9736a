import { homedir } from "node:os";
import { basename, sep } from "node:path";
import { UsageError } from "./io.ts";

/** What the variables of a configuration file stand for. */
export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the file belongs to: the one that holds it, or holds its `.vscode` or `.cursor`. */
  readonly workspaceFolder: string;
  /** The file, for errors. */
  readonly source: string;
}

const reference = /\$\{([^{}]*)\}/g;

/**
 * Replaces `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${workspaceFolder}` and the other variables that editors know.
 *
 * Throws `UsageError` for a variable that has no value: a server started with half of its settings fails later and
 * further from the cause. `where` names the setting and its line.
 */
export function substitute(text: string, variables: Variables, where: string): string {
  return text.replace(reference, (whole: string, name: string) => {
    const value = valueOf(name, variables);
    if (value !== undefined) return value;
    throw new UsageError(`${where} uses ${whole}, ${whyUnset(name)}.`, cureFor(name));
  });
}

function valueOf(name: string, { env, workspaceFolder }: Variables): string | undefined {
  if (name === "workspaceFolder") return workspaceFolder;
  if (name === "workspaceFolderBasename") return basename(workspaceFolder);
  if (name === "userHome") return homedir();
  if (name === "pathSeparator" || name === "/") return sep;
  if (name.startsWith("env:")) return env[name.slice("env:".length)];
  const [, variable, , fallback] = /^([A-Za-z_]\w*)(:-(.*))?$/s.exec(name) ?? [];
  if (variable === undefined) return undefined;
  // As in a shell, `:-` also replaces a variable that is set to nothing.
  if (fallback !== undefined) return env[variable] || fallback;
  return env[variable];
}

function whyUnset(name: string): string {
  if (name.startsWith("input:")) return "which only an editor can ask for";
  if (/^(env:)?[A-Za-z_]\w*$/.test(name)) return "and that environment variable is not set";
  return "which is not a variable that is known here";
}

function cureFor(name: string): string {
  if (name.startsWith("input:")) return "Write ${env:NAME} instead and set that environment variable.";
  const variable = /^(?:env:)?([A-Za-z_]\w*)$/.exec(name)?.[1];
  if (variable !== undefined) return `Set it: ${variable}=... mcparley ...`;
  return "Known are ${env:NAME}, ${NAME}, ${NAME:-default}, ${workspaceFolder}, ${userHome} and ${pathSeparator}.";
}
