import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { AssistantPart, FilePart, Message, TextPart, ToolResultPart } from "@mcparley/host";
import { printable, printableJson } from "mcparley";
import { UsageError } from "../../terminal/io.ts";
import { showSize } from "../../terminal/show-content.ts";
import { visibleLine } from "../../terminal/text.ts";
import { fileText, partText } from "./message-text.ts";

/** The facts of a conversation that its transcript names. */
export interface TranscriptMeta {
  /** The id under which the conversation is stored. Undefined without history. */
  readonly id: string | undefined;
  readonly title: string;
  /** The model, such as `ollama/qwen3`. Undefined if the chat has none. */
  readonly model: string | undefined;
  /** The names of the servers. */
  readonly servers: readonly string[];
  /** The time of the transcript in milliseconds since 1970. */
  readonly savedAt: number;
}

/**
 * Returns a conversation as Markdown, for readers.
 *
 * Text of the user and of the model is quoted, and text of servers is in code blocks, so that none of it can look like a heading of
 * another speaker. Control, direction and invisible characters are escaped. Files are named and left out.
 */
export function toMarkdown(messages: readonly Message[], meta: TranscriptMeta): string {
  const facts: [string, string | undefined][] = [
    ["Id", meta.id],
    ["Model", meta.model],
    ["Servers", meta.servers.join(", ") || undefined],
    ["Saved", new Date(meta.savedAt).toISOString()],
  ];
  const list = facts.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${inline(value)}`]));
  const servers = serversOfCalls(messages);
  const blocks = messages.flatMap((message) => messageBlocks(message, servers));
  return `${[`# ${inline(meta.title)}`, list.join("\n"), ...blocks].join("\n\n")}\n`;
}

/** Returns a conversation as JSON with all of its data, also the content of files. Dangerous characters are escaped as JSON. */
export function toJson(messages: readonly Message[], { id, title, model, servers, savedAt }: TranscriptMeta): string {
  const facts = { id: id ?? null, title, model: model ?? null, servers, savedAt: new Date(savedAt).toISOString() };
  return `${printableJson({ ...facts, messages }, 2)}\n`;
}

/** A transcript to write. */
interface TranscriptToSave {
  readonly messages: readonly Message[];
  readonly meta: TranscriptMeta;
  readonly place: FilePlace;
}

/** The place of a file that a command of the chat writes. */
interface FilePlace {
  /** The folder for a relative path. */
  readonly cwd: string;
  /** The folder for a path that starts with `~/`, which no shell expands in a chat. */
  readonly home: string | undefined;
  /** Whether an existing file is replaced. */
  readonly overwrite: boolean;
}

/** Writes a transcript: JSON if the name ends with `.json`, and otherwise Markdown. Returns a line for the user. */
export async function saveTranscript(file: string, { messages, meta, place }: TranscriptToSave): Promise<string> {
  if (file.trim() === "") throw new UsageError("The name of the file is missing.", "Such as: /save chat.md");
  const text = /\.json$/i.test(file) ? toJson(messages, meta) : toMarkdown(messages, meta);
  return writeNewFile(file, Buffer.from(text), place);
}

/**
 * Writes a file that the user names, so it has the usual mode of new files, as with the output of other commands. Returns a line for the
 * user.
 *
 * Rejects with a `UsageError` if the file exists and `overwrite` is false, and if it cannot be written.
 */
export async function writeNewFile(file: string, content: Buffer, place: FilePlace): Promise<string> {
  const { cwd, home, overwrite } = place;
  const isInHome = home !== undefined && /^~[/\\]/.test(file);
  const target = isInHome ? path.join(home, file.slice(2)) : path.resolve(cwd, file);
  try {
    await writeFile(target, content, { flag: overwrite ? "w" : "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const name = visibleLine(file);
    if (code === "EEXIST") {
      throw new UsageError(`${name} exists, and was not changed.`, "Choose another name, or add --overwrite.");
    }
    throw new UsageError(`${name} cannot be written: ${visibleLine(message)}`);
  }
  return visibleLine(`Wrote ${file} (${showSize(content.length)}).`);
}

/** Returns the server of each call that has a result of a server, by the id of the call. */
function serversOfCalls(messages: readonly Message[]): Map<string, string> {
  const results = messages.flatMap((message) => (message.role === "tool" ? message.content : []));
  return new Map(
    results.flatMap(({ callId, content }) => {
      const origin = content.find((part): part is TextPart => part.type === "text" && part.from !== undefined)?.from;
      return origin === undefined ? [] : [[callId, origin.server]];
    }),
  );
}

function messageBlocks(message: Message, servers: ReadonlyMap<string, string>): string[] {
  switch (message.role) {
    case "system":
      return ["## System", quote(message.content)];
    case "user": {
      const { content } = message;
      return ["## User", ...(typeof content === "string" ? [quote(content)] : content.map(contentBlock))];
    }
    case "assistant":
      return ["## Model", ...message.content.flatMap(modelBlocks)];
    default:
      return message.content.flatMap((result) => resultBlocks(result, servers.get(result.callId)));
  }
}

function modelBlocks(part: AssistantPart): string[] {
  if (part.type === "tool-call") {
    return [`### Call of ${code(part.name)}`, codeBlock(printableJson(part.arguments, 2), "json")];
  }
  if (part.type === "reasoning") return part.text === "" ? [] : ["### Reasoning", quote(part.text)];
  return [contentBlock(part)];
}

function resultBlocks({ name, content, isError }: ToolResultPart, server: string | undefined): string[] {
  const facts = [server === undefined ? "host" : `server ${code(server)}`, ...(isError ? ["error"] : [])];
  // The texts of the host in a result can contain names and messages of servers.
  const blocks = content.map((part) => (part.type === "text" ? codeBlock(partText(part), "text") : contentBlock(part)));
  return [`### Result of ${code(name)} (${facts.join(", ")})`, ...blocks];
}

function contentBlock(part: TextPart | FilePart): string {
  if (part.type === "file") return inline(fileText(part));
  if (!part.from) return quote(part.text);
  const origin = `Text of the server ${code(part.from.server)}, ${code(part.from.name)}:`;
  return `${origin}\n\n${codeBlock(partText(part), "text")}`;
}

/** Returns text as a quotation. An open code block or comment in it ends with the quotation. */
function quote(text: string): string {
  return printable(text)
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/** Returns text in a code block. Its fence is longer than any run of backticks in the text. */
function codeBlock(text: string, language: string): string {
  const safe = printable(text);
  const fence = "`".repeat(Math.max(3, longestRun(safe) + 1));
  return `${fence}${language}\n${safe}\n${fence}`;
}

/** Returns text as code in a line. */
function code(text: string): string {
  const line = visibleLine(text);
  const fence = "`".repeat(longestRun(line) + 1);
  const pad = fence.length > 1 ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Returns text as a part of a line, in which no character has a meaning in Markdown. */
function inline(text: string): string {
  return visibleLine(text).replaceAll(/[\\`*_{}[\]<>#!|&~]/g, String.raw`\$&`);
}
