import type { Catalogue, CatalogueTool } from "@mcparley/host";
import type { JsonObject } from "mcparley";
import { type TypedArgument, readArguments, sourcesOf } from "../../commands/arguments/arguments.ts";
import { UsageError } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import type { Suggest } from "../../terminal/questions/prompter.ts";
import { resolveReference, typesOf } from "../../commands/arguments/schema-types.ts";
import { summarizeArguments } from "../../commands/output/schema-summary.ts";
import { visibleLine } from "../../terminal/text.ts";
import { toolArguments } from "../../commands/arguments/tool-arguments.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { askValues } from "../session/ask-values.ts";
import { findWhenReady } from "../session/await-definitions.ts";
import { callByUser } from "../session/call-by-user.ts";
import type { Chat } from "../session/chat.ts";
import type { ChatCommand } from "./command.ts";
import { toolEntries } from "./lists.ts";
import { splitWords, wordMenu } from "./words.ts";

/** Calls a tool that the user chooses, and adds the result to the conversation. */
export const callCommand: ChatCommand = {
  usage: "TOOL [key=text | key:=json | JSON ...]",
  summary: "call a tool, and add its result to the conversation",
  async run(text, chat) {
    const [name, ...words] = splitWords(text);
    if (name === undefined) throw new UsageError("Which tool?", "/tools shows them. Such as /call TOOL key=text");
    const tool = await findTool(name, chat);
    const typedArguments = await readArguments(words, sourcesOf(chat.io));
    const isAsked = words.length === 0 && chat.isAttended;
    const args = isAsked ? await askArguments(tool, chat) : toolArguments(tool.tool, typedArguments);
    await callByUser(tool, args, chat);
  },
  suggest: (words, chat) => (words.includes(" ") ? undefined : wordMenu(words, toolEntries(chat))),
};

/** Finds a tool by its name for the model, by `server:tool`, or by its name at the only server that has it. */
async function findTool(name: string, chat: Chat): Promise<CatalogueTool> {
  const named = await findWhenReady(chat, (catalogue) => toolsNamed(name, catalogue));
  const [only, ...others] = named ?? [];
  if (only && others.length === 0) return only;
  const names = chat.host.catalogue.tools.map((tool) => tool.name);
  if (!only) throw new UsageError(`There is no tool ${JSON.stringify(name)}.`, didYouMean(name, names));
  throw new UsageError(
    `Several servers have a tool ${JSON.stringify(name)}.`,
    `Choose one: ${[only, ...others].map((tool) => tool.name).join(", ")}`,
  );
}

/** Returns the tools with a name. Undefined if there are none. */
function toolsNamed(name: string, { tool, tools }: Catalogue): readonly CatalogueTool[] | undefined {
  const exact = tool(name);
  if (exact) return [exact];
  const named = tools.filter((one) => one.tool.name === name || `${one.server}:${one.tool.name}` === name);
  return named.length > 0 ? named : undefined;
}

/** Asks for the arguments of a tool, one after another. They are converted by its schema. */
async function askArguments({ name, tool }: CatalogueTool, chat: Chat): Promise<JsonObject> {
  const required = new Set(Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : []);
  const values = summarizeArguments(tool.inputSchema).map((argument) => ({
    name: argument.name,
    description: argument.description,
    facts: argument.facts === "" ? "any" : argument.facts,
    isRequired: required.has(argument.name),
  }));
  if (values.length === 0 || !chat.isAttended) return toolArguments(tool, []);
  const answers = await chat.dialogs.talk(new AbortController().signal, async (prompter, view) => {
    prompter.say(view.style.bold(visibleLine(`Arguments of ${name}`)));
    return askValues(values, { prompter, view, suggestFor: (argument) => choices(tool.inputSchema, argument) });
  });
  const typedArguments = Object.entries(answers).map(([key, value]): TypedArgument => ({ key, form: "text", value }));
  return toolArguments(tool, typedArguments);
}

/** Returns the menu for an argument with a list of values, or with yes and no. */
function choices(schema: JsonObject, name: string): Suggest | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const property = resolveReference(Object.hasOwn(properties, name) ? properties[name] : undefined, schema);
  const isBoolean = typesOf(property, schema)?.has("boolean") === true;
  const values =
    isObject(property) && Array.isArray(property.enum) ? property.enum : isBoolean ? ["true", "false"] : [];
  if (values.length === 0) return undefined;
  return (before) =>
    wordMenu(
      before,
      values.map((value) => ({ value: String(value) })),
    );
}
