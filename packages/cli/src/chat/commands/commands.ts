import { UsageError } from "../../terminal/io.ts";
import { readRoot } from "../../targets/roots.ts";
import { visibleLine, wrap } from "../../terminal/text.ts";
import { titleOf } from "../history/stored-chats.ts";
import { saveTranscript } from "../history/transcript.ts";
import type { Chat } from "../session/chat.ts";
import { callCommand } from "./call.ts";
import { type ChatCommand, splitWords, wordMenu } from "./command.ts";
import { attachedCommand, detachCommand, promptsCommand, resourcesCommand, toolsCommand } from "./lists.ts";
import { resultCommand } from "./result.ts";
import { serversCommand } from "./servers.ts";
import { whyCommand } from "./why.ts";

const keys: readonly (readonly [key: string, effect: string])[] = [
  ["/server:prompt", "expand a prompt of a server; arguments are asked for"],
  ["@server:uri", "attach a resource to the message; a template asks for its variables"],
  ["Tab, arrows", "choose from the menu"],
  ["Alt-Enter, Ctrl-J", "line break; so does \\ before Enter"],
  ["Ctrl-C", "cancel the call, then the answer; twice at an empty input: leave"],
  ["Ctrl-D", "leave, or close a question"],
];

const helpCommand: ChatCommand = {
  summary: "show the commands and the keys",
  run(_words, { terminal, view }) {
    const rows = [...chatCommands].map(
      ([name, { usage = "", summary }]) => [`/${name} ${usage}`.trim(), summary] as const,
    );
    const columns = Math.min(view.width, 100);
    // In a narrow window the text is below its label.
    const widest = columns < 50 ? 4 : 34;
    const labelWidth = Math.min(widest, Math.max(...rows.map(([label]) => label.length)) + 2);
    for (const [label, text] of [...rows, ...keys]) {
      const [first = "", ...more] = wrap(text, columns - labelWidth);
      if (label.length >= labelWidth) terminal.print(`${label}\n${" ".repeat(labelWidth)}${first}`);
      else terminal.print(label.padEnd(labelWidth) + first);
      for (const line of more) terminal.print(" ".repeat(labelWidth) + line);
    }
  },
};

/** Shows the folders that servers can request, and adds or removes one. */
const rootsCommand: ChatCommand = {
  usage: "[add|remove DIR]",
  summary: "show or change the folders that servers may know",
  async run(text, chat) {
    const [action, folder, ...more] = splitWords(text);
    if (action === undefined) return showRoots(chat);
    if ((action !== "add" && action !== "remove") || folder === undefined || more.length > 0) {
      throw new UsageError("/roots accepts add DIR or remove DIR.", "Such as /roots add .");
    }
    const root = readRoot(folder, chat.io);
    const otherRoots = chat.roots.filter(({ uri }) => uri !== root.uri);
    if (action === "remove" && otherRoots.length === chat.roots.length)
      throw new UsageError(`${folder} is not a root.`, "/roots shows them.");
    chat.roots = action === "add" ? [...otherRoots, root] : otherRoots;
    await chat.host.setRoots(chat.roots);
    showRoots(chat);
  },
  suggest: (words) => (words.includes(" ") ? undefined : wordMenu(words, [{ value: "add " }, { value: "remove " }])),
};

function showRoots({ roots, terminal }: Chat): void {
  if (roots.length === 0) terminal.print("No folder is shared with servers. Add one: /roots add DIR");
  for (const { uri, name } of roots) {
    terminal.print(name === undefined ? visibleLine(uri) : `${visibleLine(name)}  ${visibleLine(uri)}`);
  }
}

/** Writes the conversation to a file: as JSON, or as Markdown for readers. */
const saveCommand: ChatCommand = {
  usage: "FILE [--overwrite]",
  summary: "write the conversation to a file: .json, or Markdown",
  async run(text, chat) {
    const words = splitWords(text);
    const overwrite = words.includes("--overwrite");
    const [file, ...more] = words.filter((word) => word !== "--overwrite");
    if (file === undefined || more.length > 0) throw new UsageError("/save needs one file.", "Such as /save chat.md");
    const { messages } = chat.conversation;
    const meta = {
      id: chat.saver.id,
      title: titleOf(messages),
      model: chat.model,
      servers: [...chat.host.servers.keys()],
      savedAt: Date.now(),
    };
    const { cwd, env } = chat.io;
    const line = await saveTranscript(file, { messages, meta, place: { cwd, home: env.HOME, overwrite } });
    chat.terminal.print(visibleLine(line));
  },
};

/** Starts a new conversation with the same servers. */
const newCommand: ChatCommand = {
  summary: "start a new conversation",
  async run(_words, chat) {
    await chat.saver.waitForSaves();
    await chat.conversation.close();
    chat.conversation = chat.host.conversation();
    chat.saver.restart();
    chat.terminal.print("A new conversation.");
  },
};

const quitCommand: ChatCommand = { summary: "leave", run: (_words, chat) => chat.leave() };

/** The commands of a chat by their names, in the order of the help. */
export const chatCommands: ReadonlyMap<string, ChatCommand> = new Map<string, ChatCommand>([
  ["help", helpCommand],
  ["servers", serversCommand],
  ["tools", toolsCommand],
  ["call", callCommand],
  ["result", resultCommand],
  ["resources", resourcesCommand],
  ["prompts", promptsCommand],
  ["attached", attachedCommand],
  ["detach", detachCommand],
  ["roots", rootsCommand],
  ["why", whyCommand],
  ["save", saveCommand],
  ["new", newCommand],
  ["quit", quitCommand],
]);
