import type { Revision } from "../../mcp/revisions/revision.ts";
import type { TransportFactory } from "./transports.ts";

/** The revision with which a target was opened before. */
export interface Remembered {
  readonly revision: Revision;
  /** The server has the transport of the first revision, HTTP+SSE. */
  readonly isHttpSse: boolean;
  /** The server's process ended before, maybe for another reason than the revision. The next connection tries again. */
  readonly isDoubtful?: boolean;
}

/** The revisions of targets, for the lifetime of the process, by `keyOf`. */
const revisions = new Map<string, Remembered>();
const maxRemembered = 1000;

/** Returns the remembered revision of a target. */
export function recall(transports: TransportFactory): Remembered | undefined {
  return revisions.get(keyOf(transports));
}

/** Remembers the revision of a target, unless it may be another server later. */
export function remember(transports: TransportFactory, entry: Remembered): void {
  if (transports.transient) return;
  const key = keyOf(transports);
  revisions.delete(key);
  revisions.set(key, entry);
  if (revisions.size > maxRemembered) revisions.delete(revisions.keys().next().value!);
}

/** Forgets the remembered revision of one target. */
export function forgetRevision(transports: TransportFactory): void {
  revisions.delete(keyOf(transports));
}

/**
 * Forgets the protocol revisions that this process remembers of servers. The next connection to each server negotiates the
 * revision again.
 *
 * A client remembers up to 1,000 targets, to save a request when it connects again. It notices by itself if a server was
 * upgraded, so mainly tests need this function.
 *
 * @example
 * ```ts
 * import { afterEach } from "node:test";
 * import { forgetRevisions } from "mcparley/client";
 *
 * afterEach(forgetRevisions);
 * ```
 */
export function forgetRevisions(): void {
  revisions.clear();
}

/** Returns a short key for a target. The identity may contain secrets, so only a hash of 64 bits of it is stored. */
function keyOf({ target, identity = target }: TransportFactory): string {
  let first = 0x811c9dc5;
  let second = 0xdeadbeef;
  for (let index = 0; index < identity.length; index++) {
    first = Math.imul(first ^ identity.charCodeAt(index), 0x01000193);
    second = Math.imul(second ^ identity.charCodeAt(index), 0x85ebca6b) ^ (second >>> 15);
  }
  return `${target} ${first} ${second}`;
}
