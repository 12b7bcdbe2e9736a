import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Message } from "@mcparley/host";
import { stateFolder } from "../../terminal/user-folders.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import { cut, visibleLine } from "../../terminal/text.ts";
import { type ChatSummary, type StoredChat, decodeChat, encodeChat, headBytes, readHead } from "./chat-file.ts";
import { findChatId, idOfFile, isChatId, newChatId } from "./chat-ids.ts";
import { removeAbandoned, withChatLock } from "./chat-lock.ts";
import { type Uid, hasPrivateFolder, makePrivateFolder, readPrivateFile, replaceFile } from "./private-files.ts";

export type { StoredChat } from "./chat-file.ts";

/** The stored conversations of a user. */
export interface ChatHistory {
  /** Returns an id for a new conversation. */
  newId(this: void): string;
  /**
   * Stores a conversation. Resolves with the id under which it is stored. That is a new one if another process has changed the
   * conversation since this one loaded or saved it: both are kept, and later saves of the old id go to the new one.
   *
   * Rejects with a `UsageError` if it cannot be stored, such as for its size. The chat can go on.
   */
  save(this: void, chat: StoredChat): Promise<string>;
  /** Loads a conversation by its id, the start of its id (at least 4 characters), or `last`. */
  load(this: void, id: string): Promise<StoredChat>;
  /** Returns the conversations from the newest to the oldest. Damaged files are left out. */
  list(this: void): Promise<readonly ChatSummary[]>;
  /** Deletes a conversation. Accepts the same ids as `load`. */
  remove(this: void, id: string): Promise<void>;
}

/** The environment of a history. */
export interface HistorySurroundings extends Pick<CommandIo, "env" | "platform"> {
  /** Id of the user that must own the files. For tests. Default: the user of this process, and not checked on Windows. */
  readonly uid?: Uid;
  /** Maximum size of a conversation in bytes. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Maximum number of conversations. The oldest are deleted when one is saved. Default: 200. */
  readonly maxChats?: number;
}

/** A folder with stored conversations, and the limits on them. */
interface Folder {
  readonly path: string;
  readonly uid: Uid;
  readonly maxBytes: number;
  readonly maxChats: number;
}

/**
 * Returns the stored conversations in the folder `mcparley/chats` of the user's state folder. Nothing is read or created until a
 * function is called. The folder must be on a local disk.
 */
export function openHistory(surroundings: HistorySurroundings): ChatHistory {
  const { uid = process.getuid?.(), maxBytes = 64 * 1024 ** 2, maxChats = 200 } = surroundings;
  const folder: Folder = { path: path.join(stateFolder(surroundings), "mcparley", "chats"), uid, maxBytes, maxChats };
  /** The hashes of the files that this process has loaded or saved, by id. */
  const hashes = new Map<string, string>();
  /** The ids that replace those of conversations that another process has changed. */
  const copies = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();

  async function save(chat: StoredChat): Promise<string> {
    let id = chat.id;
    for (let copy = copies.get(id); copy !== undefined; copy = copies.get(id)) id = copy;
    if (await saveAs({ ...chat, id }, { folder, hashes })) return id;
    const copy = newChatId();
    if (!(await saveAs({ ...chat, id: copy }, { folder, hashes }))) {
      throw new UsageError(`The new file ${fileOf(folder, copy)} was changed by another process.`, "Save again.");
    }
    copies.set(id, copy);
    return copy;
  }

  async function load(word: string): Promise<StoredChat> {
    const id = await find(word, folder);
    const file = fileOf(folder, id);
    const text = await readPrivateFile(file, folder);
    if (text === undefined) throw new UsageError(`The stored conversation ${file} was deleted.`);
    const chat = decodeChat(text, file);
    hashes.set(id, hashOf(text));
    copies.delete(id);
    // A copied file has the id of the other file.
    return { ...chat, id };
  }

  return {
    newId: newChatId,
    save(chat) {
      // Saves of this process are no conflict with each other.
      const done = last.then(() => save(chat));
      last = done.catch(() => {});
      return done;
    },
    load,
    list: () => listChats(folder),
    async remove(word) {
      const id = await find(word, folder);
      await rm(fileOf(folder, id), { force: true });
      hashes.delete(id);
    },
  };
}

/** Returns the title of a conversation: the first words of the first message of the user. */
export function titleOf(messages: readonly Message[]): string {
  for (const message of messages) {
    if (message.role !== "user") continue;
    const { content } = message;
    const parts = typeof content === "string" ? [content] : content.map((part) => ownText(part));
    const text = visibleLine(parts.join(" ").slice(0, 1000));
    if (text !== "") return cut(text, 60);
  }
  return "untitled";
}

function ownText(part: Extract<Message, { role: "user" }>["content"][number]): string {
  return typeof part !== "string" && part.type === "text" && part.from === undefined ? part.text : "";
}

/** Stores a conversation. Returns false, and changes nothing, if another process has changed the file or is changing it. */
async function saveAs(
  chat: StoredChat,
  { folder, hashes }: { folder: Folder; hashes: Map<string, string> },
): Promise<boolean> {
  if (!isChatId(chat.id)) throw new TypeError(`${JSON.stringify(chat.id)} is not an id of a conversation.`);
  const text = encodeChat(chat);
  const bytes = Buffer.byteLength(text);
  if (bytes > folder.maxBytes) {
    throw new UsageError(
      `The conversation has ${bytes} bytes, and at most ${folder.maxBytes} are stored. It was not stored.`,
      "The chat goes on. /save FILE writes it to a file.",
    );
  }
  await makePrivateFolder(folder.path, folder.uid);
  const file = fileOf(folder, chat.id);
  const isSaved = await withChatLock({ folder: folder.path, id: chat.id }, async () => {
    const current = await readPrivateFile(file, { uid: folder.uid, maxBytes: Infinity });
    // A deleted file is written again, because that destroys nothing.
    if (current !== undefined && hashOf(current) !== hashes.get(chat.id)) return false;
    await replaceFile(file, text);
    hashes.set(chat.id, hashOf(text));
    return true;
  });
  if (isSaved !== true) return false;
  await removeAbandoned(folder.path);
  await removeOldest(folder, hashes);
  return true;
}

/** Deletes the conversations over the limit that were not saved for the longest time, except those that this process uses. */
async function removeOldest(folder: Folder, inUse: ReadonlyMap<string, string>): Promise<void> {
  const ids = await idsIn(folder);
  const excess = ids.length - folder.maxChats;
  if (excess <= 0) return;
  const files = await Promise.all(
    ids.map(async (id) => ({ id, at: (await stat(fileOf(folder, id)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const unused = files.filter(({ id }) => !inUse.has(id)).toSorted((a, b) => a.at - b.at);
  for (const { id } of unused.slice(0, excess)) await rm(fileOf(folder, id), { force: true });
}

async function find(word: string, folder: Folder): Promise<string> {
  const ids = (await hasPrivateFolder(folder.path, folder.uid)) ? await idsIn(folder) : [];
  // The files are not opened if the word is an id.
  return ids.includes(word) ? word : findChatId(word, ids, await listChats(folder));
}

async function listChats(folder: Folder): Promise<readonly ChatSummary[]> {
  if (!(await hasPrivateFolder(folder.path, folder.uid))) return [];
  const chats: ChatSummary[] = [];
  for (const id of await idsIn(folder)) {
    const chat = await readSummary(id, folder).catch((error: unknown) => {
      if (error instanceof UsageError) return undefined;
      throw error;
    });
    if (chat) chats.push({ ...chat, id });
  }
  return chats.toSorted((a, b) => b.updatedAt - a.updatedAt);
}

async function readSummary(id: string, folder: Folder): Promise<ChatSummary | undefined> {
  const file = fileOf(folder, id);
  const head = readHead((await readPrivateFile(file, { ...folder, first: headBytes })) ?? "");
  if (head) return head;
  // Another program may have formatted the file.
  const text = await readPrivateFile(file, folder);
  if (text === undefined) return undefined;
  const { conversation: _, ...summary } = decodeChat(text, file);
  return summary;
}

async function idsIn(folder: Folder): Promise<string[]> {
  const names = await readdir(folder.path);
  return names.flatMap((name) => idOfFile(name) ?? []);
}

function fileOf(folder: Folder, id: string): string {
  return path.join(folder.path, `${id}.json`);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
