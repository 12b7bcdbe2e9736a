import { untilAborted, withAnySignal } from "../../terminal/abort.ts";
import type { RunDialog } from "../../terminal/questions/choose.ts";
import { Dismissed, type Prompter } from "../../terminal/questions/prompter.ts";
import type { View } from "../../terminal/screen.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";

/**
 * The questions of a chat, of which one is open at a time.
 *
 * A question that arrives while the user types a message waits until the message is sent or deleted. The rest of the message would
 * otherwise become the answer.
 */
export class DialogQueue {
  readonly #terminal: ChatTerminal;
  #last: Promise<unknown> = Promise.resolve();
  #openDialog: AbortController | undefined;
  #endWait: (() => void) | undefined;

  constructor(terminal: ChatTerminal) {
    this.#terminal = terminal;
  }

  readonly talk: RunDialog = (signal, dialog) => {
    const answer = this.#last.then(() => this.#run(signal, dialog));
    this.#last = answer.catch(() => {});
    return answer;
  };

  /** Continues with a question that waited until the user had sent or deleted a text. */
  inputEmptied(): void {
    this.#endWait?.();
  }

  /** Closes the open question. Returns false if there is none. */
  dismiss(): boolean {
    this.#openDialog?.abort(new Dismissed());
    return this.#openDialog !== undefined;
  }

  async #run<T>(signal: AbortSignal, dialog: (prompter: Prompter, view: View) => Promise<T>): Promise<T> {
    const terminal = this.#terminal;
    await this.#untilEmptied(signal);
    if (signal.aborted) throw new Dismissed();
    const closing = (this.#openDialog = new AbortController());
    try {
      return await withAnySignal([signal, closing.signal], (anySignal) => {
        const prompter: Prompter = {
          say: (text) => terminal.print(text),
          ask: (prompt, options) => terminal.ask(prompt, options, anySignal),
        };
        return dialog(prompter, terminal.view);
      });
    } finally {
      this.#openDialog = undefined;
    }
  }

  async #untilEmptied(signal: AbortSignal): Promise<void> {
    const { isTyping, view } = this.#terminal;
    if (!isTyping || signal.aborted) return;
    this.#terminal.print(view.style.yellow("A server has a question. Send or delete your text to see it."));
    const emptied = new Promise<void>((resolve) => (this.#endWait = resolve));
    await untilAborted(emptied, signal);
    this.#endWait = undefined;
  }
}
