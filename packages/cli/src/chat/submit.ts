import type { CataloguePrompt } from "@mcparley/host";
import { readArguments, sourcesOf } from "../commands/arguments/arguments.ts";
import { UsageError } from "../terminal/io.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { visibleLine } from "../terminal/text.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { chatCommands } from "./commands/commands.ts";
import { splitWords } from "./commands/command.ts";
import { findWhenReady, untilDefined } from "./session/await-definitions.ts";
import { type Chat, interruptible, storeConversation } from "./session/chat.ts";
import { promptValues, templateValues } from "./session/ask-values.ts";
import { type Mention, findMentions, mentionText, replaceMentions } from "./session/mentions.ts";
import { messageWith, readNamedTexts, stdinWord } from "./session/named-texts.ts";
import { showError } from "./session/show-error.ts";
import { showForModel } from "./session/show-message.ts";
import { type SentText, runTurn } from "./session/turn.ts";

/** A command or a prompt: its name, and the words after it. */
const commandForm = /^\/(\S+)\s*(.*)$/s;

/** Returns whether a text is a command or a prompt, and not a message. */
export function isCommand(text: string): boolean {
  return commandForm.test(text);
}

/**
 * Runs a text that the user submitted: a command, a prompt of a server, or a message. Throws if it could not be sent; the conversation
 * is then as before, except for resources that were attached. Returns the exit code of the model's turn, or 0.
 */
export async function submit(text: string, chat: Chat): Promise<number> {
  const [, name, words = ""] = commandForm.exec(text) ?? [];
  if (name === undefined) return sendMessage(text, chat);
  const command = chatCommands.get(name);
  if (command) {
    await command.run(words, chat);
    return exitCodes.ok;
  }
  // Each name of a prompt has a colon, so that a misspelt command waits for nothing.
  const prompt = name.includes(":") && (await findWhenReady(chat, (catalogue) => catalogue.prompt(name)));
  if (prompt) return sendPrompt(prompt, { text, words }, chat);
  throw new UsageError(`There is no command or prompt /${name}.`, hintFor(name, chat));
}

/**
 * Sends a text of several lines from a pipe as it is. Throws a `UsageError` if its first line is a command, because such lines were
 * written for a chat. Returns the exit code of the model's turn, or 0.
 */
export async function submitData(text: string, chat: Chat): Promise<number> {
  const [, name] = /^\/(\S+)/.exec(text) ?? [];
  if (name !== undefined && chatCommands.has(name)) {
    throw new UsageError(`A pipe of several lines is one message, and /${name} is a command.`, "Add --lines.");
  }
  for (const { server, uri } of findMentions(text, chat.host)) {
    const name = visibleLine(mentionText(server, uri));
    chat.terminal.note(
      `${name} is not attached, because a pipe of several lines is sent as it is. Name it with --prompt.`,
    );
  }
  const messageCount = chat.conversation.messages.length;
  chat.conversation.user(text);
  void storeConversation(chat);
  return answer({ text, messages: chat.conversation.messages.slice(-1) }, messageCount, chat);
}

function hintFor(name: string, { host }: Chat): string | undefined {
  const connecting = [...host.servers.values()]
    .filter(({ state }) => state === "connecting")
    .map((server) => server.name);
  if (name.includes(":") && connecting.length > 0) return `Still connecting: ${connecting.join(", ")}. Try again.`;
  const names = [...chatCommands.keys(), ...host.catalogue.prompts.map((prompt) => prompt.name)];
  return didYouMean(
    `/${name}`,
    names.map((candidate) => `/${candidate}`),
  );
}

/** Attaches the resources that a message names, adds the message, and lets the model answer. */
async function sendMessage(text: string, chat: Chat): Promise<number> {
  const { conversation, host } = chat;
  const messageCount = conversation.messages.length;
  // Only the definitions tell a template from a resource.
  if ([...host.servers.keys()].some((name) => text.includes(`@${name}:`) || text.includes(`@<${name}:`))) {
    await untilDefined(chat);
  }
  const unknown: UsageError[] = [];
  const onUnknown = (error: UsageError): unknown => unknown.push(error);
  const texts = await interruptible(chat, (signal) =>
    readNamedTexts(text, { names: host, io: chat.io, stdin: noStdin, onUnknown, signal }),
  );
  showUnknown(unknown, chat);
  const attachedTexts = new Map<string, string>();
  for (const mention of findMentions(text, host)) {
    const { server, uri } = await attach(mention, chat);
    attachedTexts.set(mentionText(mention.server, mention.uri), mentionText(server, uri));
  }
  await refresh(chat);
  // The model is told which resource of a template was attached.
  const writtenText = replaceMentions(text, host, ({ server, uri }) => attachedTexts.get(mentionText(server, uri)));
  conversation.user(messageWith(writtenText, texts));
  // The message is not lost if the program ends before the answer.
  void storeConversation(chat);
  return answer({ text, messages: conversation.messages.slice(-1) }, messageCount, chat);
}

/** Shows that words with an `@` attach nothing. Code of some languages has many of them, so only the first is explained. */
function showUnknown([first, ...otherErrors]: readonly UsageError[], chat: Chat): void {
  if (!first) return;
  const more = otherErrors.length === 0 ? "" : ` ${otherErrors.length} more words with @ name nothing either.`;
  showError(new UsageError(`${first.message} It is sent as text.${more}`, first.hint), chat);
}

function noStdin(): never {
  throw new UsageError(
    `${stdinWord} is stdin, from which this chat reads its messages.`,
    `Name a file, such as @notes.md, or write \\${stdinWord} if it is text.`,
  );
}

/** Attaches the resource of a mention, unless it is attached already. Asks for the variables of a template. */
async function attach(mention: Mention, chat: Chat): Promise<{ server: string; uri: string }> {
  const { conversation, terminal, view } = chat;
  const { server, uri, isTemplate } = mention;
  const isSame = (one: { server: string; uri: string }): boolean => one.server === server && one.uri === uri;
  if (conversation.attachments.some(isSame)) return mention;
  const variables = isTemplate ? await templateValues({ server, uriTemplate: uri }, chat) : {};
  terminal.status([`Reading ${visibleLine(mentionText(server, uri))} (Ctrl-C cancels)`]);
  const attachment = await interruptible(chat, (signal) =>
    isTemplate
      ? conversation.attachTemplate({ server, uriTemplate: uri, variables }, { signal })
      : conversation.attach({ server, uri }, { signal }),
  );
  terminal.note(view.style.dim(`Attached: ${visibleLine(mentionText(attachment.server, attachment.uri))}`));
  return attachment;
}

/** Expands a prompt of a server, adds its messages, and lets the model answer. */
async function sendPrompt(
  prompt: CataloguePrompt,
  { text, words }: { text: string; words: string },
  chat: Chat,
): Promise<number> {
  const { name } = prompt;
  const args = await readArguments(splitWords(words), sourcesOf(chat.io));
  const values = await promptValues(prompt, args, chat);
  chat.terminal.status([`Expanding ${visibleLine(name)} (Ctrl-C cancels)`]);
  const messageCount = chat.conversation.messages.length;
  await refresh(chat);
  const messages = await interruptible(chat, (signal) => chat.conversation.prompt(name, values, { signal }));
  return answer({ text, messages }, messageCount, chat);
}

/** Reads the attached resources that have changed. Their new content stands before the message that may be about it. */
async function refresh(chat: Chat): Promise<void> {
  await interruptible(chat, (signal) => chat.conversation.refresh({ signal }));
}

/** Lets the model answer. Without a model, shows the messages after the first `messageCount`, as a model would receive them. */
async function answer(sentText: SentText, messageCount: number, chat: Chat): Promise<number> {
  chat.terminal.status([]);
  if (chat.model !== undefined) return runTurn(sentText, chat);
  showForModel(chat.conversation.messages.slice(messageCount), chat);
  void storeConversation(chat);
  return exitCodes.ok;
}
