import type { CommandTarget, HttpTarget, InProcessServer } from "mcparley/client";

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** The address of a server: a URL, a command to start, or a server in this process. */
export type ServerTarget = string | URL | CommandTarget | HttpTarget | InProcessServer;

/**
 * Returns a value without the secrets of the host: in its texts, in the names of its members, and in its errors with their messages,
 * stacks, data and causes. Returns the same value if it has none.
 */
export type WithoutSecrets = <T>(value: T) => T;

/** Removes the secrets of a host from what leaves it. */
export interface SecretFilter {
  readonly withoutSecrets: WithoutSecrets;
  /** Returns a URI without secrets in its user, its query and its fragment. The rest identifies a resource. */
  uriWithoutSecrets(this: void, uri: string): string;
  /** Returns the length of the text before an end that may be the start of a secret. The next text can have the rest of it. */
  lengthBeforeStart(this: void, text: string): number;
}
