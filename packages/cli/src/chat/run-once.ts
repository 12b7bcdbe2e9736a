import { chatHost } from "./chat-host.ts";
import type { ChatSetting } from "./open-chat.ts";
import { runScript } from "./script/run-script.ts";
import type { StartSetting } from "./servers/chat-servers.ts";
import { retryText } from "./session/notices.ts";
import { findMentions } from "./session/mentions.ts";
import { keepConversation, restoredConversation } from "./session/keep-conversation.ts";
import { UsageError } from "../client/io.ts";

/** Runs `mcparley chat --prompt`: one message and its answer, without questions. Returns the exit code. */
export async function runOnce(chat: ChatSetting, { io, screen, options, stop }: StartSetting): Promise<number> {
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
      if (event.type === "retry") screen.note(screen.err.style.yellow(retryText(event)));
    },
    note: (text) => screen.note(text),
  });
  try {
    const conversation = restoredConversation(host, resumed);
    const keeping = keepConversation({ history, resumed, model: model.name, targets: chat.targets });
    await attachMentions(prompt, { host, conversation, signal: stop.signal });
    const { exitCode } = await runScript({
      host,
      conversation,
      prompt,
      signal: stop.signal,
      json,
      out: screen,
      meta: { id: undefined, model: model.name },
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
