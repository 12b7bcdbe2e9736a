import type { CatalogueTool } from "@mcparley/host";
import { Declined, type JsonObject } from "mcparley";
import { argumentProblems, requireValidArguments } from "../../commands/arguments/argument-problems.ts";
import { type TypedArgument, readArguments, sourcesOf } from "../../commands/arguments/arguments.ts";
import { Reported, exitCodeOf } from "../../commands/connection/report-error.ts";
import { showError } from "../session/show-error.ts";
import { UsageError } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import type { Suggest } from "../../terminal/questions/prompter.ts";
import { resolveReference, typesOf } from "../../commands/arguments/schema-types.ts";
import { summarizeArguments } from "../../commands/output/schema-summary.ts";
import { visibleLine } from "../../terminal/text.ts";
import { toolArguments } from "../../commands/arguments/tool-arguments.ts";
import { askValues } from "../session/ask-values.ts";
import { type Chat, interruptible, storeConversation } from "../session/chat.ts";
import { callLine, showForModel, showRest } from "../session/show-message.ts";
import { activityText, queuedState, showOtherRevision } from "../session/turn.ts";
import { type ChatCommand, splitWords, wordMenu } from "./command.ts";
import { findTool, toolEntries } from "./lists.ts";

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
    await requireValidArguments(tool.tool, args);
    await callByUser(tool, args, chat);
  },
  suggest: (words, chat) => (words.includes(" ") ? undefined : wordMenu(words, toolEntries(chat))),
};

/** Asks for the arguments of a tool, one after another. They are converted by its schema. */
async function askArguments({ name, tool }: CatalogueTool, chat: Chat): Promise<JsonObject> {
  const { inputSchema: schema } = tool;
  const requiredNames = Array.isArray(schema.required) ? schema.required : [];
  const values = summarizeArguments(schema).map((argument) => ({
    ...argument,
    facts: argument.facts || "any",
    isRequired: requiredNames.includes(argument.name),
  }));
  const suggestFor = (argument: string): Suggest | undefined => choices(schema, argument);
  const { required: _, ...schemaOfOne } = schema;
  const check = (argument: string, text: string): Promise<string[]> => {
    const value = toolArguments({ ...tool, inputSchema: { ...schemaOfOne, type: "object" } }, [typed(argument, text)]);
    return argumentProblems(schema, value, argument);
  };
  const answers = await askValues(values, { title: `Arguments of ${name}`, suggestFor, check }, chat);
  return toolArguments(
    tool,
    Object.entries(answers).map(([key, value]) => typed(key, value)),
  );
}

function typed(key: string, value: string): TypedArgument {
  return { key, form: "text", value };
}

/** Returns the menu for an argument with a list of values, or with yes and no. */
function choices(schema: JsonObject, name: string): Suggest | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const property = resolveReference(Object.hasOwn(properties, name) ? properties[name] : undefined, schema);
  const isBoolean = typesOf(property, schema)?.has("boolean") === true;
  const values =
    isObject(property) && Array.isArray(property.enum) ? property.enum : isBoolean ? ["true", "false"] : [];
  if (values.length === 0) return undefined;
  const entries = values.map((value) => ({ value: String(value) }));
  return (text) => wordMenu(text, entries);
}

/** Calls a tool for the user, and shows the message that is added to the conversation. Throws if the call was denied or has failed. */
async function callByUser(tool: CatalogueTool, args: JsonObject, chat: Chat): Promise<void> {
  const { terminal, view, conversation } = chat;
  const { name } = tool;
  terminal.print(view.style.bold(callLine(name, args)));
  chat.composedCall = { tool: tool.tool.name, json: JSON.stringify(args) };
  try {
    const showState = (state: string): void => terminal.status([`${visibleLine(name)}: ${state} (Ctrl-C cancels)`]);
    showState(queuedState);
    const { outcome, message } = await interruptible(chat, (signal) =>
      conversation.callTool(name, args, { signal, onActivity: (activity) => showState(activityText(activity)) }),
    );
    if (outcome.status === "denied") throw new Declined(outcome.message);
    if (outcome.status === "failed") {
      showError(outcome.error, chat);
      showOtherRevision(name, outcome, chat);
      throw new Reported(exitCodeOf(outcome.error));
    }
    if (message?.role !== "user" || typeof message.content === "string") return;
    showForModel([message], chat);
    // The first part is the sentence about the call.
    const content = message.content.slice(1);
    const result = chat.results.add({ name, content, isError: outcome.result.isError === true }, outcome);
    showRest(result, result.sentBytes === undefined ? "nothing" : "part", chat);
    showOtherRevision(name, outcome, chat);
    void storeConversation(chat);
  } finally {
    chat.composedCall = undefined;
    terminal.status([]);
  }
}
