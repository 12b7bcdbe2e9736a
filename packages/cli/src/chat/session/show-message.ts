import type { FilePart, Message, TextPart } from "@mcparley/host";
import { printable, printableJson } from "mcparley";
import { showSize } from "../../terminal/show-content.ts";
import { count, cut, visibleLine } from "../../terminal/text.ts";
import { paragraph } from "../../terminal/screen.ts";
import type { Chat } from "./chat.ts";
import type { ResultFile, ShownResult } from "../history/result-log.ts";

/** Maximum lines of a result in the text of a chat, and maximum columns of each. */
const mostLines = 12;
const widestLine = 1_000;
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

/** Prints the result of a call: its first lines, its images, and how to see the whole. */
export function showResult(result: ShownResult, chat: Pick<Chat, "terminal" | "view">): void {
  const { terminal, view } = chat;
  const mark = result.isError ? view.style.red : view.style.dim;
  const lines = linesOf(result);
  const firstLines = lines.slice(0, mostLines).map((line) => cut(line, widestLine));
  const texts = [...result.remarks.map(printable), ...firstLines];
  if (texts.length > 0) terminal.print(texts.map((line) => mark(`  ${line}`)).join("\n"));
  for (const file of result.files) {
    const isImage = file.mimeType?.startsWith("image/") === true && file.isSent;
    if (isImage && terminal.image(Buffer.from(file.data, "base64"), file.mimeType ?? "")) continue;
    terminal.print(mark(`  [${fileLine(file)}]`));
  }
  const hiddenLines = lines.length - firstLines.length;
  const isCut = firstLines.some((line, index) => line !== lines[index]);
  showRest(result, hiddenLines > 0 ? count(hiddenLines, "more line") : isCut ? "part" : "nothing", chat);
}

/**
 * Prints how to see the rest of a result, and how to save its files. `hidden` is what is not shown: a number of lines in words, or `part`
 * of it.
 */
export function showRest(
  result: ShownResult,
  hidden: string,
  { terminal, view }: Pick<Chat, "terminal" | "view">,
): void {
  const { number, files, sentBytes, text } = result;
  const whole = `/result ${number} shows all ${count(linesOf(result).length, "line")}`;
  const facts = [
    ...(hidden === "nothing" ? [] : [hidden === "part" ? whole : `${hidden}: ${whole}`]),
    ...(files.length > 0 ? [`/result ${number} FILE saves ${files.length === 1 ? "the file" : "the files"}`] : []),
    ...(sentBytes === undefined
      ? []
      : [
          `The model received the first ${showSize(sentBytes)} of ${showSize(Buffer.byteLength(text))}, and can read on`,
        ]),
  ];
  if (facts.length > 0) terminal.print(view.style.dim(paragraph(`(${facts.join(". ")})`, view, "  ")));
}

/** Returns the lines of the text of a result, escaped. */
export function linesOf({ text }: Pick<ShownResult, "text">): string[] {
  const safe = printable(text).trim();
  return safe === "" ? [] : safe.split("\n");
}

/** Returns the type and the size of a file of a result. */
export function fileLine({ data, mimeType, isSent }: ResultFile): string {
  const type = visibleLine(mimeType ?? "of unknown type");
  return `${type}, ${showSize(Buffer.byteLength(data, "base64"))}${isSent ? "" : ", which the model does not receive"}`;
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
