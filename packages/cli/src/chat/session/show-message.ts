import type { FilePart, Message, TextPart, ToolResultPart } from "@mcparley/host";
import { printable, printableJson } from "mcparley";
import { showSize } from "../../terminal/show-content.ts";
import { cut, visibleLine } from "../../terminal/text.ts";
import { partText } from "../history/message-text.ts";
import type { Chat } from "./chat.ts";

/** Maximum lines of a result in the text of a chat. The model receives all of it. */
const mostLines = 12;
/** Maximum columns of the arguments of a call on its line. */
const widestArguments = 200;

/** Prints messages exactly as the model receives them, for a chat without a model. */
export function showForModel(messages: readonly Message[], chat: Pick<Chat, "terminal" | "view">): void {
  const { dim } = chat.view.style;
  for (const message of messages) {
    chat.terminal.print(dim(`[${message.role}]`));
    const { content } = message;
    if (typeof content === "string") {
      chat.terminal.print(printable(content));
      continue;
    }
    for (const part of content) {
      if (part.type === "tool-result") for (const inner of part.content) showPart(inner, chat);
      else if (part.type === "tool-call") chat.terminal.print(callLine(part.name, part.arguments));
      else if (part.type === "reasoning") chat.terminal.print(dim(printable(part.text)));
      else showPart(part, chat);
    }
  }
}

/** Prints the result of a call: its first lines, and its images. */
export function showResult({ content, isError }: ToolResultPart, chat: Pick<Chat, "terminal" | "view">): void {
  const { dim, red } = chat.view.style;
  const mark = isError ? red : dim;
  const text = content.flatMap((part) => (part.type === "text" ? [partText(part)] : [])).join("\n");
  const lines = printable(text).trim().split("\n");
  const visible = lines.slice(0, mostLines).map((line) => `  ${line}`);
  if (lines.length > mostLines) visible.push(`  (${lines.length - mostLines} more lines, which the model receives)`);
  if (text.trim() !== "") chat.terminal.print(visible.map(mark).join("\n"));
  for (const part of content) if (part.type === "file") showFile(part, chat);
}

/** Returns the line of a call: the tool and the start of its arguments. */
export function callLine(name: string, args: unknown): string {
  const json = printableJson(args);
  return `${visibleLine(name)} ${json === "{}" ? "" : cut(json, widestArguments)}`.trimEnd();
}

function showPart(part: TextPart | FilePart, chat: Pick<Chat, "terminal" | "view">): void {
  if (part.type === "text") chat.terminal.print(printable(part.text));
  else showFile(part, chat);
}

/** Shows an image if the terminal can, and otherwise the type and the size of the file. */
function showFile({ mediaType, data }: FilePart, { terminal, view }: Pick<Chat, "terminal" | "view">): void {
  const bytes = Buffer.from(data, "base64");
  if (mediaType.startsWith("image/") && terminal.image(bytes, mediaType)) return;
  terminal.print(view.style.dim(`  [${visibleLine(mediaType)}, ${showSize(bytes.length)}]`));
}
