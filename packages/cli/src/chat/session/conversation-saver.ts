import type { Conversation, ConversationJson, Host } from "@mcparley/host";
import { UsageError } from "../../terminal/io.ts";
import { type StoredChat, newChatId } from "../history/chat-file.ts";
import { type ChatHistory, titleOf } from "../history/stored-chats.ts";

interface SaverSetting {
  /** Undefined if conversations are not stored. */
  readonly history: ChatHistory | undefined;
  readonly resumedChat: StoredChat | undefined;
  readonly model: string | undefined;
  readonly targets: readonly string[];
}

/**
 * Stores the conversation of a chat, each time under the same id. A conversation without messages is not stored, and is deleted if it was
 * stored before.
 */
export class ConversationSaver {
  readonly #setting: SaverSetting;
  #stored: Pick<StoredChat, "id" | "createdAt"> | undefined;
  #lastSave: Promise<unknown> = Promise.resolve();

  constructor(setting: SaverSetting) {
    this.#setting = setting;
    this.#stored = setting.resumedChat;
  }

  /** The id for `--resume`. Undefined if nothing was stored. */
  get id(): string | undefined {
    return this.#stored?.id;
  }

  /** Stores the conversation as it is now. Resolves with its id, or undefined if it has no messages. */
  save(conversation: Conversation): Promise<string | undefined> {
    const [json, now] = [conversation.toJSON(), Date.now()];
    // One after another, because a conversation can be stored and deleted again within a turn.
    const save = this.#lastSave.then(() => this.#save(json, now));
    this.#lastSave = save.catch(() => {});
    return save;
  }

  /** Resolves when all conversations are stored. */
  async waitForSaves(): Promise<void> {
    await this.#lastSave;
  }

  /** Stores the next conversation under a new id. */
  restart(): void {
    this.#stored = undefined;
  }

  async #save(conversation: ConversationJson, now: number): Promise<string | undefined> {
    const { history, model, targets } = this.#setting;
    if (!history) return undefined;
    const { id = newChatId(), createdAt = now } = this.#stored ?? {};
    if (conversation.messages.length === 0) {
      if (this.#stored) await history.remove(id);
      this.restart();
      return undefined;
    }
    const title = titleOf(conversation.messages);
    const chat = { id, createdAt, updatedAt: now, title, model, targets, conversation };
    this.#stored = { id: await history.save(chat), createdAt };
    return this.id;
  }
}

/** Returns the conversation that was stored, or an empty one. Throws `UsageError` if the stored one is not valid. */
export function restoredConversation(host: Host, storedChat: StoredChat | undefined): Conversation {
  try {
    return host.conversation(storedChat?.conversation);
  } catch (error) {
    if (!(error instanceof TypeError) || !storedChat) throw error;
    throw new UsageError(
      `The conversation ${storedChat.id} cannot be continued: ${error.message}`,
      "Start a new one, without --resume.",
    );
  }
}
