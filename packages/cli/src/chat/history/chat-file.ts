import { randomInt } from "node:crypto";
import { wellFormedJson } from "mcparley";
import { nearest } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import { visibleLine } from "../../terminal/text.ts";
import { isObject } from "@mcparley/internal/is-object";
import { storableTargets } from "./storable-targets.ts";

/** A stored conversation. It contains no approval. */
export interface StoredChat {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** The first words of the first message of the user. */
  readonly title: string;
  /** The model, such as `ollama/qwen3`. Undefined if the chat had none. */
  readonly model: string | undefined;
  /** The words of the command line that select the servers again. */
  readonly targets: readonly string[];
  /** The `ConversationJson` of the host, which `host.conversation` validates. */
  readonly conversation: unknown;
}

/** A stored conversation without its messages. */
export type ChatSummary = Omit<StoredChat, "conversation">;

/** The version of the file format. */
const fileVersion = 1;

/** Number of bytes in which the first line of a file must end. A longer one is only read with the whole file. */
export const headBytes: number = 64 * 1024;

/**
 * Returns the text of a file. The file is one JSON object, and everything except the conversation is on its first line, so that a list
 * does not read the conversations.
 */
export function encodeChat({ conversation, ...summary }: StoredChat): string {
  const head = wellFormedJson({ version: fileVersion, ...summary });
  return `${head.slice(0, -1)},\n"conversation":${wellFormedJson(conversation)}}\n`;
}

/** Returns the summary on the first line of a file, or undefined if the start of the file has no such line. */
export function readHead(start: string): ChatSummary | undefined {
  const [, head] = /^(\{[^\n]*),\n"conversation":/.exec(start) ?? [];
  if (head === undefined) return undefined;
  const outcome = checkSummary(parse(`${head}}`));
  return "problem" in outcome ? undefined : outcome.summary;
}

/** Reads a file. Throws a `UsageError` with the file, the reason and the cure if it is damaged. */
export function decodeChat(text: string, file: string): StoredChat {
  const value = parse(text);
  const outcome = checkSummary(value);
  if ("problem" in outcome) throw damageError(file, outcome.problem);
  if (!isObject(value) || !isObject(value.conversation)) throw damageError(file, "it has no conversation");
  return { ...outcome.summary, conversation: value.conversation };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checkSummary(value: unknown): { summary: ChatSummary } | { problem: string } {
  if (!isObject(value)) return { problem: "it is not a JSON object" };
  const { version, id, createdAt, updatedAt, title, model, targets } = value;
  if (version !== fileVersion)
    return { problem: `it has version ${String(version)}, and this command reads version 1` };
  if (typeof id !== "string") return { problem: '"id" is not a text' };
  if (typeof title !== "string") return { problem: '"title" is not a text' };
  if (model !== undefined && typeof model !== "string") return { problem: '"model" is not a text' };
  if (!isTime(createdAt) || !isTime(updatedAt)) return { problem: '"createdAt" or "updatedAt" is not a time' };
  const isList = Array.isArray(targets) && targets.every((word) => typeof word === "string");
  if (!isList) return { problem: '"targets" is not a list of texts' };
  // The words become part of a command line, so the file must not add options or commands.
  const { targets: storableWords } = storableTargets(targets);
  return { summary: { id, createdAt, updatedAt, title, model, targets: storableWords } };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function damageError(file: string, reason: string): UsageError {
  return new UsageError(
    `The stored conversation ${file} cannot be read: ${reason}.`,
    "Repair the file, or delete it to remove the conversation.",
  );
}

/** Lower-case letters and digits without those that look alike. File names of some systems ignore the case. */
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
const idLength = 10;
const idFile = new RegExp(`^([${alphabet}]{${idLength}})\\.json$`);
const shortestPrefix = 4;

/** The number of conversations that an error lists. */
const shownChats = 5;

/** Returns a new id. */
export function newChatId(): string {
  return Array.from({ length: idLength }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/** Returns the id in the name of a stored file, or undefined for other files. */
export function idOfFile(name: string): string | undefined {
  const [, id] = idFile.exec(name) ?? [];
  return id;
}

/**
 * Returns the only id that is or starts with `word`, which has at least 4 characters. Throws a `UsageError` with similar ids and the
 * newest conversations if there is none, or several. `chats` are sorted from the newest to the oldest.
 */
export function findChatId(word: string, ids: readonly string[], chats: readonly ChatSummary[]): string {
  const prefix = word.toLowerCase();
  if (word === "last") {
    const [newest] = chats;
    if (newest) return newest.id;
    throw new UsageError("There is no stored conversation.", "Start one without --resume.");
  }
  if (ids.includes(prefix)) return prefix;
  const quotedId = JSON.stringify(visibleLine(word.slice(0, 100)));
  if (prefix.length < shortestPrefix) {
    throw new UsageError(`${quotedId} is too short. The start of an id has at least 4 characters.`, listing(chats));
  }
  const matches = ids.filter((id) => id.startsWith(prefix));
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  if (matches.length > 1) {
    throw new UsageError(`Several stored conversations start with ${quotedId}.`, `They are: ${matches.join(", ")}.`);
  }
  const similar = nearest(prefix, ids);
  const guess = similar === undefined ? "" : `Did you mean "${similar}"? `;
  throw new UsageError(`There is no stored conversation ${quotedId}.`, `${guess}${listing(chats)}`);
}

/** Returns the newest conversations, and how the last one is continued. */
function listing(chats: readonly ChatSummary[]): string {
  if (chats.length === 0) return "No conversation is stored.";
  const newest = chats.slice(0, shownChats).map(({ id, title }) => `${id} (${visibleLine(title)})`);
  const which = chats.length > shownChats ? `The newest of ${chats.length} are` : "Stored are";
  return `${which}: ${newest.join(", ")}. --resume last continues the newest one.`;
}
