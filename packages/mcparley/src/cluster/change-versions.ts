import type { Clock } from "../rpc/clock.ts";
import { type Change, keyOf } from "../server/core/changes.ts";

/** Milliseconds between a change in this process and its entry in the log. By then, other processes may have noticed it too. */
const settleTime = 1_000;
/** Maximum number of changes whose last version is remembered. */
const maxVersions = 10_000;

interface LoggedVersion {
  readonly version: string;
  /** The position of the first entry with this version. */
  readonly position: string;
}

/**
 * The versions of changes, if several processes notice the same change (`changeVersion` of the server).
 *
 * An entry of the log with the version of the entry before it repeats that entry and is ignored. A process sends its change
 * after a second, so that a client that then reads from another process reads the new content, and only if no other process
 * has sent it.
 */
export class ChangeVersions {
  readonly #clock: Clock;
  readonly #send: (change: Change, version: string) => void;
  /** The last version of each change that this process has noticed and delivered to its own streams. */
  readonly #deliveredVersions = new Map<string, string>();
  /** The last version of each change in the log. */
  readonly #loggedVersions = new Map<string, LoggedVersion>();
  /** The changes that this process will send, by key. */
  readonly #pendingSends = new Map<string, { timer: unknown; send: () => void }>();

  constructor(clock: Clock, send: (change: Change, version: string) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Called with each change in this process. */
  noteChange(change: Change, version: string): void {
    const key = keyOf(change);
    remember(this.#deliveredVersions, key, version);
    const send = (): void => {
      this.#pendingSends.delete(key);
      if (this.#loggedVersions.get(key)?.version !== version) this.#send(change, version);
    };
    this.#clock.clearTimeout(this.#pendingSends.get(key)?.timer);
    this.#pendingSends.set(key, { timer: this.#clock.setTimeout(send, settleTime), send });
  }

  /** Called with each entry of the log, in order. Returns false if the entry repeats the one before it. */
  noteEntry(change: Change, version: string | undefined, position: string): boolean {
    const key = keyOf(change);
    if (version === undefined) this.#loggedVersions.delete(key);
    else if (this.#loggedVersions.get(key)?.version === version) return false;
    else remember(this.#loggedVersions, key, { version, position });
    return true;
  }

  /** Whether an entry repeats an earlier one with the last version of its change. */
  isRepeated(change: Change, version: string | undefined, position: string): boolean {
    const last = version === undefined ? undefined : this.#loggedVersions.get(keyOf(change));
    return last !== undefined && last.version === version && position > last.position;
  }

  /** Whether this process has delivered a change to its own streams when it noticed it. */
  isDelivered(change: Change, version: string | undefined): boolean {
    return version !== undefined && this.#deliveredVersions.get(keyOf(change)) === version;
  }

  /** Sends the delayed changes now. */
  stop(): void {
    for (const { timer, send } of this.#pendingSends.values()) {
      this.#clock.clearTimeout(timer);
      send();
    }
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > maxVersions) map.delete(map.keys().next().value!);
}
