import type { Menu } from "../../terminal/questions/prompter.ts";
import type { Chat } from "../session/chat.ts";

/** A command of a chat, which is typed as `/name`. */
export interface ChatCommand {
  /** The words after the name. */
  readonly usage: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** Runs the command. Throws `UsageError` for words that it does not accept. */
  run(this: void, words: string, chat: Chat): void | Promise<void>;
  /** Returns the menu for the words before the cursor. */
  suggest?(this: void, words: string, chat: Chat, signal: AbortSignal): Menu | undefined | Promise<Menu | undefined>;
}
