import { type Prompt, type PromptMessage, readPromptMessages } from "mcparley/client";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { type TypedArgument, promptArguments, readArguments, requireWord, sourcesOf } from "./arguments/arguments.ts";
import { UsageError } from "../terminal/io.ts";
import { type View, printText } from "../terminal/screen.ts";
import { binaryOf, showContent } from "../terminal/show-content.ts";
import { saveOutput } from "./output/save-output.ts";
import type { OptionValues } from "../terminal/options.ts";
import type { Command } from "./connection/command.ts";
import { answerOptions, formerYes, output, serverOptions } from "./connection/options.ts";
import { type Session, chooseTarget, printResult, useServer } from "./connection/session.ts";
import { mayHide } from "./output/show-list.ts";
import { visibleLine } from "../terminal/text.ts";

const promptOptions = { output, ...answerOptions, yes: formerYes, ...serverOptions } as const;

type PromptSession = Session<OptionValues<typeof promptOptions>>;

export const promptCommand: Command<typeof promptOptions> = {
  usage: "TARGET NAME [key=text | key=@file ...]",
  summary: "get a prompt",
  options: promptOptions,
  details: [
    "The arguments of a prompt are text. A single user message is printed unchanged, for use in a pipe. " +
      "Several messages are printed with their roles.",
  ],
  examples: ["mcparley prompt handbook code_review code=@main.ts"],
  async run(words, setting) {
    const { target, argumentWords } = await chooseTarget(words, setting);
    const [word, ...promptWords] = argumentWords;
    const name = requireWord(word, "Which prompt? NAME is missing.", "mcparley list TARGET prompts shows them.");
    const args = await readArguments(promptWords, sourcesOf(setting.io, setting.stop.signal));
    await useServer(target, setting, (session) => getPrompt(name, args, session));
  },
};

async function getPrompt(name: string, args: readonly TypedArgument[], session: PromptSession): Promise<void> {
  const { client, request, options, screen } = session;
  const prompt = await findPrompt(name, session);
  const result = await client.getPrompt(prompt.name, promptArguments(prompt, args), request);
  screen.endProgress();
  const messages = readPromptMessages(result.messages);
  if (options.output !== undefined) {
    const text = (): string => `${promptText(messages, { ...screen.out, terminal: false })}\n`;
    await saveOutput(options.output, { binaries: messages.map(({ content }) => binaryOf(content)), text }, session);
  }
  if (options.json) await printResult(result, session);
  else if (options.output === undefined) await printText(promptText(messages, screen.out), session);
}

async function findPrompt(name: string, { client, request }: PromptSession): Promise<Prompt> {
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

function promptText(messages: readonly PromptMessage[], view: View): string {
  const [first] = messages;
  if (first && messages.length === 1 && first.role === "user") return showContent(first.content, view);
  return messages
    .map(({ role, content }) => `${view.style.bold(`${visibleLine(role)}:`)}\n${showContent(content, view)}`)
    .join("\n\n");
}
