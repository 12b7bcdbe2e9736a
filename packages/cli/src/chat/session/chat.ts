import type { Conversation, Host, Run } from "@mcparley/host";
import type { CommandIo } from "../../terminal/io.ts";
import type { View } from "../../terminal/screen.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";
import type { DialogQueue } from "./dialog-queue.ts";
import type { SentRequest } from "../model/sent-request.ts";
import type { Root } from "mcparley/client";

/** Work that Ctrl-C interrupts: first its calls, then all of it. */
interface Work {
  /** Returns false if nothing is left to interrupt. */
  interrupt(this: void): boolean;
}

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
  /** The folders that servers can request. */
  roots: readonly Root[];
  /** Returns the request that was sent to the model last, or the one that would be sent. */
  sentRequest(this: void): Promise<SentRequest | undefined>;
  /** Marks a call that the user has composed, so that it is not asked for again. */
  composed: { readonly tool: string; readonly json: string } | undefined;
  /** The work that Ctrl-C interrupts. */
  work: Work | undefined;
  /** The text for the next input: one that could not be sent. */
  draft: string | undefined;
  /** Returns the id under which the conversation is stored. Undefined if it is not. */
  storedId(this: void): string | undefined;
  /** Stores the conversation. A failure is shown. */
  store(this: void): Promise<void>;
  /** Resolves when the conversation is stored. */
  stored(this: void): Promise<void>;
  /** Starts a new conversation. */
  restart(this: void): Promise<void>;
  /** Ends the chat after the present command. */
  leave(this: void): void;
}

/** Runs work with a signal that Ctrl-C aborts. */
export async function interruptible<T>(chat: Chat, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  return during(chat, { interrupt: () => abortOnce(controller) }, () => work(controller.signal));
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
  return during(chat, { interrupt }, consume);
}

async function during<T>(chat: Chat, work: Work, run: () => Promise<T>): Promise<T> {
  const outer = chat.work;
  chat.work = work;
  try {
    return await run();
  } finally {
    chat.work = outer;
  }
}

function abortOnce(controller: AbortController): boolean {
  if (controller.signal.aborted) return false;
  controller.abort(new Error("Interrupted."));
  return true;
}
