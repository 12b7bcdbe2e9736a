import type { StoredChat } from "../history/chat-file.ts";
import { visibleLine } from "../../terminal/text.ts";
import { paragraph } from "../../terminal/screen.ts";
import type { Chat } from "./chat.ts";
import { showForModel } from "./show-message.ts";

/** Shows what a new user must know, and the end of a conversation that is continued. */
export function showWelcome(chat: Chat, resumed: StoredChat | undefined): void {
  const { terminal, view, model, host, conversation } = chat;
  const { bold, dim } = view.style;
  const names = [...host.servers.keys()].map(visibleLine);
  const servers =
    names.length === 0 ? "no server" : `${names.length === 1 ? "the server" : "the servers"} ${names.join(", ")}`;
  const partner = model === undefined ? "without a model" : `with ${visibleLine(model)}`;
  terminal.note(bold(`mcparley chat ${partner}, and ${servers}`));
  for (const line of model === undefined ? manualHelp : modelHelp) terminal.note(dim(paragraph(line, view)));
  if (names.length === 0)
    terminal.note(dim(paragraph("Name servers on the command line: mcparley chat TARGET...", view)));
  if (!resumed) return;
  terminal.note(
    bold(`\nContinued: ${visibleLine(resumed.title)}`) + dim(` (${conversation.messages.length} messages)`),
  );
  const last = conversation.messages.at(-1);
  if (last) showForModel([last], chat);
}

const modelHelp: readonly string[] = [
  "Type a message. / shows the commands and the prompts of the servers, @ attaches a resource. /help explains more.",
];

const manualHelp: readonly string[] = [
  "You choose what a model would: / shows the commands and prompts, @ attaches a resource, /call calls a tool. You see what a model " +
    "would receive. /help explains more.",
  "A model is chosen with --model, such as --model ollama/qwen3.",
];
