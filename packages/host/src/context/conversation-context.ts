import type { Message } from "../loop/conversation.ts";

/** The context of a conversation: attached resources and expanded prompts. */
export interface Conversation {
  /** The messages so far, with the attachments. Pass them to `host.run`. */
  readonly messages: readonly Message[];
}
