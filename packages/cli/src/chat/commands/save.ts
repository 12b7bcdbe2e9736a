import { UsageError } from "../../terminal/io.ts";
import { saveTranscript } from "../history/transcript.ts";
import { titleOf } from "../history/stored-chats.ts";
import { visibleLine } from "../../terminal/text.ts";
import type { ChatCommand } from "./command.ts";
import { splitWords } from "./words.ts";

/** Writes the conversation to a file: as JSON, or as Markdown for readers. */
export const saveCommand: ChatCommand = {
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
    const line = await saveTranscript(file, { messages, meta, cwd, home: env.HOME, overwrite });
    chat.terminal.print(visibleLine(line));
  },
};
