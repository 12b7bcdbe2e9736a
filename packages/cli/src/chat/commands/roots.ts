import { UsageError } from "../../terminal/io.ts";
import { visibleLine } from "../../terminal/text.ts";
import { readRoot } from "../../targets/roots.ts";
import type { Chat } from "../session/chat.ts";
import type { ChatCommand } from "./command.ts";
import { splitWords, wordMenu } from "./words.ts";

/** Shows the folders that servers can request, and adds or removes one. */
export const rootsCommand: ChatCommand = {
  usage: "[add|remove DIR]",
  summary: "show or change the folders that servers may know",
  async run(text, chat) {
    const [action, folder, ...more] = splitWords(text);
    if (action === undefined) return showRoots(chat);
    if ((action !== "add" && action !== "remove") || folder === undefined || more.length > 0) {
      throw new UsageError("/roots accepts add DIR or remove DIR.", "Such as /roots add .");
    }
    const root = readRoot(folder, chat.io);
    const others = chat.roots.filter(({ uri }) => uri !== root.uri);
    if (action === "remove" && others.length === chat.roots.length)
      throw new UsageError(`${folder} is not a root.`, "/roots shows them.");
    chat.roots = action === "add" ? [...others, root] : others;
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
