import type { Conversation, Host, HostServer, Run } from "@mcparley/host";
import type { CommandIo } from "../../terminal/io.ts";
import type { View } from "../../terminal/screen.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";
import type { ConversationSaver } from "./conversation-saver.ts";
import type { DialogQueue } from "./dialog-queue.ts";
import type { ResultLog } from "../history/result-log.ts";
import { showError } from "./show-error.ts";
import type { SentRequest } from "../model/sent-request.ts";
import type { Root } from "mcparley/client";

/** A chat that is open: what its commands read and change. */
export interface Chat {
  readonly io: CommandIo;
  readonly host: Host;
  readonly terminal: ChatTerminal;
  readonly dialogs: DialogQueue;
  /** Whether a user can answer questions. Nothing is asked in a pipe, whose next line would become the answer. */
  readonly isAttended: boolean;
  /** The name of the model. Undefined without a model: the user then chooses what a model would. */
  readonly model: string | undefined;
  readonly system: string | undefined;
  readonly view: View;
  conversation: Conversation;
  readonly saver: ConversationSaver;
  readonly results: ResultLog;
  /** The names of the servers at a URL, at which the user can sign in. */
  readonly signInServers: readonly string[];
  /** The folders that servers can request. */
  roots: readonly Root[];
  /** Returns the request that was sent to the model last, or the one that would be sent. */
  sentRequest(this: void): Promise<SentRequest | undefined>;
  /** Marks a call that the user has composed, so that it is not asked for again. */
  composedCall: { readonly tool: string; readonly json: string } | undefined;
  /** Interrupts the present work, for Ctrl-C: first its calls, then all of it. Returns false if nothing is left to interrupt. */
  interruptWork: (() => boolean) | undefined;
  /** The text for the next input: one that could not be sent. */
  draft: string | undefined;
  /** Connects a server again with a revision of the protocol, and stores it for later chats. */
  setRevision(this: void, server: string, revision: string): Promise<HostServer>;
  /** Ends the chat after the present command. */
  leave(this: void): void;
}

/** Returns the options of a run on the conversation. */
export function runOptions({ conversation, system }: Chat): { conversation: Conversation; system?: string } {
  return { conversation, ...(system !== undefined && { system }) };
}

/** Stores the conversation. If it cannot be stored, the error is shown and the chat continues. */
export async function storeConversation(chat: Chat): Promise<void> {
  await chat.saver.save(chat.conversation).catch((error: unknown) => showError(error, chat));
}

/** Runs work with a signal that Ctrl-C aborts. */
export async function interruptible<T>(chat: Chat, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (): boolean => {
    if (controller.signal.aborted) return false;
    controller.abort(new Error("Interrupted."));
    return true;
  };
  return runInterruptible(chat, interrupt, () => work(controller.signal));
}

/** Consumes a run. Ctrl-C cancels its calls, and then the run. */
export async function duringRun<T>(chat: Chat, run: Run, consume: () => Promise<T>): Promise<T> {
  let isCancelled = false;
  const interrupt = (): boolean => {
    if (isCancelled) return false;
    if (run.cancelCalls() > 0) {
      chat.terminal.print(chat.view.style.dim("The call is cancelled. Press Ctrl-C again to stop the answer."));
      return true;
    }
    isCancelled = true;
    run.cancel();
    return true;
  };
  return runInterruptible(chat, interrupt, consume);
}

async function runInterruptible<T>(chat: Chat, interrupt: () => boolean, work: () => Promise<T>): Promise<T> {
  const outer = chat.interruptWork;
  chat.interruptWork = interrupt;
  try {
    return await work();
  } finally {
    chat.interruptWork = outer;
  }
}
