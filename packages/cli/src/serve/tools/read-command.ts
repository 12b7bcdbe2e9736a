import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { type ProgramSearch, locateExecutable } from "@mcparley/internal/find-executable";
import type { JsonObject } from "mcparley";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { type Element, placeholdersIn } from "./command-template.ts";
import { schemaOf } from "./check-schema.ts";
import { partsBelow } from "../files/inside-folder.ts";
import { bytes, duration } from "../yaml/values.ts";
import {
  type Field,
  isList,
  isMapping,
  items,
  members,
  number,
  oneOf,
  readMembers,
  text,
  texts,
  unread,
  wrong,
} from "../yaml/yaml-fields.ts";

/** The environment variables that every program receives, because it may need them to start. */
const basicEnv = ["PATH", "SystemRoot", "SYSTEMROOT", "PATHEXT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL"];

/** The program of a tool file. */
export interface Command {
  /** The program, and its arguments before they are filled in. */
  elements: Element[];
  stdin: string;
  cwd: string;
  env: Record<string, string>;
  /** Milliseconds. */
  timeLimit: number;
  /** Bytes of standard output. */
  outputLimit: number;
  /** The arguments that may be options of the program. */
  options: ReadonlySet<string>;
  /** The exit codes that mean success. */
  success: number[];
  /** The format of standard output: text, JSON, or JSON that matches this schema. */
  output: "text" | "json" | JsonObject;
}

/** The members of a tool file that describe its program. */
export const commandKeys: readonly string[] = Object.keys(readersOf([]));

function readersOf(properties: readonly string[]) {
  return {
    command: unread,
    stdin: (field: Field) => checkedText(field, properties),
    cwd: unread,
    env: unread,
    timeout: duration,
    maxOutput: bytes,
    allowOptions: (field: Field) => namesIn(field, properties),
    exitCodes: (field: Field) => items(field).map((item) => number(item)),
    output: (field: Field) => (isMapping(field) ? schemaOf(field, "output") : oneOf(field, ["text", "json"])),
  };
}

/**
 * Reads the command of a tool file and its settings. The file can also have `otherKeys`. `properties` are the names of the tool's arguments.
 * Throws `FolderProblem`.
 */
export async function readCommand(
  root: Field,
  otherKeys: readonly string[],
  { folder, env, properties }: { folder: string; env: NodeJS.ProcessEnv; properties: readonly string[] },
): Promise<Command> {
  const settings = readMembers(root, readersOf(properties), otherKeys);
  const { command, cwd, stdin = "", timeout = 30_000, maxOutput = 1024 ** 2, output = "text" } = settings;
  if (!command) throw wrong(root, "the file has no command", "Write `command: [program, argument, ...]`.");
  const elements = elementsOf(command, properties);
  const program = programFile(elements[0] as string, folder);
  const variables = environment(settings.env, env);
  await requireProgram(items(command)[0]!, program, { cwd: folder, env: variables });
  return {
    elements: elements.with(0, program),
    stdin,
    cwd: cwd ? await insideFolder(cwd, folder) : folder,
    env: variables,
    timeLimit: timeout,
    outputLimit: maxOutput,
    options: new Set(settings.allowOptions),
    success: settings.exitCodes ?? [0],
    output,
  };
}

function elementsOf(command: Field, properties: readonly string[]): Element[] {
  if (!isList(command)) {
    throw wrong(
      command,
      "command must be a list",
      'Write each argument separately, as in [grep, "-n", "{{pattern}}"]; no shell runs it.',
    );
  }
  const elements = items(command).map((item) =>
    isList(item) ? items(item).map((part) => checkedText(part, properties)) : checkedText(item, properties),
  );
  const [program] = elements;
  if (typeof program !== "string" || program === "" || placeholdersIn(program).length > 0) {
    throw wrong(command, "command must start with the name of a program", "A placeholder cannot select the program.");
  }
  return elements;
}

function checkedText(field: Field, properties: readonly string[]): string {
  const value = text(field);
  for (const name of placeholdersIn(value)) {
    if (properties.includes(name)) continue;
    throw wrong(field, `the placeholder {{${name}}} is not a property of input`, didYouMean(name, properties));
  }
  return value;
}

function namesIn(field: Field, properties: readonly string[]): string[] {
  return items(field).map((item) => {
    const name = text(item);
    if (properties.includes(name)) return name;
    throw wrong(item, `"${name}" in allowOptions is not a property of input`, didYouMean(name, properties));
  });
}

/** Returns the program to start. A path is relative to the folder. Any other name is searched on the PATH. */
function programFile(program: string, folder: string): string {
  return /[\\/]/.test(program) && !isAbsolute(program) ? join(folder, program) : program;
}

/** Throws `FolderProblem` if the program cannot be started, so that this is known before the first call. */
async function requireProgram(field: Field, file: string, place: Pick<ProgramSearch, "cwd" | "env">): Promise<void> {
  const program = text(field);
  // The Node that runs the server is used for it.
  if (program === "node") return;
  if ((await locateExecutable({ ...place, command: file, platform: process.platform })) !== undefined) return;
  if (!isAbsolute(file)) {
    const cure = "Install it, or give its path. It is searched in PATH.";
    throw wrong(field, `the program "${program}" is not installed`, cure);
  }
  const stats = await stat(file).catch(() => undefined);
  if (!stats?.isFile()) {
    throw wrong(field, `there is no program "${program}"`, "Give a path relative to the folder that is served.");
  }
  const cure = `Run \`chmod +x ${quotedWord(program)}\`, or name the interpreter first, as in [sh, ${program}].`;
  throw wrong(field, `"${program}" is not executable`, cure);
}

async function insideFolder(field: Field, folder: string): Promise<string> {
  const path = resolve(folder, text(field));
  const [real, top] = await Promise.all([realpath(path).catch(() => undefined), realpath(folder)]);
  if (real !== undefined && partsBelow(top, real)) return real;
  const message = real === undefined ? `there is no folder ${text(field)}` : "cwd leaves the folder that is served";
  throw wrong(field, message, "Give a path relative to the folder that is served, inside it.");
}

function environment(field: Field | undefined, env: NodeJS.ProcessEnv): Record<string, string> {
  const variables: Record<string, string> = {};
  const names = [...basicEnv];
  if (field && isMapping(field)) for (const [name, value] of members(field)) variables[name] = text(value);
  else if (field) names.push(...texts(field));
  for (const name of names) if (env[name] !== undefined) variables[name] ??= env[name];
  return variables;
}
