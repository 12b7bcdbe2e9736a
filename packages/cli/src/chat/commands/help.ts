import { wrap } from "../../terminal/text.ts";
import type { ChatCommand } from "./command.ts";

const keys: readonly (readonly [key: string, effect: string])[] = [
  ["/server:prompt", "expand a prompt of a server; arguments are asked for"],
  ["@server:uri", "attach a resource to the message; a template asks for its variables"],
  ["Tab, arrows", "choose from the menu"],
  ["Alt-Enter, Ctrl-J", "line break; so does \\ before Enter"],
  ["Ctrl-C", "cancel the call, then the answer, then leave"],
  ["Ctrl-D", "leave, or close a question"],
];

/** Returns the command that shows the commands and the keys. */
export const helpCommand = (commands: () => ReadonlyMap<string, ChatCommand>): ChatCommand => ({
  usage: "",
  summary: "show the commands and the keys",
  run(_text, { terminal, view }) {
    const rows = [...commands()].map(([name, { usage, summary }]) => [`/${name} ${usage}`.trim(), summary] as const);
    const left = Math.min(34, Math.max(...rows.map(([label]) => label.length)) + 2);
    const columns = Math.min(view.width, 100);
    for (const [label, text] of [...rows, ...keys]) {
      const [first = "", ...more] = wrap(text, columns - left);
      if (label.length >= left) terminal.print(`${label}\n${" ".repeat(left)}${first}`);
      else terminal.print(label.padEnd(left) + first);
      for (const line of more) terminal.print(" ".repeat(left) + line);
    }
  },
});

/** Starts a new conversation with the same servers. */
export const newCommand: ChatCommand = {
  usage: "",
  summary: "start a new conversation",
  async run(_text, chat) {
    await chat.saver.settled();
    await chat.conversation.close();
    chat.conversation = chat.host.conversation();
    chat.saver.restart();
    chat.terminal.print("A new conversation.");
  },
};

/** Ends the chat. */
export const quitCommand: ChatCommand = {
  usage: "",
  summary: "leave",
  run: (_text, chat) => chat.leave(),
};
