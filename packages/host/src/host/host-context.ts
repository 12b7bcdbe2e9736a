import type { ContextFor, ServerContext } from "../input/sample-handler.ts";
import type { Conversation } from "../context/conversation-context.ts";
import type { Message } from "../conversation/messages.ts";

/** Maximum characters of the context of one server in a sampling request. */
const MAX_CHARS = 16_000;

/** The conversations of a host whose texts a sampling request may include. */
export interface HostContext {
  /** Adds a conversation until the returned function is called. */
  add(this: void, conversation: Pick<Conversation, "messages">): () => void;
  readonly contextFor: ContextFor;
}

/**
 * Returns the context of a host: the texts of servers in its open conversations and running loops. The text of the user and of
 * the model is never included. The user sees which servers a request includes before the model runs.
 */
export function hostContext(): HostContext {
  const conversations = new Set<Pick<Conversation, "messages">>();
  return {
    add(conversation) {
      conversations.add(conversation);
      return () => void conversations.delete(conversation);
    },
    contextFor(scope, server) {
      const texts = new Map<string, string[]>();
      for (const { messages } of conversations) {
        for (const { from, text } of messages.flatMap(serverTexts)) {
          if (scope === "allServers" || from === server) texts.set(from, [...(texts.get(from) ?? []), text]);
        }
      }
      return [...texts].map(([name, parts]): ServerContext => ({ server: name, text: newest(parts) }));
    },
  };
}

function serverTexts(message: Message): { from: string; text: string }[] {
  if (typeof message.content === "string") return [];
  return message.content.flatMap((part) => {
    const inner = part.type === "tool-result" ? part.content : [part];
    return inner.flatMap((item) =>
      item.type === "text" && item.from ? [{ from: item.from.server, text: item.text }] : [],
    );
  });
}

/** Returns the newest texts within the limit, in their order. */
function newest(parts: readonly string[]): string {
  const kept: string[] = [];
  let length = 0;
  for (const text of parts.toReversed()) {
    length += text.length;
    if (length > MAX_CHARS) break;
    kept.unshift(text);
  }
  return kept.join("\n\n");
}
