import { realpath } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { CallToolResult, JsonObject } from "mcparley";
import { type Tool, ToolError, tool } from "mcparley/server";
import { didYouMean } from "../did-you-mean.ts";
import { type Element, fillArguments, fillText, placeholdersIn } from "./command-template.ts";
import { icons } from "./icons.ts";
import { partsBelow } from "./inside-folder.ts";
import type { Loaded } from "./loaded.ts";
import { bytes, duration } from "./quantities.ts";
import { runProgram } from "./run-program.ts";
import { checkToolName } from "./tool-modules.ts";
import {
  type Field,
  boolean,
  isList,
  isMapping,
  items,
  members,
  number,
  oneOf,
  plain,
  readYaml,
  text,
  texts,
  wrong,
} from "./yaml-fields.ts";

const keys =
  "title description icons annotations input output command stdin cwd env timeout maxOutput allowOptions exitCodes".split(
    " ",
  );
const hints = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/** What a program is given of this process's environment unless the file names more: what it takes to start it. */
const basicEnv = ["PATH", "SystemRoot", "SYSTEMROOT", "PATHEXT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL"];

interface Command {
  elements: Element[];
  stdin: string;
  cwd: string;
  env: Record<string, string>;
  timeLimit: number;
  outputLimit: number;
  options: ReadonlySet<string>;
  success: number[];
  /** What standard output is: text, JSON, or JSON that matches this schema. */
  output: "text" | "json" | JsonObject;
}

/** Makes a tool of a YAML file that describes a command-line program. Throws `FolderProblem`. */
export async function commandTool(
  file: string,
  source: string,
  { folder, env }: { folder: string; env: NodeJS.ProcessEnv },
): Promise<Loaded<Tool>> {
  const parts = file
    .replace(/\.ya?ml$/, "")
    .split("/")
    .slice(1);
  const name = checkToolName(parts.join("_"), file);
  const root = readYaml({ file, text: source });
  const fields = members(root, keys);
  const input = fields.get("input");
  const properties = input ? propertiesOf(input) : [];
  const command = await readCommand({ root, fields, folder, env, properties });
  const listed = {
    ...describe(fields),
    ...(input && { input: plain(input) as JsonObject }),
    ...(typeof command.output === "object" && { output: command.output }),
  };
  const definition = tool({
    ...listed,
    call: async (values: JsonObject, ctx): Promise<never> => (await run(command, values, ctx.signal)) as never,
  }) as Tool;
  return { name, file, definition, shape: JSON.stringify(listed) };
}

async function run(
  command: Command,
  values: JsonObject,
  signal: AbortSignal,
): Promise<string | CallToolResult | JsonObject> {
  const [program, ...args] = fillArguments(command.elements, { values, options: command.options });
  const written = await runProgram(
    {
      ...command,
      // The same Node as this one, which may not be on the PATH under that name.
      file: program === "node" ? process.execPath : program!,
      args,
      stdin: fillText(command.stdin, values),
    },
    signal,
  );
  if (command.output === "text") return written;
  const value = parse(written);
  if (command.output !== "json") return value as JsonObject;
  const content: CallToolResult["content"] = [{ type: "text", text: JSON.stringify(value) }];
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? { content, structuredContent: value }
    : { content };
}

function parse(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch (cause) {
    const start = JSON.stringify(written.slice(0, 80));
    throw new ToolError(`The program should have written JSON, and wrote ${start}.`, { cause });
  }
}

function describe(fields: Map<string, Field>): { title?: string; description?: string } {
  const [title, description, pictures] = ["title", "description", "icons"].map((key) => fields.get(key));
  const annotations = fields.get("annotations");
  return {
    ...(title && { title: text(title) }),
    ...(description && { description: text(description) }),
    ...(pictures && { icons: icons(pictures) }),
    ...(annotations && { annotations: hintsOf(annotations) }),
  };
}

function hintsOf(field: Field): Record<string, string | boolean> {
  const entries = [...members(field, hints)];
  return Object.fromEntries(entries.map(([key, value]) => [key, key === "title" ? text(value) : boolean(value)]));
}

/** The names of the arguments. */
function propertiesOf(input: Field): string[] {
  const properties = members(input).get("properties");
  return properties ? [...members(properties).keys()] : [];
}

interface Reading {
  root: Field;
  fields: Map<string, Field>;
  folder: string;
  env: NodeJS.ProcessEnv;
  properties: readonly string[];
}

async function readCommand(reading: Reading): Promise<Command> {
  const { root, fields, folder, properties } = reading;
  const command = fields.get("command");
  if (!command) throw wrong(root, "the file has no command", "Write `command: [program, argument, ...]`.");
  const elements = elementsOf(command, properties);
  const get = <T>(key: string, read: (field: Field) => T, otherwise: T): T => {
    const field = fields.get(key);
    return field ? read(field) : otherwise;
  };
  const cwd = fields.get("cwd");
  return {
    elements: elements.with(0, programFile(elements[0] as string, folder)),
    stdin: get("stdin", (field) => checkedText(field, properties), ""),
    cwd: cwd ? await insideFolder(cwd, folder) : folder,
    env: environment(reading),
    timeLimit: get("timeout", duration, 30_000),
    outputLimit: get("maxOutput", bytes, 1024 ** 2),
    options: new Set(get("allowOptions", texts, [])),
    success: get("exitCodes", (field) => items(field).map((item) => number(item)), [0]),
    output: get<Command["output"]>("output", outputOf, "text"),
  };
}

function elementsOf(command: Field, properties: readonly string[]): Element[] {
  if (!isList(command)) {
    throw wrong(
      command,
      "command must be a list",
      'Write each argument apart, as in [grep, "-n", "{{pattern}}"]; no shell runs it.',
    );
  }
  const elements = items(command).map((item) =>
    isList(item) ? items(item).map((part) => checkedText(part, properties)) : checkedText(item, properties),
  );
  const [program] = elements;
  if (typeof program !== "string" || program === "" || placeholdersIn(program).length > 0) {
    throw wrong(command, "command must begin with the name of a program", "A placeholder cannot choose what is run.");
  }
  return elements;
}

function checkedText(field: Field, properties: readonly string[]): string {
  const value = text(field);
  for (const name of placeholdersIn(value)) {
    if (properties.includes(name)) continue;
    throw wrong(field, `the placeholder {{${name}}} is no property of input`, didYouMean(name, properties));
  }
  return value;
}

/** A program that is given by a path is looked for in the folder; any other on the PATH. */
function programFile(program: string, folder: string): string {
  return /[\\/]/.test(program) && !isAbsolute(program) ? join(folder, program) : program;
}

async function insideFolder(field: Field, folder: string): Promise<string> {
  const path = resolve(folder, text(field));
  const [real, top] = await Promise.all([realpath(path).catch(() => undefined), realpath(folder)]);
  if (real !== undefined && partsBelow(top, real)) return real;
  const message = real === undefined ? `there is no folder ${text(field)}` : "cwd leaves the folder that is served";
  throw wrong(field, message, "Give a path relative to the folder that is served, inside it.");
}

function environment({ fields, env }: Reading): Record<string, string> {
  const field = fields.get("env");
  const set: Record<string, string> = {};
  const wanted = [...basicEnv];
  if (field && isMapping(field)) for (const [name, value] of members(field)) set[name] = text(value);
  else if (field) wanted.push(...texts(field));
  for (const name of wanted) if (env[name] !== undefined) set[name] ??= env[name];
  return set;
}

function outputOf(field: Field): Command["output"] {
  return isMapping(field) ? (plain(field) as JsonObject) : oneOf(field, ["text", "json"]);
}
