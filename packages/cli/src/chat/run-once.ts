import type { Host } from "@mcparley/host";
import { LocalError } from "mcparley";
import { type ChatSetting, chatHost } from "./chat-host.ts";
import { readOptionalStdin, readRequiredStdin } from "./read-stdin.ts";
import { type ScriptSetting, runScript } from "./script/run-script.ts";
import type { StartSetting } from "./servers/chat-servers.ts";
import { namedTools } from "./servers/server-names.ts";
import { retryText } from "./session/notices.ts";
import { type NamedText, messageWith, readNamedTexts, stdinWord } from "./session/named-texts.ts";
import { findMentions } from "./session/mentions.ts";
import { unmatchedPatterns } from "../commands/arguments/tool-spellings.ts";
import { ConversationSaver, restoredConversation } from "./session/conversation-saver.ts";
import { withTarget } from "../targets/known-target.ts";
import { UsageError } from "../terminal/io.ts";

const needsUser =
  "A server can hide tools that need a model or answers of a user, because --prompt asks nobody. A chat without --prompt offers them.";

/** Runs `mcparley chat --prompt`: one message and its answer, without questions. Returns the exit code. */
export async function runOnce(chat: ChatSetting, setting: StartSetting): Promise<number> {
  const { screen, options, stop } = setting;
  const { prompt, json, timeout, system } = options;
  const { model, servers, history, resumedChat, targets } = chat;
  if (prompt === undefined || !model) throw new UsageError("--prompt needs a text and a model.");
  const host = await chatHost(chat, {
    model: model.model,
    onEvent: (event) => {
      if (event.type === "retry") screen.noteParagraph(retryText(event), screen.err.style.yellow);
    },
    note: (text) => screen.note(text),
  });
  try {
    const conversation = restoredConversation(host, resumedChat);
    const saver = new ConversationSaver({ history, resumedChat, model: model.name, targets });
    const message = await readMessage(prompt, { host, setting });
    await attachMentions(prompt, { host, conversation, signal: stop.signal });
    if (options.allow.length > 0) {
      await host.ready({ signal: stop.signal });
      const texts = unmatchedPatterns(options.allow, namedTools(host));
      for (const text of texts) screen.noteParagraph(text, screen.err.style.yellow);
      if (texts.length > 0) screen.noteParagraph(needsUser, screen.err.style.dim);
    }
    const { exitCode } = await runScript({
      host,
      conversation,
      prompt: message,
      signal: stop.signal,
      json,
      screen,
      model: model.name,
      signInCure(name) {
        const word = servers.find((server) => server.name === name)?.word;
        const target = { word, command: undefined, headerNames: [], options: setting.targetOptions ?? [] };
        return withTarget("Sign in: mcparley login TARGET", target);
      },
      limits: { ...(timeout !== undefined && { maxTime: timeout }), ...(system !== undefined && { system }) },
      ...(history && { save: () => saver.save(conversation) }),
    });
    return exitCode;
  } finally {
    await host.close();
  }
}

/** Returns the message: the prompt with the texts of the files that it names, and with that of stdin. `-` is stdin alone. */
async function readMessage(prompt: string, { host, setting }: { host: Host; setting: StartSetting }): Promise<string> {
  const { io, options, screen, stop } = setting;
  const messageText = prompt.trim() === "-" ? stdinWord : prompt;
  const read = { signal: stop.signal, note: (text: string) => screen.note(text) };
  stop.limit(options.timeout);
  try {
    const stdin = (): Promise<NamedText> => readRequiredStdin(io, read);
    const texts = await readNamedTexts(messageText, { names: host, io, stdin, onUnknown: refuse, signal: stop.signal });
    const pipedText = texts.some(({ word }) => word === stdinWord) ? undefined : await readOptionalStdin(io, read);
    return messageWith(messageText, pipedText ? [...texts, pipedText] : texts);
  } catch (error) {
    if (stop.reason !== "timeout") throw error;
    throw new LocalError("timeout", `stdin did not end within ${(options.timeout ?? 0) / 1000} s.`);
  } finally {
    stop.limit(undefined);
  }
}

function refuse(error: UsageError): never {
  throw error;
}

/** Attaches the resources that the message names. Throws `UsageError` for a template, whose variables nobody can be asked for. */
async function attachMentions(
  prompt: string,
  { host, conversation, signal }: Pick<ScriptSetting, "host" | "conversation" | "signal">,
): Promise<void> {
  if (!/(?:^|\s)@\S/.test(prompt)) return;
  await host.ready({ signal });
  for (const { server, uri, isTemplate } of findMentions(prompt, host)) {
    if (isTemplate)
      throw new UsageError(`@${server}:${uri} is a template.`, "Write the URI with the values of its variables.");
    await conversation.attach({ server, uri }, { signal });
  }
}
