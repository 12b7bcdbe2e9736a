import {
  type ApprovalRequest,
  type Conversation,
  type Host,
  type HostServer,
  type Renderer,
  estimateTokens,
} from "@mcparley/host";
import { allowCure } from "../commands/connection/allow-cure.ts";
import { type ChatSetting, chatHost } from "./chat-host.ts";
import { isDestructive } from "./dialogs/approve.ts";
import { chatRenderer } from "./dialogs/dialogs.ts";
import { ManualModel } from "./model/manual-model.ts";
import { recordRequests } from "./model/sent-request.ts";
import { readRoot } from "../targets/roots.ts";
import type { ChatServer } from "./servers/chat-servers.ts";
import { chatSignIn, renewalRefusals, urlOf } from "./servers/sign-in.ts";
import { type Chat, runOptions } from "./session/chat.ts";
import { ConversationSaver, restoredConversation } from "./session/conversation-saver.ts";
import type { DialogQueue } from "./session/dialog-queue.ts";
import { ResultLog } from "./history/result-log.ts";
import { noticeListener } from "./session/notices.ts";
import type { ChatTerminal } from "../terminal/interactive/terminal.ts";

/** The terminal of a chat with its questions. */
interface ChatFront {
  readonly terminal: ChatTerminal;
  readonly dialogs: DialogQueue;
  /** Ends the chat. */
  readonly leave: () => void;
}

/** Creates the host and the conversation of a chat. The caller closes `chat.host`. Rejects if a stored conversation is not valid. */
export async function openChat(setting: ChatSetting, { terminal, dialogs, leave }: ChatFront): Promise<Chat> {
  const { io, options, servers, model, outputs } = setting;
  const isAttended = io.isTerminal.stdin && !options.noInput;
  const manual = new ManualModel((signal) => writeAnswer(dialogs, signal));
  const recorder = recordRequests(model?.model ?? manual.model, estimateTokens);
  // Events can arrive before the chat exists, such as those of servers that connect at once.
  let chat: Chat | undefined;
  const isComposed = (request: ApprovalRequest): boolean => isComposedCall(request, chat?.composedCall);
  const parts = {
    talk: dialogs.talk,
    openUrl: (url: string) => io.openUrl(url),
    note: (text: string) => terminal.note(text),
  };
  const { listen, reasonOf } = renewalRefusals(servers);
  const { verbose, logLevel = verbose ? "debug" : "warning" } = options;
  const notify = noticeListener(() => chat, { logLevel, isVerbose: verbose, outputs, allow: options.allow });
  const host = await chatHost(setting, {
    model: recorder.model,
    renderer: isAttended
      ? chatRenderer({ ...parts, isComposed, isManual: model === undefined })
      : unattendedRenderer(isComposed),
    signIn: isAttended ? chatSignIn({ ...parts, noBrowser: options.noBrowser, reasonOf }) : undefined,
    onEvent(event) {
      listen(event);
      notify(event);
    },
    note: parts.note,
  });
  const conversation = await openConversation(host, setting.resumedChat);
  const openedChat: Chat = {
    io,
    host,
    terminal,
    dialogs,
    isAttended,
    model: model?.name,
    system: options.system,
    get view() {
      return terminal.view;
    },
    conversation,
    saver: new ConversationSaver({ ...setting, model: model?.name }),
    results: new ResultLog(),
    signInServers: servers.flatMap(({ name, entry }) => (urlOf(entry) === undefined ? [] : name)),
    roots: options.root.map((folder) => readRoot(folder, io)),
    sentRequest: async () => {
      if (!model) await readRequest(manual, openedChat);
      return recorder.last();
    },
    setRevision: (name, revision) => replaceServer(name, revision, { servers, host }),
    composedCall: undefined,
    interruptWork: undefined,
    draft: undefined,
    leave,
  };
  chat = openedChat;
  return openedChat;
}

/** Makes a run whose answer is empty, so that a chat without a model shows what would be sent. */
async function readRequest(manual: ManualModel, chat: Chat): Promise<void> {
  await manual.readRequests(() => chat.host.run({ ...runOptions(chat), maxSteps: 1 }).finished);
}

/** Whether the user has composed a call that is to be approved. */
function isComposedCall({ origin, tool, arguments: args }: ApprovalRequest, call: Chat["composedCall"]): boolean {
  return origin.by === "user" && call?.tool === tool.name && call.json === JSON.stringify(args);
}

/** Returns the stored conversation, or an empty one. Closes the host and rejects if the stored one is not valid. */
async function openConversation(host: Host, resumedChat: ChatSetting["resumedChat"]): Promise<Conversation> {
  try {
    return restoredConversation(host, resumedChat);
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** Connects a server again with another revision, and stores it for later chats. */
async function replaceServer(
  name: string,
  revision: string,
  { servers, host }: { servers: readonly ChatServer[]; host: Host },
): Promise<HostServer> {
  const { entry, storeRevision } = servers.find((server) => server.name === name)!;
  const settings = typeof entry === "object" && "target" in entry ? entry : { target: entry };
  const server = await host.add(name, { ...settings, revision });
  await storeRevision?.(revision);
  await server.connect();
  return server;
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

/** Asks the user for the answer of a model, for a server that requested sampling. */
function writeAnswer(dialogs: DialogQueue, signal: AbortSignal | undefined): Promise<string> {
  return dialogs.talk(signal ?? new AbortController().signal, (prompter, view) => {
    prompter.say(view.style.dim("Write the answer in place of a model. Alt-Enter inserts a line break."));
    return prompter.ask("Answer: ", { isMultiline: true });
  });
}
