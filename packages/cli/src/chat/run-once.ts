import { LocalError } from "mcparley";
import { chatHost } from "./chat-host.ts";
import { readOptionalStdin, readRequiredStdin } from "./read-stdin.ts";
import type { ChatSetting } from "./open-chat.ts";
import { runScript } from "./script/run-script.ts";
import type { StartSetting } from "./servers/chat-servers.ts";
import { retryText } from "./session/notices.ts";
import { type NamedText, messageWith, readNamedTexts, stdinWord } from "./session/named-texts.ts";
import { findMentions } from "./session/mentions.ts";
import { keepConversation, restoredConversation } from "./session/keep-conversation.ts";
import { withTarget } from "../targets/known-target.ts";
import { UsageError } from "../terminal/io.ts";

/** Runs `mcparley chat --prompt`: one message and its answer, without questions. Returns the exit code. */
export async function runOnce(chat: ChatSetting, setting: StartSetting): Promise<number> {
  const { io, screen, options, stop } = setting;
  const { prompt, json, timeout, system } = options;
  const { model, servers, history, resumed } = chat;
  if (prompt === undefined || !model) throw new UsageError("--prompt needs a text and a model.");
  const host = await chatHost({
    io,
    options,
    servers,
    model: model.adapt(model.model),
    schemas: model.schemas,
    renderer: undefined,
    signIn: undefined,
    onEvent: (event) => {
      if (event.type === "retry") screen.noteParagraph(retryText(event), screen.err.style.yellow);
    },
    note: (text) => screen.note(text),
  });
  try {
    const conversation = restoredConversation(host, resumed);
    const keeping = keepConversation({ history, resumed, model: model.name, targets: chat.targets });
    const message = await readMessage(prompt, { host, setting });
    await attachMentions(prompt, { host, conversation, signal: stop.signal });
    const { exitCode } = await runScript({
      host,
      conversation,
      prompt: message,
      signal: stop.signal,
      json,
      out: screen,
      meta: { id: undefined, model: model.name },
      signInCure(name) {
        const word = servers.find((server) => server.name === name)?.word;
        const target = { word, command: undefined, headerNames: [], options: setting.targetOptions ?? [] };
        return withTarget("Sign in: mcparley login TARGET", target);
      },
      limits: { ...(timeout !== undefined && { maxTime: timeout }), ...(system !== undefined && { system }) },
      ...(history && { save: () => save(keeping, conversation) }),
    });
    return exitCode;
  } finally {
    await host.close();
  }
}

type Host = Awaited<ReturnType<typeof chatHost>>;
type Conversation = ReturnType<Host["conversation"]>;

/** Returns the message: the prompt with the texts of the files that it names, and with that of stdin. `-` is stdin alone. */
async function readMessage(prompt: string, { host, setting }: { host: Host; setting: StartSetting }): Promise<string> {
  const { io, options, screen, stop } = setting;
  const written = prompt.trim() === "-" ? stdinWord : prompt;
  const read = { signal: stop.signal, note: (text: string) => screen.note(text) };
  stop.limit(options.timeout);
  try {
    const stdin = (): Promise<NamedText> => readRequiredStdin(io, read);
    const named = await readNamedTexts(written, { known: host, io, stdin, onUnknown: refuse, signal: stop.signal });
    const piped = named.some(({ word }) => word === stdinWord) ? undefined : await readOptionalStdin(io, read);
    return messageWith(written, piped ? [...named, piped] : named);
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

/** Stores the conversation. Returns its id, or undefined if it has no messages. */
async function save(
  keeping: ReturnType<typeof keepConversation>,
  conversation: Conversation,
): Promise<string | undefined> {
  await keeping.save(conversation);
  return keeping.id;
}

interface Attaching {
  readonly host: Host;
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
}

/** Attaches the resources that the message names. Throws `UsageError` for a template, whose variables nobody can be asked for. */
async function attachMentions(prompt: string, { host, conversation, signal }: Attaching): Promise<void> {
  if (!/(?:^|\s)@\S/.test(prompt)) return;
  await host.ready({ signal });
  for (const { server, uri, isTemplate } of findMentions(prompt, host)) {
    if (isTemplate)
      throw new UsageError(`@${server}:${uri} is a template.`, "Write the URI with the values of its variables.");
    await conversation.attach({ server, uri }, { signal });
  }
}
