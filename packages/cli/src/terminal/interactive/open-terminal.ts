import type { CommandIo } from "../io.ts";
import { openPlainTerminal } from "./plain-terminal.ts";
import { openRichTerminal } from "./rich-terminal.ts";
import type { ChatTerminal, TerminalOptions } from "./terminal.ts";

/** Opens the terminal of a chat: with menus and a status if the cursor can be moved, otherwise with lines. */
export function openTerminal(io: CommandIo, options: TerminalOptions): ChatTerminal {
  const { stdin, stdout } = io.isTerminal;
  return stdin && stdout && io.env.TERM !== "dumb" ? openRichTerminal(io, options) : openPlainTerminal(io, options);
}
