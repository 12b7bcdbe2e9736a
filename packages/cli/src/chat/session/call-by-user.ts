import type { CatalogueTool } from "@mcparley/host";
import { Declined, type JsonObject } from "mcparley";
import { visibleLine } from "../../terminal/text.ts";
import { type Chat, interruptible, storeConversation } from "./chat.ts";
import { callLine, showForModel } from "./show-message.ts";
import { activityText } from "./turn.ts";

/** Calls a tool for the user, and shows the message that is added to the conversation. Throws if the call was denied or has failed. */
export async function callByUser(tool: CatalogueTool, args: JsonObject, chat: Chat): Promise<void> {
  const { terminal, view, conversation } = chat;
  const { name } = tool;
  terminal.print(view.style.bold(callLine(name, args)));
  chat.composed = { tool: tool.tool.name, json: JSON.stringify(args) };
  try {
    const { outcome, message } = await interruptible(chat, (signal) => {
      terminal.status([`${visibleLine(name)}: running (Ctrl-C cancels)`]);
      return conversation.callTool(name, args, {
        signal,
        onActivity: (activity) => terminal.status([`${visibleLine(name)}: ${activityText(activity)} (Ctrl-C cancels)`]),
      });
    });
    if (outcome.status === "denied") throw new Declined(outcome.message);
    if (outcome.status === "failed") throw outcome.error;
    if (message) showForModel([message], chat);
  } finally {
    chat.composed = undefined;
    terminal.status([]);
  }
  void storeConversation(chat);
}
