import { printable } from "mcparley";
import { Dismissed } from "../terminal/questions/prompter.ts";
import { exitCodeOf } from "../commands/connection/report-error.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { untilAborted } from "../terminal/abort.ts";
import type { ChatSetting } from "./chat-host.ts";
import { openChat } from "./open-chat.ts";
import type { Chat } from "./session/chat.ts";
import { DialogQueue } from "./session/dialog-queue.ts";
import { showError } from "./session/show-error.ts";
import { isCommand, submit, submitData } from "./submit.ts";
import { messageMenu } from "./suggestions.ts";
import { showForModel } from "./session/show-message.ts";
import type { StoredChat } from "./history/chat-file.ts";
import { paragraph } from "../terminal/screen.ts";
import { visibleLine } from "../terminal/text.ts";
import { PlainTerminal } from "../terminal/interactive/plain-terminal.ts";
import { RichTerminal } from "../terminal/interactive/rich-terminal.ts";
import type { ChatTerminal } from "../terminal/interactive/terminal.ts";

/** Milliseconds in which a second Ctrl-C leaves. */
const confirmationTime = 2_000;

/** Runs a chat with the user until the user leaves or the input ends. Returns the exit code. */
export async function runInteractive(
  setting: ChatSetting,
  onTerminate: (listener: () => void) => () => void,
): Promise<number> {
  const { io, outputs, pipedText, resumedChat } = setting;
  const leaving = new AbortController();
  const leave = (): void => leaving.abort(new Error("The user left the chat."));
  let chat: Chat | undefined;
  let endConfirmation: (() => void) | undefined;
  // Ctrl-C cancels the work that runs, empties the input, or closes a question. A second one without such an effect leaves.
  const interrupt = (): void => {
    const isConfirmed = endConfirmation !== undefined;
    endConfirmation?.();
    endConfirmation = undefined;
    if (chat?.interruptWork?.()) return;
    if (!chat?.interruptWork && (terminal.clearInput() || dialogs.dismiss())) return;
    if (isConfirmed || !chat || !io.isTerminal.stdin) return leave();
    terminal.note(chat.view.style.dim("Press Ctrl-C again within 2 seconds to leave."));
    endConfirmation = io.schedule(confirmationTime, () => (endConfirmation = undefined));
  };
  // Menus and a status need a cursor that can be moved.
  const isRich = io.isTerminal.stdin && io.isTerminal.stdout && io.env.TERM !== "dumb";
  const Terminal = isRich ? RichTerminal : PlainTerminal;
  const terminal: ChatTerminal = new Terminal(io, {
    onInterrupt: interrupt,
    onEmptied: () => dialogs.inputEmptied(),
  });
  const dialogs = new DialogQueue(terminal);
  outputs.showOn({ note: (text) => terminal.note(text), err: terminal.view });
  const stopListening = onTerminate(leave);
  try {
    chat = await openChat(setting, { terminal, dialogs, leave });
    if (io.isTerminal.stdin) showWelcome(chat, resumedChat);
    // The servers connect while the user types, also those whose lists are stored. Their failures are shown as notices.
    for (const server of chat.host.servers.values()) void server.connect().catch(() => {});
    // Nobody reads the state of the servers before the first line of a pipe.
    if (!io.isTerminal.stdin) await chat.host.ready();
    const code =
      pipedText === undefined
        ? await readMessages(chat, leaving.signal)
        : await sendPiped(pipedText, chat, leaving.signal);
    await chat.saver.waitForSaves();
    showResume(chat, setting);
    return code;
  } finally {
    endConfirmation?.();
    terminal.close();
    stopListening();
    await chat?.host.close();
    // A turn that was interrupted by the end is stored when it has ended.
    await chat?.saver.waitForSaves();
  }
}

/** Shows what a new user must know, and the end of a conversation that is continued. */
function showWelcome(chat: Chat, resumedChat: StoredChat | undefined): void {
  const { terminal, view, model, host, conversation } = chat;
  const { bold, dim } = view.style;
  const names = [...host.servers.keys()].map(visibleLine);
  const servers =
    names.length === 0 ? "no server" : `${names.length === 1 ? "the server" : "the servers"} ${names.join(", ")}`;
  const partner = model === undefined ? "without a model" : `with ${visibleLine(model)}`;
  terminal.note(bold(`mcparley chat ${partner}, and ${servers}`));
  for (const line of model === undefined ? manualHelp : modelHelp) terminal.note(dim(paragraph(line, view)));
  if (names.length === 0)
    terminal.note(dim(paragraph("Name servers on the command line: mcparley chat TARGET...", view)));
  if (!resumedChat) return;
  terminal.note(
    bold(`\nContinued: ${visibleLine(resumedChat.title)}`) + dim(` (${conversation.messages.length} messages)`),
  );
  const last = conversation.messages.at(-1);
  if (last) showForModel([last], chat);
}

const modelHelp: readonly string[] = [
  "Type a message. / shows the commands and the prompts of the servers, @ attaches a resource. /help explains more.",
];

const manualHelp: readonly string[] = [
  "You choose what a model would: / shows the commands and prompts, @ attaches a resource, /call calls a tool. You see what a model " +
    "would receive. /help explains more.",
  "A model is chosen with --model, such as --model ollama/qwen3.",
];

/** Reads messages until the user leaves. Returns the exit code: of pipes, that of the last failure. */
async function readMessages(chat: Chat, leaving: AbortSignal): Promise<number> {
  let code: number = exitCodes.ok;
  while (!leaving.aborted) {
    const text = await nextMessage(chat, leaving);
    if (text === undefined) return code;
    if (text.trim() === "") continue;
    const failureCode = await untilAborted(tryToSubmit(text, chat), leaving);
    if (failureCode && !chat.io.isTerminal.stdin) code = failureCode;
  }
  return code;
}

/**
 * Sends the text of a pipe. One line is read as if it was typed. Several lines are data of another program, in which nothing is searched.
 * Returns the exit code.
 */
async function sendPiped(text: string, chat: Chat, leaving: AbortSignal): Promise<number> {
  const message = text.trimEnd();
  if (message === "") {
    chat.terminal.note("stdin is empty, so nothing was sent.");
    return exitCodes.ok;
  }
  return (await untilAborted(tryToSubmit(message, chat, message.includes("\n")), leaving)) ?? exitCodes.ok;
}

/** Returns the next text, or undefined if the user leaves or the input has ended. */
async function nextMessage(chat: Chat, leaving: AbortSignal): Promise<string | undefined> {
  const { terminal, view, draft } = chat;
  chat.draft = undefined;
  const options = { hasHistory: true, isMultiline: true, suggest: messageMenu(chat), hint: () => hintOf(chat) };
  try {
    return await terminal.ask(
      view.style.bold("> "),
      { ...options, ...(draft !== undefined && { initial: draft }) },
      leaving,
    );
  } catch (error) {
    if (error instanceof Dismissed) return undefined;
    throw error;
  }
}

/** Runs a text, and returns its exit code. Shows an error. A message is then offered again; a command is in the history. */
async function tryToSubmit(text: string, chat: Chat, isData = false): Promise<number> {
  try {
    return await (isData ? submitData(text, chat) : submit(text, chat));
  } catch (error) {
    chat.terminal.status([]);
    if (error instanceof Dismissed) {
      chat.terminal.print(chat.view.style.dim("Cancelled."));
      return exitCodes.ok;
    }
    showError(error, chat);
    if (chat.terminal.isRich && !isCommand(text)) chat.draft = text;
    return exitCodeOf(error);
  }
}

function hintOf({ model, host }: Chat): string {
  const states = [...host.servers.values()];
  const ready = states.filter(({ state }) => state === "ready").length;
  const servers = `${ready} of ${states.length} servers connected`;
  return printable(`${model ?? "no model"} - ${servers} - / commands, @ resources`);
}

function showResume(chat: Chat, { resumedChat, leftOut }: ChatSetting): void {
  const { id } = chat.saver;
  if (id === undefined || (chat.conversation.messages.length === 0 && !resumedChat)) return;
  const { dim } = chat.view.style;
  chat.terminal.note(dim(`Continue this conversation with: mcparley chat --resume ${id}`));
  if (leftOut.length > 0)
    chat.terminal.note(dim(`Name these servers again, which are not stored: ${leftOut.join(", ")}`));
}
