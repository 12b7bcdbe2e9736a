import { isObject } from "@mcparley/internal/is-object";
import { type CallToolResult, type JsonObject, type ToolAnnotations, wellFormedJson } from "mcparley";
import { type Tool, ToolError, tool } from "mcparley/server";
import { fillArguments, fillText } from "./command-template.ts";
import { icons } from "../yaml/values.ts";
import { type Loaded, problemAt } from "../yaml/problem.ts";
import { type Command, commandKeys, readCommand } from "./read-command.ts";
import { runProgram } from "./run-program.ts";
import { schemaOf } from "./check-schema.ts";
import { type Field, boolean, members, readMembers, readYaml, text } from "../yaml/yaml-fields.ts";

/** The members of the file that the client receives. */
const describing = {
  title: text,
  description: text,
  icons,
  annotations: readHints,
  input: (field: Field) => schemaOf(field, "input"),
} as const;

/** Creates a tool from a YAML file that describes a command-line program. Throws `FolderProblem`. */
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
  const command = await readCommand(root, Object.keys(describing), { folder, env, properties: propertiesOf(root) });
  const listData = {
    ...readMembers(root, describing, commandKeys),
    ...(typeof command.output === "object" && { output: command.output }),
  };
  const definition = tool({
    ...listData,
    call: async (values: JsonObject, ctx): Promise<never> => (await run(command, values, ctx.signal)) as never,
  }) as Tool;
  return { name, file, definition, shape: JSON.stringify(listData) };
}

async function run(
  command: Command,
  values: JsonObject,
  signal: AbortSignal,
): Promise<string | CallToolResult | JsonObject> {
  const [program, ...args] = fillArguments(command.elements, { values, options: command.options });
  const output = await runProgram(
    {
      ...command,
      // Uses the Node of this process, which may not be on the PATH under that name.
      file: program === "node" ? process.execPath : program!,
      args,
      stdin: fillText(command.stdin, values),
    },
    signal,
  );
  if (command.output === "text") return output;
  const value = parse(output);
  if (command.output !== "json") return value as JsonObject;
  const content: CallToolResult["content"] = [{ type: "text", text: wellFormedJson(value) }];
  return isObject(value) ? { content, structuredContent: value } : { content };
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output.replace(/^\uFEFF/, ""));
  } catch (cause) {
    const start = JSON.stringify(output.slice(0, 80));
    throw new ToolError(`The program did not write JSON. Its output starts with ${start}.`, { cause });
  }
}

function readHints(field: Field): ToolAnnotations {
  return readMembers(field, {
    title: text,
    readOnlyHint: boolean,
    destructiveHint: boolean,
    idempotentHint: boolean,
    openWorldHint: boolean,
  });
}

/** Returns the names of the arguments of a tool. */
function propertiesOf(root: Field): string[] {
  const input = members(root).get("input");
  const properties = input && members(input).get("properties");
  return properties ? [...members(properties).keys()] : [];
}

/** Returns the name, or throws `FolderProblem` if it has characters that some clients do not support. */
export function checkToolName(name: string, file: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  const cure = "Rename the file. Every client supports names of at most 64 letters, digits, _ and -, folders included.";
  throw problemAt({ file, line: 1 }, `"${name}" is not a valid name for a tool`, cure);
}
