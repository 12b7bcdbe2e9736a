import type { CommandTarget, HttpTarget, InProcessServer } from "mcparley/client";

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** The address of a server: a URL, a command to start, or a server in this process. */
export type ServerTarget = string | URL | CommandTarget | HttpTarget | InProcessServer;

/** Returns a value without secrets: in its texts, and in its errors with their messages, stacks, data and causes. Returns the same value if it has none. */
export type WithoutSecrets = <T>(value: T) => T;

/** Removes the secrets of a host from what leaves it. */
export interface SecretFilter {
  /** Removes the random values of the configuration, from values of any origin. */
  readonly withoutSecrets: WithoutSecrets;
  /** Removes the secrets of all servers, from values that the user wrote. */
  readonly userTextWithoutSecrets: WithoutSecrets;
  /** Returns a message of a conversation without secrets. Its texts of servers have none of their server any more. */
  messageWithoutSecrets<T extends { readonly role: string; readonly content: unknown }>(this: void, message: T): T;
  /** Returns the length of the text before an end that may be the start of a secret. The next text can have the rest of it. */
  lengthBeforeStart(this: void, text: string): number;
}
