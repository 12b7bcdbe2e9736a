import { type ApprovalRequest, type Renderer, estimateTokens } from "@mcparley/host";
import { allowCure } from "../commands/connection/allow-cure.ts";
import { type ChatSetting, chatHost } from "./chat-host.ts";
import { isDestructive } from "./dialogs/approve.ts";
import { chatRenderer } from "./dialogs/dialogs.ts";
import { ManualModel } from "./model/manual-model.ts";
import { recordRequests } from "./model/sent-request.ts";
import { readRoot } from "../targets/roots.ts";
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
  const isComposed = ({ origin, tool, arguments: args }: ApprovalRequest): boolean =>
    origin.by === "user" && chat?.composedCall?.tool === tool.name && chat.composedCall.json === JSON.stringify(args);
  const openUrl = (url: string): Promise<void> => io.openUrl(url);
  const note = (text: string): void => terminal.note(text);
  const { talk } = dialogs;
  const { listen, reasonOf } = renewalRefusals(servers);
  const { verbose, logLevel = verbose ? "debug" : "warning" } = options;
  const notify = noticeListener(() => chat, { logLevel, isVerbose: verbose, outputs, allow: options.allow });
  const host = await chatHost(setting, {
    // The recorder is inside, so that /why shows what is sent.
    model: model ? model.adapt(recorder.model) : recorder.model,
    renderer: isAttended
      ? chatRenderer({ talk, openUrl, isComposed, isManual: model === undefined })
      : unattendedRenderer(isComposed),
    signIn: isAttended ? chatSignIn({ talk, openUrl, noBrowser: options.noBrowser, note, reasonOf }) : undefined,
    onEvent(event) {
      listen(event);
      notify(event);
    },
    note,
  });
  try {
    const conversation = restoredConversation(host, setting.resumedChat);
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
      signInServers: servers.filter(({ entry }) => urlOf(entry) !== undefined).map(({ name }) => name),
      roots: options.root.map((folder) => readRoot(folder, io)),
      sentRequest: async () => {
        // Without a model, a run whose answer is empty shows what would be sent.
        if (!model) await manual.readRequests(() => host.run({ ...runOptions(openedChat), maxSteps: 1 }).finished);
        return recorder.last();
      },
      async setRevision(name, revision) {
        const { entry, storeRevision } = servers.find((server) => server.name === name)!;
        const settings = typeof entry === "object" && "target" in entry ? entry : { target: entry };
        const server = await host.add(name, { ...settings, revision });
        await storeRevision?.(revision);
        await server.connect();
        return server;
      },
      composedCall: undefined,
      interruptWork: undefined,
      draft: undefined,
      leave,
    };
    chat = openedChat;
    return openedChat;
  } catch (error) {
    await host.close();
    throw error;
  }
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
