import { withAnySignal } from "../../terminal/abort.ts";
import type { RunDialog } from "../../terminal/questions/choose.ts";
import { Dismissed, type Prompter } from "../../terminal/questions/prompter.ts";
import type { View } from "../../terminal/screen.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";

/** The questions of a chat, of which one is open at a time. */
export interface DialogQueue {
  readonly talk: RunDialog;
  /** Continues with a question that waited until the user had sent or deleted a text. */
  inputEmptied(this: void): void;
  /** Closes the open question. Returns false if there is none. */
  dismiss(this: void): boolean;
  /** Whether a question is open or waits. */
  readonly isBusy: boolean;
}

/**
 * Returns an empty queue of questions.
 *
 * A question that arrives while the user types a message waits until the message is sent or deleted. The rest of the message would
 * otherwise become the answer.
 */
export function createDialogQueue(terminal: ChatTerminal): DialogQueue {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let open: AbortController | undefined;
  let continueTyped: (() => void) | undefined;

  async function untilFree(signal: AbortSignal): Promise<void> {
    if (!terminal.isTyping || signal.aborted) return;
    terminal.print(terminal.view.style.yellow("A server has a question. Send or delete your text to see it."));
    await new Promise<void>((resolve) => {
      continueTyped = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    continueTyped = undefined;
  }

  async function run<T>(signal: AbortSignal, dialog: (prompter: Prompter, view: View) => Promise<T>): Promise<T> {
    await untilFree(signal);
    if (signal.aborted) throw new Dismissed();
    const closing = (open = new AbortController());
    try {
      return await withAnySignal([signal, closing.signal], (either) =>
        dialog(prompterOn(terminal, either), terminal.view),
      );
    } finally {
      open = undefined;
    }
  }

  return {
    talk(signal, dialog) {
      waiting += 1;
      const answer = last.then(() => run(signal, dialog));
      last = answer.catch(() => {}).finally(() => (waiting -= 1));
      return answer;
    },
    inputEmptied: () => continueTyped?.(),
    dismiss() {
      open?.abort(new Dismissed());
      return open !== undefined;
    },
    get isBusy() {
      return waiting > 0;
    },
  };
}

function prompterOn(terminal: ChatTerminal, signal: AbortSignal): Prompter {
  return {
    say: (text) => terminal.print(text),
    ask: (prompt, options) => terminal.ask(prompt, options, signal),
    close: () => {},
  };
}
