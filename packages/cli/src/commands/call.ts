import {
  type CallToolResult,
  Declined,
  LocalError,
  ProtocolError,
  type Tool,
  ToolError,
  wellFormedJson,
} from "mcparley";
import { readContent } from "mcparley/client";
import { type TypedArgument, readArguments, requireWord, sourcesOf } from "./arguments/arguments.ts";
import { UsageError } from "../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import { isRepeated, isTextOf } from "@mcparley/internal/repeated-content";
import { allowCure } from "./connection/allow-cure.ts";
import { type View, paragraph, printText } from "../terminal/screen.ts";
import { binaryOf, showContent, showJson } from "../terminal/show-content.ts";
import { saveOutput } from "./output/save-output.ts";
import { whyUnasked } from "../terminal/questions/prompter.ts";
import { type OptionValues, options, texts } from "../terminal/options.ts";
import type { Command } from "./connection/command.ts";
import { answerOptions, formerYes, output, serverOptions } from "./connection/options.ts";
import { type Session, chooseTarget, printResult, useServer } from "./connection/session.ts";
import { mayHide } from "./output/show-list.ts";
import { visibleLine } from "../terminal/text.ts";
import { requireValidArguments } from "./arguments/argument-problems.ts";
import { toolArguments } from "./arguments/tool-arguments.ts";
import {
  type NamedTool,
  type NamedTools,
  isAllowed,
  similarTool,
  toolsNamed,
  unmatchedPatterns,
} from "./arguments/tool-spellings.ts";

const { sendAnswers, ...answers } = answerOptions;

const callOptions = {
  output,
  ...answers,
  ...options({
    allow: texts(
      "PATTERN",
      "call these tools without asking, even destructive ones; * stands for any characters; repeatable",
    ),
  }),
  sendAnswers,
  yes: formerYes,
  ...serverOptions,
} as const;

type CallSession = Session<OptionValues<typeof callOptions>>;

export const callCommand: Command<typeof callOptions> = {
  usage: "TARGET TOOL [key=text | key:=json | key=@file | JSON ...]",
  summary: "call a tool",
  options: callOptions,
  details: [
    "key=text becomes a number, boolean, null, array or object if the tool's schema does not accept a string. For an " +
      "array, repeat the key. key:=json passes JSON, key=@file the text of a file, key:=@file.json its JSON; @- is stdin.",
    'One word may hold all arguments: \'{"a": 1, "b": [2, 3]}\', @arguments.json or @-. key=text replaces a member of it.',
  ],
  examples: [
    "mcparley call handbook search_documents query=rollback limit=3",
    `mcparley call handbook search_documents '{"query": "rollback"}'`,
    "mcparley call add a=1 b=2 -- node server.js",
  ],
  async run(words, setting) {
    const { target, argumentWords } = await chooseTarget(words, setting);
    const [word, ...toolWords] = argumentWords;
    const name = requireWord(word, "Which tool? TOOL is missing.", "mcparley list TARGET tools shows them.");
    const args = await readArguments(toolWords, sourcesOf(setting.io, setting.stop.signal));
    const targetName = words.command === undefined ? words.positionals[0] : undefined;
    const names = [target.origin?.name, targetName].filter((one) => one !== undefined);
    await useServer(target, { ...setting, callsTools: true }, (session) => call({ name, args, names }, session));
  },
};

/** The words of a call. */
interface TypedCall {
  /** The name of the tool, in one of its spellings. */
  readonly name: string;
  readonly args: readonly TypedArgument[];
  /** The names of the server in its configuration and on the command line. */
  readonly names: readonly string[];
}

async function call(typedCall: TypedCall, session: CallSession): Promise<void> {
  const { options } = session;
  const { tool, named } = await findTool(typedCall, session);
  const { name, args } = typedCall;
  const callResult = tool ? await callFound({ tool, args, named }, session) : await callHidden(typedCall, session);
  session.screen.endProgress();
  if (!callResult)
    throw new UsageError(
      `The server has no tool ${JSON.stringify(name)}.`,
      named.tools.length === 0 ? mayHide : similarTool(name, named.tools),
    );
  const result = { ...callResult, content: readContent(callResult.content) };
  if (result.isError) throw new ToolError(errorText(result), { result: callResult });
  const { json, output } = options;
  const { out: view } = session.screen;
  const binaries = result.content.map(binaryOf);
  const hasBinary = binaries.some((binary) => binary !== undefined);
  if (output !== undefined) {
    const text = (): string => `${resultText(result, { ...view, terminal: false })}\n`;
    await saveOutput(output, { binaries, text }, session);
  }
  if (json) await printResult(callResult, session);
  else if (output === undefined) await printText(resultText(result, view), session);
  else if (hasBinary) {
    const content = result.content.filter((_, index) => binaries[index] === undefined);
    await printText(resultText({ ...result, content }, view), session);
  }
}

interface ServerTool extends NamedTool {
  readonly tool: Tool;
}

type ServerTools = NamedTools<ServerTool>;

/** A tool of the server and the arguments of its call. */
interface FoundCall {
  readonly tool: ServerTool;
  readonly args: readonly TypedArgument[];
  readonly named: ServerTools;
}

/** Returns the tool with this name, and the tools that were listed. A tool with exactly this name ends the listing. */
async function findTool(
  { name, names }: TypedCall,
  { client, request }: CallSession,
): Promise<{ tool: ServerTool | undefined; named: ServerTools }> {
  const { capabilities, info } = client.server;
  if (!capabilities.tools) throw new UsageError("This server offers no tools.");
  const servers = [...names, ...(info ? [info.name] : [])];
  const tools: ServerTool[] = [];
  for await (const tool of client.listTools(request)) {
    tools.push({ name: tool.name, server: servers, tool });
    if (tool.name === name) break;
  }
  return { tool: toolsNamed(name, tools)[0], named: { servers, tools } };
}

async function callFound({ tool: found, args, named }: FoundCall, session: CallSession): Promise<CallToolResult> {
  const { tool } = found;
  const values = toolArguments(tool, args);
  await requireValidArguments(tool, values);
  await noteUnmatched(named, session);
  await confirmDestructive(found, named, session);
  return session.client
    .callToolResult(tool.name, values, session.request)
    .catch((error: unknown) => uncheckedResult(error, session));
}

/**
 * Returns the result in the error for one that does not match the output schema of its tool. The structured content is left out, unless the
 * result has nothing else. The server has run the call, so it is no failure.
 */
function uncheckedResult(error: unknown, { screen }: CallSession): CallToolResult {
  const data = error instanceof LocalError && error.code === "invalid_result" ? error.data : undefined;
  if (!isObject(data) || !isObject(data.result)) throw error;
  const { structuredContent, ...result } = data.result;
  screen.endProgress();
  const content = readContent(result.content);
  const hasStructureOnly = content.length === 0 && structuredContent !== undefined;
  const effect = hasStructureOnly
    ? "Its structured content was not checked."
    : "Its content was not checked, and its structured content was left out.";
  screen.note(paragraph(`${(error as Error).message}. ${effect}`, screen.err));
  if (!hasStructureOnly) return { ...result, content };
  return {
    ...result,
    content: [{ type: "text", text: wellFormedJson(structuredContent, 2) }],
  };
}

/**
 * Calls a tool that is not listed. A server may hide a tool until the client has its scopes. The refused call names
 * these scopes, and the tool is listed when they are granted.
 *
 * Returns undefined if the tool does not exist.
 */
async function callHidden(typedCall: TypedCall, session: CallSession): Promise<CallToolResult | undefined> {
  const { name, args } = typedCall;
  const { auth, client, request } = session;
  if (!auth?.isSignedIn()) return undefined;
  const values = toolArguments({ name, inputSchema: { type: "object" } }, args);
  try {
    const result = await auth.askForMore(() => client.callToolResult(name, values, request));
    if (result) return result;
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
  const { tool, named } = await findTool(typedCall, session);
  return tool && callFound({ tool, args, named }, session);
}

/** Warns of the patterns of `--allow` that match no tool. The tools after the called one are listed only then. */
async function noteUnmatched({ servers, tools }: NamedTools, session: CallSession): Promise<void> {
  const { client, request, options, screen } = session;
  if (unmatchedPatterns(options.allow, { servers, tools }).length === 0) return;
  const listedTools = await client.listTools(request).all();
  const allTools = listedTools.map((tool) => ({ name: tool.name, server: servers, tool }));
  for (const text of unmatchedPatterns(options.allow, { servers, tools: allTools })) screen.noteParagraph(text);
}

/**
 * Asks for confirmation before a call of a tool with `destructiveHint`. Refuses the call if nobody can be asked.
 *
 * The hint is a claim of the server, so this protects against accidents and not against a hostile server.
 */
async function confirmDestructive(
  found: ServerTool,
  named: ServerTools,
  { options, questions }: CallSession,
): Promise<void> {
  const { name, annotations } = found.tool;
  if (!annotations?.destructiveHint || annotations.readOnlyHint) return;
  if (options.allow.some((pattern) => isAllowed(pattern, found, named))) return;
  const isConfirmed = await questions.confirm(`The tool "${visibleLine(name)}" may make destructive changes. Call it?`);
  if (isConfirmed) return;
  const cure =
    isConfirmed === undefined
      ? ` It may make destructive changes, and ${whyUnasked(options)}. ${allowCure([name])}`
      : "";
  throw new Declined(`The tool "${name}" was not called.${cure}`);
}

function errorText({ content }: CallToolResult): string {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n") || "The tool failed without an error message.";
}

/** Returns the value of a text that is JSON, and otherwise the text. */
function jsonValueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the content of a result as text. If texts differ from the structured content, only `--json` shows the latter. */
function resultText({ content, structuredContent }: CallToolResult, view: View): string {
  const blocks = content.map((block) =>
    block.type === "text" && isObject(structuredContent) && isTextOf(block.text, structuredContent)
      ? showJson(jsonValueOf(block.text), view)
      : showContent(block, view),
  );
  if (structuredContent === undefined || isRepeated(structuredContent, content)) return blocks.join("\n");
  if (!content.some((block) => block.type === "text")) blocks.push(showJson(structuredContent, view));
  else if (view.terminal) blocks.push(view.style.dim("[The result also has structured content: --json shows it.]"));
  return blocks.join("\n");
}
