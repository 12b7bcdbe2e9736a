import type { AskOptions } from "../questions/prompter.ts";
import type { View } from "../screen.ts";

/** The terminal of a chat: text that scrolls, and an input at its end. */
export interface ChatTerminal {
  /** Whether the cursor can be moved, so that there are menus and a status. */
  readonly isRich: boolean;
  /** The present width and the colours. */
  readonly view: View;
  /** Prints lines. Texts of servers and of models must have passed `printable` or `visibleLine`. */
  print(text: string): void;
  /** Prints lines about the chat, such as the state of a server: without cursor movement on stderr, and otherwise as `print`. */
  note(text: string): void;
  /** Prints the next part of a text that arrives in parts. `print` and `endText` end it. */
  write(text: string): void;
  /** Ends the line of a text that arrived in parts. */
  endText(): void;
  /** Shows lines above the input until they are replaced, such as the progress of calls. */
  status(lines: readonly string[]): void;
  /** Draws the hint and the menu of the input again, because their content has changed. */
  refresh(): void;
  /** Shows an image. Returns false if the terminal cannot. */
  image(data: Uint8Array, mimeType: string): boolean;
  /**
   * Asks for a text, in place of an open input, which continues afterwards. Rejects with `Dismissed` if the signal is aborted or the
   * input has ended.
   */
  ask(prompt: string, options?: InputOptions, signal?: AbortSignal): Promise<string>;
  /** Empties the open input. Returns false if there is none, or if it is empty. */
  clearInput(): boolean;
  /** Whether the user has typed a text that is not submitted. */
  readonly isTyping: boolean;
  /** Whether no more input can come. */
  readonly hasEnded: boolean;
  /** Restores the terminal. */
  close(): void;
}

/** Options of an input. */
export interface InputOptions extends AskOptions {
  /** Whether the texts of earlier inputs with this option are offered by the arrow keys. Default: false. */
  readonly hasHistory?: boolean;
  /** A line above the input. It is not shown while a menu is open. */
  readonly hint?: () => string;
}

/** Options of a terminal. */
export interface TerminalOptions {
  /** Called with each Ctrl-C. */
  readonly onInterrupt: () => void;
  /** Called each time the text of the open input has become empty. */
  readonly onEmptied?: () => void;
}
