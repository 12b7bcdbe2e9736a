import { type ApprovalRequest, type Conversation, type Host, type Renderer, estimateTokens } from "@mcparley/host";
import type { CommandIo } from "../terminal/io.ts";
import type { ChatOptions } from "../commands/chat.ts";
import { allowCure } from "../commands/connection/allow-cure.ts";
import { chatHost } from "./chat-host.ts";
import { isDestructive } from "./dialogs/approve.ts";
import { chatRenderer } from "./dialogs/dialogs.ts";
import type { ChatHistory, StoredChat } from "./history/stored-chats.ts";
import { type ManualModel, manualModel } from "./model/manual-model.ts";
import type { ChosenModel } from "./model/open-model.ts";
import { recordRequests } from "./model/sent-request.ts";
import { readRoot } from "../targets/roots.ts";
import type { ChatServer } from "./servers/chat-servers.ts";
import type { ServerOutputs } from "./servers/server-outputs.ts";
import { chatSignIn, renewalRefusals } from "./servers/sign-in.ts";
import type { Chat } from "./session/chat.ts";
import type { DialogQueue } from "./session/dialog-queue.ts";
import { keepConversation, restoredConversation } from "./session/keep-conversation.ts";
import { noticeListener } from "./session/notices.ts";
import { showError } from "./session/show-error.ts";
import type { ChatTerminal } from "../terminal/interactive/terminal.ts";

type RecordedModel = ReturnType<typeof recordRequests>;

/** The parts of a chat that exist before its terminal is opened. */
export interface ChatSetting {
  readonly io: CommandIo;
  readonly options: ChatOptions;
  /** Undefined for a chat without a model. */
  readonly model: ChosenModel | undefined;
  readonly servers: readonly ChatServer[];
  readonly outputs: ServerOutputs;
  /** Undefined if conversations are not stored. */
  readonly history: ChatHistory | undefined;
  readonly resumed: StoredChat | undefined;
  /** The words of the command line that name the servers, and that can be stored. */
  readonly targets: readonly string[];
  /** The text of a pipe, which is the only message. Undefined if messages are read one after another. */
  readonly piped?: string | undefined;
  /** The other words that name the servers, without their secrets. */
  readonly leftOut: readonly string[];
}

/** The terminal of a chat with its questions. */
export interface ChatFront {
  readonly terminal: ChatTerminal;
  readonly dialogs: DialogQueue;
  /** Whether a user can answer questions. */
  readonly isAttended: boolean;
  /** Ends the chat. */
  readonly leave: () => void;
}

/** Creates the host and the conversation of a chat. The caller closes `chat.host`. Rejects if a stored conversation is not valid. */
export async function openChat(setting: ChatSetting, front: ChatFront): Promise<Chat> {
  const { terminal, dialogs } = front;
  const manual = manualModel((signal) => writeAnswer(front, signal));
  const recorded = recordRequests(setting.model?.model ?? manual.model, estimateTokens);
  // Events can arrive before the chat exists, such as those of servers that connect at once.
  let open: Chat | undefined;
  const { verbose, logLevel = verbose ? "debug" : "warning" } = setting.options;
  const listener = noticeListener(() => open, { logLevel, isVerbose: verbose, outputs: setting.outputs });
  const host = await createHost(setting, { front, recorded, onEvent: listener, chat: () => open });
  const keeping = keepConversation({ ...setting, model: setting.model?.name });
  const chat: Chat = {
    io: setting.io,
    host,
    terminal,
    dialogs,
    isAttended: front.isAttended,
    model: setting.model?.name,
    system: setting.options.system,
    get view() {
      return terminal.view;
    },
    conversation: await restored(host, setting.resumed),
    roots: setting.options.root.map((folder) => readRoot(folder, setting.io)),
    sentRequest: () => sentRequest(chat, recorded, manual),
    composed: undefined,
    work: undefined,
    draft: undefined,
    storedId: () => keeping.id,
    // A conversation that cannot be stored continues.
    store: () => keeping.save(chat.conversation).catch((error: unknown) => showError(error, chat)),
    stored: keeping.settled,
    async restart() {
      await keeping.settled();
      await chat.conversation.close();
      chat.conversation = host.conversation();
      keeping.restart();
    },
    leave: front.leave,
  };
  open = chat;
  return chat;
}

interface HostParts {
  readonly front: ChatFront;
  readonly recorded: RecordedModel;
  readonly onEvent: ReturnType<typeof noticeListener>;
  readonly chat: () => Chat | undefined;
}

async function createHost(setting: ChatSetting, { front, recorded, onEvent, chat }: HostParts): Promise<Host> {
  const { io, options, servers, model } = setting;
  const { terminal, dialogs } = front;
  const openUrl = (url: string): Promise<void> => io.openUrl(url);
  const note = (text: string): void => terminal.note(text);
  const { listen, reasonOf } = renewalRefusals(servers);
  const isComposed = ({ origin, tool, arguments: args }: ApprovalRequest): boolean => {
    const composed = chat()?.composed;
    return origin.by === "user" && composed?.tool === tool.name && composed.json === JSON.stringify(args);
  };
  const renderer: Renderer = front.isAttended
    ? chatRenderer({ talk: dialogs.talk, openUrl, isComposed, isManual: model === undefined })
    : unattendedRenderer(isComposed);
  return chatHost({
    io,
    options,
    servers,
    // The recorder is inside, so that /why shows what is sent.
    model: model ? model.adapt(recorded.model) : recorded.model,
    schemas: model?.schemas ?? "common",
    renderer,
    signIn: front.isAttended
      ? chatSignIn({ talk: dialogs.talk, openUrl, noBrowser: options.noBrowser, note, reasonOf })
      : undefined,
    onEvent(event) {
      listen(event);
      onEvent(event);
    },
    note,
  });
}

/** Allows the calls that the user has typed into a pipe, unless they may be destructive. Nothing else is allowed, because nobody can be asked. */
function unattendedRenderer(isComposed: (request: ApprovalRequest) => boolean): Renderer {
  return {
    approve: (request) => ({
      action: isComposed(request) && !isDestructive(request.tool) ? "allow" : "deny",
      reason: `nobody can be asked here. ${allowCure([`${request.server}:${request.tool.name}`])}`,
    }),
  };
}

/** Returns the stored conversation, or an empty one. Closes the host if the stored one is not valid. */
async function restored(host: Host, stored: StoredChat | undefined): Promise<Conversation> {
  try {
    return restoredConversation(host, stored);
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** Asks the user for the answer of a model, for a server that requested sampling. */
function writeAnswer({ dialogs }: ChatFront, signal: AbortSignal | undefined): Promise<string> {
  return dialogs.talk(signal ?? new AbortController().signal, (prompter, view) => {
    prompter.say(view.style.dim("Write the answer in place of a model. Alt-Enter inserts a line break."));
    return prompter.ask("Answer: ", { isMultiline: true });
  });
}

/** Returns the last request. Without a model, a run whose answer is empty shows what would be sent. */
async function sentRequest(chat: Chat, recorded: RecordedModel, manual: ManualModel): ReturnType<Chat["sentRequest"]> {
  if (chat.model !== undefined) return recorded.last();
  const { host, conversation, system } = chat;
  const options = { conversation, maxSteps: 1, ...(system !== undefined && { system }) };
  await manual.readRequests(() => host.run(options).finished);
  return recorded.last();
}
