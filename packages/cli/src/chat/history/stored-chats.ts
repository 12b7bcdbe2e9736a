import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Message } from "@mcparley/host";
import { stateFolder } from "../../terminal/user-folders.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import { cut, visibleLine } from "../../terminal/text.ts";
import {
  type ChatSummary,
  type StoredChat,
  decodeChat,
  encodeChat,
  findChatId,
  headBytes,
  idOfFile,
  newChatId,
  readHead,
} from "./chat-file.ts";
import {
  hasPrivateFolder,
  makePrivateFolder,
  readPrivateFile,
  removeAbandoned,
  replaceFile,
  withChatLock,
} from "../../terminal/private-files.ts";

/** The environment of a history. */
export interface HistorySurroundings extends Pick<CommandIo, "env" | "platform"> {
  /** Maximum size of a conversation in bytes. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Maximum number of conversations. The oldest are deleted when one is saved. Default: 200. */
  readonly maxChats?: number;
}

/**
 * The stored conversations of a user, in the folder `mcparley/chats` of the user's state folder. Nothing is read or created until a
 * function is called. The folder must be on a local disk.
 */
export class ChatHistory {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxChats: number;
  /** The hashes of the files that this process has loaded or saved, by id. */
  readonly #hashes = new Map<string, string>();
  /** The ids that replace those of conversations that another process has changed. */
  readonly #copies = new Map<string, string>();
  #lastSave: Promise<unknown> = Promise.resolve();

  constructor({ maxBytes = 64 * 1024 ** 2, maxChats = 200, ...io }: HistorySurroundings) {
    this.#folder = path.join(stateFolder(io), "mcparley", "chats");
    this.#maxBytes = maxBytes;
    this.#maxChats = maxChats;
  }

  /**
   * Stores a conversation. Resolves with the id under which it is stored. That is a new one if another process has changed the
   * conversation since this one loaded or saved it: both are kept, and later saves of the old id go to the new one.
   *
   * Rejects with a `UsageError` if it cannot be stored, such as for its size. The chat can go on.
   */
  save(chat: StoredChat): Promise<string> {
    // Saves of this process are no conflict with each other.
    const save = this.#lastSave.then(() => this.#saveOrCopy(chat));
    this.#lastSave = save.catch(() => {});
    return save;
  }

  /** Loads a conversation by its id, the start of its id (at least 4 characters), or `last`. */
  async load(word: string): Promise<StoredChat> {
    const id = await this.#find(word);
    const file = this.#fileOf(id);
    const text = await readPrivateFile(file, this.#maxBytes);
    if (text === undefined) throw new UsageError(`The stored conversation ${file} was deleted.`);
    const chat = decodeChat(text, file);
    this.#hashes.set(id, hashOf(text));
    this.#copies.delete(id);
    // A copied file has the id of the other file.
    return { ...chat, id };
  }

  /** Returns the conversations from the newest to the oldest. Damaged files are left out. */
  async list(): Promise<readonly ChatSummary[]> {
    const chats: ChatSummary[] = [];
    for (const id of await this.#ids()) {
      const summary = await this.#readSummary(id).catch((error: unknown) => {
        if (!(error instanceof UsageError)) throw error;
      });
      if (summary) chats.push({ ...summary, id });
    }
    return chats.toSorted((a, b) => b.updatedAt - a.updatedAt);
  }

  /** Deletes a conversation. Accepts the same ids as `load`. */
  async remove(word: string): Promise<void> {
    const id = await this.#find(word);
    await rm(this.#fileOf(id), { force: true });
    this.#hashes.delete(id);
  }

  async #saveOrCopy(chat: StoredChat): Promise<string> {
    let { id } = chat;
    for (let copy = this.#copies.get(id); copy !== undefined; copy = this.#copies.get(id)) id = copy;
    if (await this.#saveAs({ ...chat, id })) return id;
    const copy = newChatId();
    if (!(await this.#saveAs({ ...chat, id: copy }))) {
      throw new UsageError(`The new file ${this.#fileOf(copy)} was changed by another process.`, "Save again.");
    }
    this.#copies.set(id, copy);
    return copy;
  }

  /** Stores a conversation. Returns false, and changes nothing, if another process has changed the file or is changing it. */
  async #saveAs(chat: StoredChat): Promise<boolean> {
    const { id } = chat;
    const text = encodeChat(chat);
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#maxBytes) {
      throw new UsageError(
        `The conversation has ${bytes} bytes, and at most ${this.#maxBytes} are stored. It was not stored.`,
        "The chat goes on. /save FILE writes it to a file.",
      );
    }
    await makePrivateFolder(this.#folder);
    const file = this.#fileOf(id);
    const isSaved = await withChatLock({ folder: this.#folder, id }, async () => {
      const current = await readPrivateFile(file, Infinity);
      // A deleted file is written again, because that destroys nothing.
      if (current !== undefined && hashOf(current) !== this.#hashes.get(id)) return false;
      await replaceFile(file, text);
      this.#hashes.set(id, hashOf(text));
      return true;
    });
    if (isSaved !== true) return false;
    await removeAbandoned(this.#folder);
    await this.#removeOldest();
    return true;
  }

  /** Deletes the conversations over the limit that were not saved for the longest time, except those that this process uses. */
  async #removeOldest(): Promise<void> {
    const ids = await this.#ids();
    const excess = ids.length - this.#maxChats;
    if (excess <= 0) return;
    const files = await Promise.all(
      ids.map(async (id) => {
        const file = this.#fileOf(id);
        return { id, file, savedAt: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
    );
    const candidates = files.filter(({ id }) => !this.#hashes.has(id)).toSorted((a, b) => a.savedAt - b.savedAt);
    for (const { file } of candidates.slice(0, excess)) await rm(file, { force: true });
  }

  async #find(word: string): Promise<string> {
    const ids = await this.#ids();
    // The files are not opened if the word is an id.
    return ids.includes(word) ? word : findChatId(word, ids, await this.list());
  }

  async #readSummary(id: string): Promise<ChatSummary | undefined> {
    const file = this.#fileOf(id);
    const head = readHead((await readPrivateFile(file, this.#maxBytes, headBytes)) ?? "");
    if (head) return head;
    // Another program may have formatted the file.
    const text = await readPrivateFile(file, this.#maxBytes);
    if (text === undefined) return undefined;
    const { conversation: _, ...summary } = decodeChat(text, file);
    return summary;
  }

  async #ids(): Promise<string[]> {
    if (!(await hasPrivateFolder(this.#folder))) return [];
    const names = await readdir(this.#folder);
    return names.flatMap((name) => idOfFile(name) ?? []);
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${id}.json`);
  }
}

/** Returns the title of a conversation: the first words of the first message of the user. */
export function titleOf(messages: readonly Message[]): string {
  for (const message of messages) {
    if (message.role !== "user") continue;
    const { content } = message;
    const texts =
      typeof content === "string"
        ? [content]
        : content.map((part) => (part.type === "text" && part.from === undefined ? part.text : ""));
    const text = visibleLine(texts.join(" ").slice(0, 1000));
    if (text !== "") return cut(text, 60);
  }
  return "untitled";
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
