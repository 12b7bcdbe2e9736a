import type { Revision } from "../../mcp/revisions/revision.ts";
import type { TransportFactory } from "./transports.ts";

/** The revision with which a target was opened before. */
export interface Known {
  readonly revision: Revision;
  /** The server has the transport of the first revision. */
  readonly isOlder: boolean;
  /** The server's process ended before, maybe for another reason than the revision. The next connection tries again. */
  readonly isDoubtful?: boolean;
}

/** The revisions of targets, for the lifetime of the process, by `keyOf`. */
const remembered = new Map<string, Known>();
const maxRemembered = 1000;

export function recall(transports: TransportFactory): Known | undefined {
  return remembered.get(keyOf(transports));
}

export function remember(transports: TransportFactory, known: Known): void {
  if (transports.transient) return;
  const key = keyOf(transports);
  remembered.delete(key);
  remembered.set(key, known);
  if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value!);
}

/** Forgets the remembered revision of one target. */
export function forgetEra(transports: TransportFactory): void {
  remembered.delete(keyOf(transports));
}

/** Forgets the remembered revisions of all targets. */
export function forgetRevisions(): void {
  remembered.clear();
}

/** A short key for a target. The identity may contain secrets, so only a hash of 64 bits of it is kept. */
function keyOf({ target, identity = target }: TransportFactory): string {
  let first = 0x811c9dc5;
  let second = 0xdeadbeef;
  for (let at = 0; at < identity.length; at++) {
    first = Math.imul(first ^ identity.charCodeAt(at), 0x01000193);
    second = Math.imul(second ^ identity.charCodeAt(at), 0x85ebca6b) ^ (second >>> 15);
  }
  return `${target} ${first} ${second}`;
}
