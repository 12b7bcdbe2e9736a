import type { Conversation, ConversationJson, Host } from "@mcparley/host";
import { UsageError } from "../../terminal/io.ts";
import { type ChatHistory, type StoredChat, titleOf } from "../history/stored-chats.ts";

/** Stores the conversation of a chat, each time under the same id. */
export interface Keeping {
  /** The id for `--resume`. Undefined if nothing was stored. */
  readonly id: string | undefined;
  /** Stores the conversation as it is now. */
  save(this: void, conversation: Conversation): Promise<void>;
  /** Resolves when all conversations are stored. */
  settled(this: void): Promise<void>;
  /** Stores the next conversation under a new id. */
  restart(this: void): void;
}

interface KeepSetting {
  /** Undefined if conversations are not stored. */
  readonly history: ChatHistory | undefined;
  readonly resumed: StoredChat | undefined;
  readonly model: string | undefined;
  readonly targets: readonly string[];
}

/** Returns the storage of a conversation. A conversation without messages is not stored, and is deleted if it was stored before. */
export function keepConversation({ history, resumed, model, targets }: KeepSetting): Keeping {
  let id = resumed?.id;
  let createdAt = resumed?.createdAt;
  let last: Promise<void> = Promise.resolve();

  async function save(stored: ConversationJson, now: number): Promise<void> {
    if (!history) return;
    if (stored.messages.length === 0) {
      if (id !== undefined) await history.remove(id);
      forget();
      return;
    }
    createdAt ??= now;
    const title = titleOf(stored.messages);
    const chat = { createdAt, updatedAt: now, title, model, targets, conversation: stored };
    id = await history.save({ id: id ?? history.newId(), ...chat });
  }

  function forget(): void {
    id = undefined;
    createdAt = undefined;
  }

  return {
    get id() {
      return id;
    },
    save(conversation) {
      const [stored, now] = [conversation.toJSON(), Date.now()];
      // One after another, because a conversation can be stored and deleted again within a turn.
      const saved = last.then(() => save(stored, now));
      last = saved.catch(() => {});
      return saved;
    },
    settled: () => last,
    restart: forget,
  };
}

/** Returns the conversation that was stored, or an empty one. Throws `UsageError` if the stored one is not valid. */
export function restoredConversation(host: Host, stored: StoredChat | undefined): Conversation {
  try {
    return host.conversation(stored?.conversation);
  } catch (error) {
    if (!(error instanceof TypeError) || !stored) throw error;
    throw new UsageError(
      `The conversation ${stored.id} cannot be continued: ${error.message}`,
      "Start a new one, without --resume.",
    );
  }
}
