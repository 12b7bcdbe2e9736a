import type { Liquid, Template } from "liquidjs";
import { ErrorCode, ProtocolError } from "mcparley";
import { type Prompt, type PromptArgumentDefinition, prompt } from "mcparley/server";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { partsBelow } from "../files/inside-folder.ts";
import { PlacedMark } from "./placed-mark.ts";
import { type Loaded, problemAt } from "../yaml/problem.ts";
import { type CompletionScope, type PromptArgument, readArguments } from "./prompt-arguments.ts";
import { templateProblem } from "./prompt-engine.ts";
import { findLinked } from "./prompt-links.ts";
import { type Mark, isFixed, replaceMarks } from "./prompt-marks.ts";
import { type PromptSource, renderMessages } from "./prompt-messages.ts";
import type { ScopeRules } from "../settings/scope-rules.ts";
import { icons } from "../yaml/values.ts";
import { type YamlSource, readMembers, readYaml, text, unread } from "../yaml/yaml-fields.ts";

export interface PromptScope extends CompletionScope {
  engine: Liquid;
  fileSize: number;
  rules: ScopeRules;
}

/** Creates a prompt from a Markdown file below `prompts/`. Its name is its path there. Throws `FolderProblem`. */
export async function filePrompt(file: string, source: string, scope: PromptScope): Promise<Loaded<Prompt>> {
  const { yaml, body, bodyLine } = splitFrontMatter(file, source);
  const { arguments: argumentsField, ...labels } = readMembers(readYaml(yaml), {
    title: text,
    description: text,
    icons,
    arguments: unread,
  });
  const args = argumentsField ? await readArguments(argumentsField, file, scope) : {};
  const templates = await readBody({ file, body, bodyLine, args, scope });
  const rendering: PromptSource = { file, templates, engine: scope.engine, scope };
  const listData = { ...labels, ...(argumentsField && { arguments: definitionsOf(args) }) };
  const name = file.replace(/^prompts\//, "").replace(/\.md$/, "");
  const definition = prompt({
    ...listData,
    get: async (values, { principal }) => ({
      ...(listData.description !== undefined && { description: listData.description }),
      messages: await renderMessages(rendering, valuesOf(name, args, values as Record<string, string>), principal),
    }),
  }) as Prompt;
  return { name, file, definition, shape: JSON.stringify([listData, yaml.text]) };
}

/** Returns the arguments without `values`, which the folder server checks itself. */
function definitionsOf(args: Record<string, PromptArgument>): Record<string, PromptArgumentDefinition> {
  const entries = Object.entries(args).map(([name, argument]) => {
    const { values: _values, ...definition } = argument;
    return [name, definition] as const;
  });
  return Object.fromEntries(entries);
}

/** Returns the value of each argument. An optional argument is null if it is absent or empty, as forms send it. */
function valuesOf(
  name: string,
  args: Record<string, PromptArgument>,
  texts: Record<string, string>,
): Record<string, string | null> {
  const entries = Object.entries(args).map(([key, { required, values }]): [string, string | null] => {
    const value = Object.hasOwn(texts, key) ? texts[key]! : "";
    if (value === "" && !required) return [key, null];
    if (values && !values.includes(value)) {
      const message = `The argument ${key} of the prompt ${name} cannot be "${value.slice(0, 100)}". ${didYouMean(value, values)}`;
      throw new ProtocolError(ErrorCode.InvalidParams, message);
    }
    return [key, value];
  });
  return Object.fromEntries(entries);
}

interface Body {
  file: string;
  body: string;
  bodyLine: number;
  args: Record<string, PromptArgument>;
  scope: PromptScope;
}

/** Parses the text of a prompt and checks everything that does not depend on an argument's value. */
async function readBody({ file, body, bodyLine, args, scope }: Body): Promise<Template[]> {
  if (body.trim() === "") {
    throw problemAt({ file, line: bodyLine }, "the prompt has no text", "Write it below the front matter.");
  }
  const marks: Mark[] = [];
  const markedBody = replaceMarks(body, { file, firstLine: bodyLine }, (mark) => {
    marks.push(mark);
    return PlacedMark.write(mark);
  });
  // Empty lines replace the front matter, so that the engine's line numbers match the file.
  const templates = await parse("\n".repeat(bodyLine - 1) + markedBody, { file, args, scope });
  for (const mark of marks) await checkMark(mark, file, scope);
  return templates;
}

async function parse(
  template: string,
  { file, args, scope }: Pick<Body, "file" | "args" | "scope">,
): Promise<Template[]> {
  try {
    const templates = scope.engine.parse(template, `${scope.folder}/${file}`);
    const { globals } = await scope.engine.analyze(templates);
    for (const [name, [first]] of Object.entries(globals)) checkName(name, first!.location, { file, args, scope });
    return templates;
  } catch (error) {
    throw templateProblem(error, { folder: scope.folder, file, source: template });
  }
}

function checkName(
  name: string,
  location: { row: number; col: number; file?: string },
  { file, args, scope }: Pick<Body, "file" | "args" | "scope">,
): void {
  if (Object.hasOwn(args, name)) return;
  const includedParts = location.file === undefined ? undefined : partsBelow(scope.folder, location.file);
  const place = { file: includedParts?.join("/") ?? file, line: location.row, column: location.col };
  const cure = `Declare it under arguments in the front matter. ${didYouMean(name, Object.keys(args))}`;
  throw problemAt(place, `{{ ${name} }} is not an argument of this prompt`, cure);
}

async function checkMark(mark: Mark, file: string, scope: PromptScope): Promise<void> {
  if (mark.kind === "role" || !isFixed(mark.target)) return;
  const linkedFile = await findLinked(mark.target, file, scope);
  const { line, target } = mark;
  if (!linkedFile) {
    const cure = "A link in a prompt is relative to the prompt's file and names a file in resources/ or prompts/.";
    throw problemAt({ file, line }, `there is no file "${target}"`, cure);
  }
  if (
    linkedFile.uri === undefined &&
    (mark.kind === "link" || !/\.(?:png|jpe?g|gif|webp|svg|avif|wav|mp3|ogg|m4a|flac)$/i.test(target))
  ) {
    const cure = "Move it into resources/. A prompt can embed only pictures and sounds from its own folder.";
    throw problemAt({ file, line }, `"${target}" is not a resource`, cure);
  }
}

interface FrontMatter {
  /** Its text is empty if the file has no front matter. */
  yaml: YamlSource;
  body: string;
  /** The line of the file on which the body begins. */
  bodyLine: number;
}

const fence = /^---[ \t]*$/;

/** Splits a file into the YAML between its first two `---` lines and the text after them. */
export function splitFrontMatter(file: string, source: string): FrontMatter {
  const lines = source.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (!fence.test(lines[0] ?? "")) return { yaml: { file, text: "" }, body: lines.join("\n"), bodyLine: 1 };
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line));
  if (end === -1) {
    const cure = "End it with a line that contains only ---.";
    throw problemAt({ file, line: 1 }, "the front matter has no end", cure);
  }
  const yaml = { file, text: lines.slice(1, end).join("\n"), firstLine: 2 };
  return { yaml, body: lines.slice(end + 1).join("\n"), bodyLine: end + 2 };
}
