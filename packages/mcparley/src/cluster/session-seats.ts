import type { Clock } from "../rpc/clock.ts";
import { digest } from "../rpc/digest.ts";
import type { Store } from "../store/store.ts";
import { SessionShares, type TableSession } from "../http/server/sessions/session-shares.ts";

/** Maximum number of seats that are read to find a free one, or a session to displace. */
const maxReads = 32;
/** Number of seats in the first of the two reads. Usually one of them is free. */
const firstReads = 8;
/** Maximum number of tries to write a seat while other processes write it as well. */
const maxTries = 5;

/** A seat in the store. Times are in milliseconds since the epoch. */
interface Seat {
  /** The session that has the seat. */
  id: string;
  /** The digest of the caller's key, after `[` if the caller is a principal. */
  caller: string;
  /** The node that wrote this. */
  node: string;
  /** Time of the last use that is stored. */
  at: number;
  /** True if the client sent anything after `initialize`. */
  used: boolean;
  /** Time until which the session counts as busy: a stream is open, or a call is in flight. */
  busyUntil: number;
}

/** The copy of a session in this process. */
interface SeatedSession {
  readonly id: string;
  /** The key of its caller; see `callerKey`. */
  readonly caller: string;
  /** The number of its seat. */
  seat: number;
  readonly isBusy: boolean;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
}

export interface SeatsInit {
  store: Store;
  clock: Clock;
  /** The id of this node. */
  node: string;
  /** Maximum number of sessions. */
  max: number;
  /** Milliseconds between two renewals of the seat of a busy session. */
  interval: number;
  /** Returns the exact use of a session in this process. Undefined if there is no copy of it. */
  useOf: (id: string) => (Pick<Seat, "used"> & Pick<SeatedSession, "isBusy" | "lastUsed">) | undefined;
}

/**
 * Counts the sessions of a server in its store. There are `sessions.max` numbered seats, each a separate key that expires
 * with its session. A session must take a seat before it is stored, so there are never more sessions than seats, also after
 * all processes were restarted, and an expired session frees its seat automatically.
 *
 * With separate keys, the work does not grow with the number of sessions. (A counter drifts when a process crashes, and a
 * list of all sessions would be written for each new one.) A new session takes a random seat with one command if that seat
 * is free, and otherwise reads at most 32 seats. The limit is therefore exact for up to 32 seats. If a larger table is nearly
 * full, none of the 32 may be free; a session is then displaced although a few seats are free (with 80 % of the seats taken
 * for one new session in a thousand, with 95 % for one in five).
 *
 * The displaced session is chosen by the rules of `SessionShares` among the seats that were read, so callers with more
 * sessions lose theirs first. The use of sessions in other processes is known from the last renewal of their seats.
 */
export class SessionSeats {
  readonly #init: SeatsInit;
  #lastTime = 0;

  constructor(init: SeatsInit) {
    this.#init = init;
  }

  /**
   * Takes a seat for a new session and sets its number. If all seats are taken, displaces another session and calls
   * `displaced` with its id. Returns false if no session may be displaced.
   */
  async take(session: SeatedSession, ttl: number, displaced: (id: string) => Promise<void>): Promise<boolean> {
    const { store, node, max } = this.#init;
    const caller = await callerTag(session.caller);
    const seat: Seat = { id: session.id, caller, node, at: this.#now(), used: false, busyUntil: 0 };
    const text = JSON.stringify(seat);
    const claim = async (number: number, expected: string | undefined): Promise<boolean> => {
      const isTaken = await store.compareAndSet(keyOf(number), expected, text, { ttl });
      if (isTaken) session.seat = number;
      return isTaken;
    };
    const numbers = randomNumbers(max, maxReads);
    if (numbers[0] !== undefined && (await claim(numbers[0], undefined))) return true;
    const taken: { number: number; text: string }[] = [];
    for (const some of [numbers.slice(0, firstReads), numbers.slice(firstReads)]) {
      const seats = await Promise.all(some.map(async (number) => ({ number, found: await store.get(keyOf(number)) })));
      for (const { number, found } of seats) {
        if (found !== undefined) taken.push({ number, text: found });
        else if (await claim(number, undefined)) return true;
      }
    }
    for (let tries = 0; tries < maxTries; tries++) {
      const victim = this.#toDisplace(taken, caller);
      if (!victim) return false;
      const isTaken = await claim(victim.number, victim.text);
      if (isTaken) await displaced(victim.id);
      if (isTaken) return true;
      // Another process was faster, or the session was just used.
      const again = await store.get(keyOf(victim.number));
      if (again === undefined && (await claim(victim.number, undefined))) return true;
      taken.splice(victim.index, 1, ...(again === undefined ? [] : [{ number: victim.number, text: again }]));
    }
    return false;
  }

  /** Renews the seat of a session that is in use. Returns false if the session has lost it. */
  async renew(session: SeatedSession, ttl: number): Promise<boolean> {
    const { store, node, interval } = this.#init;
    const key = keyOf(session.seat);
    const { id, isBusy } = session;
    const caller = await callerTag(session.caller);
    for (let tries = 0; tries < maxTries; tries++) {
      const text = await store.get(key);
      const before = text === undefined ? undefined : parse(text);
      if (before && before.id !== id) return false;
      const at = this.#now();
      // A stream may be open on the node that wrote the seat before.
      const busyUntil = isBusy ? at + 2 * interval : before && before.node !== node ? before.busyUntil : 0;
      const seat: Seat = { id, caller, node, at, used: true, busyUntil };
      if (await store.compareAndSet(key, text, JSON.stringify(seat), { ttl })) return true;
    }
    // Other processes have renewed it at each try.
    return true;
  }

  /** Frees the seat of a session, if the session still has it. */
  async free({ id, seat }: Pick<SeatedSession, "id" | "seat">): Promise<void> {
    const { store } = this.#init;
    for (let tries = 0; tries < maxTries; tries++) {
      const text = await store.get(keyOf(seat));
      if (text === undefined || parse(text).id !== id) return;
      if (await store.compareAndSet(keyOf(seat), text, undefined, { ttl: 1 })) return;
    }
  }

  /** Returns which of the sessions is displaced by a new one of a caller. Undefined if none may be. */
  #toDisplace(
    taken: readonly { number: number; text: string }[],
    caller: string,
  ): { id: string; number: number; text: string; index: number } | undefined {
    const { clock } = this.#init;
    const shares = new SessionShares<Candidate>({ clock, options: {}, onUnused: () => {} });
    const candidates = taken.map((one, index) => ({ ...this.#candidate(parse(one.text)), ...one, index }));
    for (const one of candidates.toSorted((a, b) => a.lastUsed - b.lastUsed)) {
      if (one.used) shares.add(one);
      else shares.open(one);
    }
    const victim = shares.toDisplace(caller);
    shares.stop();
    return victim;
  }

  #candidate({ id, caller, node, at, used, busyUntil }: Seat): Omit<Candidate, "number" | "text" | "index"> {
    const use = this.#init.useOf(id);
    const isBusyElsewhere = busyUntil > this.#init.clock.now() && !(use && node === this.#init.node);
    return {
      id,
      caller,
      used: used || (use?.used ?? false),
      lastUsed: Math.max(at, use?.lastUsed ?? 0),
      isBusy: isBusyElsewhere || (use?.isBusy ?? false),
      keptSize: 0,
      countedSize: 0,
      wasUsed: false,
    };
  }

  /** Returns the time, with a fraction that orders the uses within one millisecond. */
  #now(): number {
    this.#lastTime = Math.max(this.#init.clock.now(), this.#lastTime + 0.001);
    return this.#lastTime;
  }
}

/** A seat whose session may be displaced. */
interface Candidate extends TableSession {
  readonly id: string;
  readonly used: boolean;
  readonly number: number;
  readonly text: string;
  readonly index: number;
}

/** Parses a seat. Only nodes of the server write seats, so they are not checked. */
function parse(text: string): Seat {
  return JSON.parse(text);
}

function keyOf(number: number): string {
  return `session-seat:${number}`;
}

/** Returns a tag of bounded length for a caller. It has the prefix by which `SessionShares` recognizes principals. */
async function callerTag(caller: string): Promise<string> {
  return `${caller.startsWith("[") ? "[" : ""}${(await digest(caller)).slice(0, 22)}`;
}

/** Returns up to `count` different numbers below `max`, in random order. */
function randomNumbers(max: number, count: number): number[] {
  const numbers = new Set<number>();
  if (max <= count) {
    const all = Array.from({ length: max }, (_, number) => ({ number, order: Math.random() }));
    return all.toSorted((a, b) => a.order - b.order).map(({ number }) => number);
  }
  while (numbers.size < count) numbers.add(Math.floor(Math.random() * max));
  return [...numbers];
}
