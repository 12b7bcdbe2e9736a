import type { Clock } from "../rpc/clock.ts";
import { digest } from "../rpc/digest.ts";
import type { Store } from "../store/store.ts";
import { SessionShares, type TableSession } from "../http/server/sessions/session-shares.ts";

/**
 * Numbers of seats that are read in the rounds of a search for a free seat, or for a session to displace. If the table is not
 * nearly full, one of the first seats is free. The last round is only for a caller without sessions in this process. It is
 * left out if an idle session was found before.
 */
const readCounts = [8, 24, 96];
/** Maximum number of tries to displace a session while other processes write its seat. */
const maxDisplacements = 16;
/** Maximum number of tries to renew or free a seat while other processes write it as well. */
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
  /** Time at which the session was opened. Missing in seats of older versions. */
  since?: number;
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
  /** Time at which the session was opened, in milliseconds since the epoch. */
  readonly startedAt: number;
}

/** The use of a session in this process. */
export interface LocalUse {
  readonly isBusy: boolean;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** Whether the session has its seat, and is not stored yet. */
  readonly isOpening: boolean;
  /** Number of sessions of its caller in this process. */
  readonly ofCaller: number;
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
  useOf: (id: string) => LocalUse | undefined;
}

/**
 * Counts the sessions of a server in its store. There are `sessions.max` numbered seats, each a separate key that expires
 * with its session. A session must take a seat before it is stored, so there are never more sessions than seats, also after
 * all processes were restarted, and an expired session frees its seat automatically.
 *
 * With separate keys, the work does not grow with the number of sessions. (A counter drifts when a process crashes, and a
 * list of all sessions would be written for each new one.) A new session takes a random seat with one command if that seat
 * is free, and otherwise reads at most 32 seats, or 128 for a caller without sessions. The limit is therefore exact for up
 * to 32 seats. If a larger table is nearly full, none of those that are read may be free; a session is then displaced although
 * a few seats are free (with 80 % of the seats taken for one new session in a thousand, with 95 % for one in five).
 *
 * The displaced session is chosen by the rules of `SessionShares` among the seats that were read. The number of sessions of
 * a caller is the largest of three: the number in these seats, the number that they suggest for the whole table, and the
 * number in this process. A caller with many sessions
 * therefore loses its own ones, even if few of its seats were read.
 *
 * The use of a session in other processes is known from the last renewal of its seat, so the session may have been used for
 * one interval longer. The sessions that are idle in any case are displaced first.
 */
export class SessionSeats {
  readonly #init: SeatsInit;
  /** The numbers of the seats that this process writes now. Its other new sessions choose other seats. */
  readonly #claimedNumbers = new Set<number>();
  /** The last search for a seat of each caller. Its next one waits, so that concurrent requests choose different seats. */
  readonly #searches = new Map<string, Promise<unknown>>();
  #lastTime = 0;

  constructor(init: SeatsInit) {
    this.#init = init;
  }

  /**
   * Takes a seat for a new session and sets its number. If all seats are taken, displaces another session and calls
   * `onDisplaced` with its id. Returns false if no session may be displaced.
   */
  async take(session: SeatedSession, ttl: number, onDisplaced: (id: string) => Promise<void>): Promise<boolean> {
    const { store, node, max } = this.#init;
    const { id, startedAt: since } = session;
    const caller = await callerTag(session.caller);
    const text = JSON.stringify({ id, caller, node, at: this.#now(), since, busyUntil: 0 } satisfies Seat);
    const claim = async (number: number, oldText: string | undefined): Promise<boolean> => {
      this.#claimedNumbers.add(number);
      try {
        const isTaken = await store.compareAndSet(seatKey(number), oldText, text, { ttl });
        if (isTaken) session.seat = number;
        return isTaken;
      } finally {
        this.#claimedNumbers.delete(number);
      }
    };
    if (max > 0 && (await claim(Math.floor(Math.random() * max), undefined))) return true;
    const previous = this.#searches.get(caller) ?? Promise.resolve();
    const search = previous.then(() => this.#search({ id, caller }, claim, onDisplaced));
    const completion = Promise.allSettled([search]);
    this.#searches.set(caller, completion);
    try {
      return await search;
    } finally {
      if (this.#searches.get(caller) === completion) this.#searches.delete(caller);
    }
  }

  /** Takes a free seat, or the seat of another session. Returns false if no session may be displaced. */
  async #search(
    { id, caller }: Pick<Seat, "id" | "caller">,
    claim: (number: number, oldText: string | undefined) => Promise<boolean>,
    onDisplaced: (id: string) => Promise<void>,
  ): Promise<boolean> {
    const { store, max, useOf } = this.#init;
    // The new session has a copy in this process already.
    const ofCaller = (useOf(id)?.ofCaller ?? 1) - 1;
    const takenSeats: ReadSeat[] = [];
    const numbers = randomNumbers(max, 128);
    for (const [round, count] of readCounts.entries()) {
      if (round === 2 && (ofCaller > 0 || this.#toDisplace(takenSeats, caller, ofCaller)?.isIdle)) break;
      const some = numbers.splice(0, count);
      const seats = await Promise.all(some.map(async (number) => ({ number, text: await store.get(seatKey(number)) })));
      for (const { number, text } of seats) {
        if (text !== undefined) takenSeats.push({ number, text });
        else if (await claim(number, undefined)) return true;
      }
    }
    for (let tries = 0; tries < maxDisplacements; tries++) {
      const { victim } = this.#toDisplace(takenSeats, caller, ofCaller) ?? {};
      if (!victim) return false;
      const isTaken = await claim(victim.number, victim.text);
      if (isTaken) await onDisplaced(victim.id);
      if (isTaken) return true;
      // Another process was faster, or the session was just used.
      const text = await store.get(seatKey(victim.number));
      if (text === undefined && (await claim(victim.number, undefined))) return true;
      takenSeats.splice(victim.index, 1, ...(text === undefined ? [] : [{ number: victim.number, text }]));
    }
    return false;
  }

  /** Renews the seat of a session that is in use. Returns false if the session has lost it. */
  async renew(session: SeatedSession, ttl: number): Promise<boolean> {
    const { store, node, interval } = this.#init;
    const key = seatKey(session.seat);
    const { id, isBusy, startedAt: since } = session;
    const caller = await callerTag(session.caller);
    for (let tries = 0; tries < maxTries; tries++) {
      const text = await store.get(key);
      const previous = text === undefined ? undefined : parseSeat(text);
      if (previous && previous.id !== id) return false;
      const now = this.#now();
      // A stream may be open on the node that wrote the seat before.
      const busyUntil = isBusy ? now + 2 * interval : previous && previous.node !== node ? previous.busyUntil : 0;
      const seat: Seat = { id, caller, node, at: now, since, busyUntil };
      if (await store.compareAndSet(key, text, JSON.stringify(seat), { ttl })) return true;
    }
    // Other processes have renewed it at each try.
    return true;
  }

  /** Frees the seat of a session, if the session still has it. */
  async free({ id, seat }: Pick<SeatedSession, "id" | "seat">): Promise<void> {
    const { store } = this.#init;
    for (let tries = 0; tries < maxTries; tries++) {
      const text = await store.get(seatKey(seat));
      if (text === undefined || parseSeat(text).id !== id) return;
      if (await store.compareAndSet(seatKey(seat), text, undefined, { ttl: 1 })) return;
    }
  }

  /** Returns the session to displace for a new one of a caller that has `ofCaller` in this process. Undefined if none may be. */
  #toDisplace(
    seats: readonly ReadSeat[],
    caller: string,
    ofCaller: number,
  ): { victim: Candidate; isIdle: boolean } | undefined {
    const { clock, max, interval, useOf } = this.#init;
    const counts = new Map<string, { read: number; local: number }>([[caller, { read: 0, local: ofCaller }]]);
    const read = seats.map(({ number, text }, index) => {
      const seat = parseSeat(text);
      const use = useOf(seat.id);
      const { read: count, local } = counts.get(seat.caller) ?? { read: 0, local: 0 };
      counts.set(seat.caller, { read: count + 1, local: Math.max(local, use?.ofCaller ?? 0) });
      return { number, text, index, seat, use };
    });
    const sample = {
      total: max,
      countOf: (one: string): number => {
        const count = counts.get(one) ?? { read: 0, local: 0 };
        // One seat less: of many callers with a single session, some are read by chance.
        const estimate = Math.floor(((count.read - 1) * max) / seats.length);
        return Math.max(count.read, estimate, count.local);
      },
    };
    const free = read.filter(({ number, use }) => !use?.isOpening && !this.#claimedNumbers.has(number));
    /** The seats as a table, if sessions may have been used for `longer` milliseconds in other processes. */
    const tableOf = (longer: number): SessionShares<Candidate> => {
      const shares = new SessionShares<Candidate>({ clock, options: {}, onUnused: () => {}, sample });
      const candidates = free.map((one) => ({ ...one, ...this.#candidate(one.seat, one.use, longer) }));
      for (const one of candidates.toSorted((a, b) => a.lastUsed - b.lastUsed)) shares.add(one);
      return shares;
    };
    const idle = tableOf(interval).idleToDisplace(caller);
    const victim = idle ?? tableOf(0).toDisplace(caller);
    return victim && { victim, isIdle: idle !== undefined };
  }

  #candidate(seat: Seat, use: LocalUse | undefined, longer: number): Omit<Candidate, keyof ReadSeat | "index"> {
    const { id, caller, node, at: lastUse, since = -Infinity, busyUntil } = seat;
    const isHere = use !== undefined && node === this.#init.node;
    const isBusyElsewhere = busyUntil > this.#init.clock.now() && !isHere;
    return {
      id,
      caller,
      startedAt: since,
      lastUsed: Math.max(isHere ? lastUse : lastUse + longer, use?.lastUsed ?? 0),
      isBusy: isBusyElsewhere || (use?.isBusy ?? false),
      keptSize: 0,
      entry: undefined,
    };
  }

  /** Returns the time, with a fraction that orders the uses within one millisecond. */
  #now(): number {
    this.#lastTime = Math.max(this.#init.clock.now(), this.#lastTime + 0.001);
    return this.#lastTime;
  }
}

/** A taken seat, with its text in the store. */
interface ReadSeat {
  readonly number: number;
  readonly text: string;
}

/** A seat whose session may be displaced. */
interface Candidate extends TableSession, ReadSeat {
  readonly id: string;
  /** The position among the seats that were read. */
  readonly index: number;
}

/** Parses a seat. Only nodes of the server write seats, so they are not checked. */
function parseSeat(text: string): Seat {
  return JSON.parse(text);
}

function seatKey(number: number): string {
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
