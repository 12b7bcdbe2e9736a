import { randomInt } from "node:crypto";
import { nearest } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import { visibleLine } from "../../terminal/text.ts";
import type { ChatSummary } from "./chat-file.ts";

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
