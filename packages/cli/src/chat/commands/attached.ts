import { printable } from "mcparley";
import { UsageError } from "../../terminal/io.ts";
import { visibleLine } from "../../terminal/text.ts";
import { findMentions, mentionText } from "../session/mentions.ts";
import type { ChatCommand } from "./command.ts";
import { wordMenu } from "./words.ts";

/** Shows the attached resources. */
export const attachedCommand: ChatCommand = {
  usage: "",
  summary: "show the attached resources",
  run(_text, { conversation, terminal, view }) {
    const { dim, red } = view.style;
    if (conversation.attachments.length === 0) {
      terminal.print("No resource is attached. Name one in a message: @server:uri");
      return;
    }
    for (const { server, uri, isStale, isFollowed, error } of conversation.attachments) {
      const state = isStale
        ? "changed, read with the next message"
        : isFollowed
          ? "follows its changes"
          : "not followed";
      terminal.print(`${visibleLine(mentionText(server, uri))}  ${dim(state)}`);
      if (error) terminal.print(red(`  ${printable(error.message)}`));
    }
  },
};

/** Ends the updates of an attached resource. Its content remains in the conversation. */
export const detachCommand: ChatCommand = {
  usage: "@SERVER:URI",
  summary: "do not follow the changes of a resource",
  async run(text, { host, conversation, terminal }) {
    const [mention] = findMentions(text.trim(), host);
    if (!mention) throw new UsageError("Which resource?", "Such as /detach @notes:note://today. /attached shows them.");
    if (!(await conversation.detach(mention)))
      throw new UsageError(`${mentionText(mention.server, mention.uri)} is not attached.`);
    terminal.print("Detached. Its content stays in the conversation.");
  },
  suggest: (words, { conversation }) =>
    wordMenu(
      words,
      conversation.attachments.map(({ server, uri }) => ({ value: mentionText(server, uri) })),
    ),
};
