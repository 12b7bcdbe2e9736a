import { type Prompt, type PromptMessage, readPromptMessages } from "mcparley/client";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { type Given, promptArguments, readArguments, requireWord, sourcesOf } from "./arguments/arguments.ts";
import { mayHide } from "./connection/hidden-entries.ts";
import { UsageError } from "../terminal/io.ts";
import { type View, printJson, printText } from "../terminal/screen.ts";
import { binaryOf, saveBinaries, saveText, showContent } from "../terminal/show-content.ts";
import type { ClientCommand, Session } from "./connection/session.ts";
import { visibleLine } from "../terminal/text.ts";

export const promptCommand: ClientCommand = {
  usage: "TARGET NAME [key=text | key=@file ...]",
  summary: "get a prompt",
  details: [
    "The arguments of a prompt are text. A single user message is printed unchanged, for use in a pipe. " +
      "Several messages are printed with their roles.",
  ],
  examples: ["mcparley prompt handbook code_review code=@main.ts"],
  async prepare(words, io) {
    const [word, ...rest] = words;
    const name = requireWord(word, "Which prompt? NAME is missing.", "mcparley list TARGET prompts shows them.");
    const given = await readArguments(rest, sourcesOf(io));
    return (session) => getPrompt(name, given, session);
  },
};

async function getPrompt(name: string, given: readonly Given[], session: Session): Promise<void> {
  const { client, request, options, screen } = session;
  const prompt = await findPrompt(name, session);
  const result = await client.getPrompt(prompt.name, promptArguments(prompt, given), request);
  screen.endProgress();
  const messages = readPromptMessages(result.messages);
  if (options.output !== undefined) await save(messages, options.output, session);
  if (options.json) await printJson(result, session);
  else if (options.output === undefined) await printText(promptText(messages, screen.out), session);
}

async function findPrompt(name: string, { client, request }: Session): Promise<Prompt> {
  if (!client.server.capabilities.prompts) throw new UsageError("This server offers no prompts.");
  const names: string[] = [];
  for await (const prompt of client.listPrompts(request)) {
    if (prompt.name === name) return prompt;
    names.push(prompt.name);
  }
  throw new UsageError(
    `The server has no prompt ${JSON.stringify(name)}.`,
    names.length === 0 ? mayHide : didYouMean(name, names),
  );
}

async function save(messages: readonly PromptMessage[], file: string, session: Session): Promise<void> {
  const binaries = messages.map(({ content }) => binaryOf(content)).filter((binary) => binary !== undefined);
  if (binaries.length > 0) await saveBinaries(binaries, file, session);
  else await saveText(`${promptText(messages, { ...session.screen.out, terminal: false })}\n`, file, session);
}

function promptText(messages: readonly PromptMessage[], view: View): string {
  const [first] = messages;
  if (first && messages.length === 1 && first.role === "user") return showContent(first.content, view);
  return messages
    .map(({ role, content }) => `${view.style.bold(`${visibleLine(role)}:`)}\n${showContent(content, view)}`)
    .join("\n\n");
}
