import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { type TableSession, SessionShares } from "./session-shares.ts";

interface TestSession extends TableSession {
  name: string;
  isBusy: boolean;
  lastUsed: number;
  keptSize: number;
}

function table(max: number, totalSize?: number) {
  const clock = fakeClock();
  const ended: string[] = [];
  const options = totalSize === undefined ? { max } : { max, totalSize };
  const shares = new SessionShares<TestSession>({
    clock,
    options,
    onUnused: ({ name }) => ended.push(name),
  });
  const open = (name: string, caller: string, keptSize = 0): TestSession => {
    const now = clock.now();
    const seat = { name, caller, isBusy: false, startedAt: now, lastUsed: now, keptSize, entry: undefined };
    shares.open(seat);
    return seat;
  };
  const used = (name: string, caller: string, keptSize = 0): TestSession => {
    const seat = open(name, caller, keptSize);
    shares.noteUse(seat);
    return seat;
  };
  const displacedBy = (caller: string): string | undefined => shares.toDisplace(caller)?.name;
  return { clock, shares, open, used, displacedBy, ended };
}

const [alice, bob] = ['["issuer","alice"]', '["issuer","bob"]'];

describe("the displaced session", () => {
  test("is idle for more than 10 s, and not for exactly 10 s", async () => {
    const { clock, shares, used, displacedBy } = table(2);
    const early = used("early", "a");
    await clock.advance(5_000);
    const late = used("late", "b");
    await clock.advance(6_000);
    shares.noteUse(early);
    await clock.advance(4_000);
    shares.noteUse(late);
    await clock.advance(6_000);
    expect(displacedBy("c")).toBeUndefined();
    await clock.advance(1);
    expect(displacedBy("c")).toBe("early");
  });

  test("is a newcomer that was opened 10 s ago, and not one that was opened before and used since", async () => {
    const { clock, shares, used, displacedBy } = table(1);
    const session = used("session", "a");
    await clock.advance(10_000);
    shares.noteUse(session);
    expect(displacedBy("b")).toBe("session");
    await clock.advance(1);
    shares.noteUse(session);
    expect(displacedBy("b")).toBeUndefined();
  });

  test("is the longest idle one of all callers that have the same number", async () => {
    const { clock, shares, used, displacedBy } = table(100);
    const active = used("active", "a0");
    for (let caller = 1; caller < 100; caller++) {
      await clock.advance(1);
      used(`idle ${caller}`, `a${caller}`);
    }
    await clock.advance(20_000);
    shares.noteUse(active);
    expect(displacedBy("b")).toBe("idle 1");
  });

  test("is the longest idle one of the caller with the most sessions before one that is idle for longer", async () => {
    const { clock, used, displacedBy } = table(3);
    used("a1", "a");
    await clock.advance(1_000);
    used("b1", "b");
    await clock.advance(1_000);
    used("b2", "b");
    await clock.advance(20_000);
    expect(displacedBy("c")).toBe("b1");
  });

  test("is an idle one of a caller with fewer, if the caller with the most has no idle one", async () => {
    const { clock, shares, used, displacedBy } = table(3);
    const [first, second] = [used("a1", "a"), used("a2", "a")];
    used("b1", "b");
    await clock.advance(20_000);
    shares.noteUse(first);
    shares.noteUse(second);
    expect(displacedBy("c")).toBe("b1");
  });

  test("is an idle one before a newcomer that sent nothing after initialize", async () => {
    const { clock, used, open, displacedBy } = table(3);
    used("idle", "a");
    await clock.advance(10_001);
    open("b1", "b");
    open("b2", "b");
    expect(displacedBy("c")).toBe("idle");
  });

  test("is the longest unused newcomer of the caller with the most newcomers, if none is idle", async () => {
    const { clock, shares, used, open, displacedBy } = table(5);
    const old = [used("a1", "a"), used("a2", "a"), used("a3", "a")];
    await clock.advance(10_001);
    for (const session of old) shares.noteUse(session);
    open("c1", "c");
    const oldest = open("b1", "b");
    open("b2", "b");
    expect(displacedBy("d")).toBe("b1");
    shares.noteUse(oldest);
    expect(displacedBy("d")).toBe("b2");
  });

  test("is of the same caller, if each other caller has fewer than this one would have", async () => {
    const { clock, used, displacedBy } = table(4);
    for (const name of ["b1", "b2"]) used(name, "b");
    used("a1", "a");
    used("a2", "a");
    expect(displacedBy("a")).toBe("a1");
    used("b3", "b");
    expect(displacedBy("a")).toBe("b1");
    await clock.advance(10_001);
    expect(displacedBy("b")).toBe("b1");
  });

  test("is none, if no session is idle and no newcomer may be displaced", async () => {
    const { clock, shares, used, displacedBy } = table(2);
    const sessions = [used("a1", alice), used("b1", bob)];
    await clock.advance(10_001);
    for (const session of sessions) shares.noteUse(session);
    for (const caller of [alice, bob, "a"]) expect(displacedBy(caller)).toBeUndefined();
    expect(shares.hasRoomFor("a")).toBe(false);
  });

  test("is not the only session of a principal for an anonymous caller", async () => {
    const { clock, used, displacedBy } = table(2);
    used("a1", alice);
    await clock.advance(20_000);
    expect(displacedBy("a")).toBeUndefined();
    expect(displacedBy(bob)).toBe("a1");
    used("a2", alice);
    expect(displacedBy("a")).toBe("a1");
  });

  test("is one of an anonymous caller before one of a principal that has the same number", async () => {
    const { clock, used, displacedBy } = table(2);
    used("a1", alice);
    used("b1", "b");
    await clock.advance(20_000);
    expect(displacedBy(bob)).toBe("b1");
  });

  test("is an idle one of a principal before a busy one", async () => {
    const { clock, used, displacedBy } = table(3);
    const busy = used("busy", alice);
    busy.isBusy = true;
    used("idle", alice);
    expect(displacedBy(bob)).toBe("idle");
    await clock.advance(20_000);
    expect(displacedBy(bob)).toBe("idle");
  });

  test("is not idle from the end of its last call or stream on for 10 s", async () => {
    const { clock, used, displacedBy } = table(1);
    const session = used("a1", "a");
    session.isBusy = true;
    await clock.advance(20_000);
    session.isBusy = false;
    session.entry?.endUse();
    await clock.advance(10_000);
    expect(displacedBy("b")).toBeUndefined();
    await clock.advance(1);
    expect(displacedBy("b")).toBe("a1");
  });

  test("is a busy one only of a caller that has more than half of all, and at least two more than the new one", () => {
    const { used, displacedBy } = table(4);
    for (const name of ["a1", "a2"]) used(name, "a").isBusy = true;
    expect(displacedBy("b")).toBe("a1");
    used("b1", "b").isBusy = true;
    expect(displacedBy("c")).toBe("a1");
    expect(displacedBy("b")).toBeUndefined();
    expect(displacedBy("a")).toBeUndefined();
    used("c1", "c").isBusy = true;
    expect(displacedBy("d")).toBeUndefined();
  });

  test("is a newcomer again, if it was busy and is not any more", () => {
    const { used, displacedBy } = table(2);
    const session = used("a1", "a");
    session.isBusy = true;
    used("b1", "b").isBusy = true;
    expect(displacedBy("c")).toBeUndefined();
    session.isBusy = false;
    session.entry?.endUse();
    expect(displacedBy("c")).toBe("a1");
  });

  test("is never one that was deleted", () => {
    const { shares, open, used, displacedBy } = table(2);
    shares.delete(open("unused", "a"));
    shares.delete(used("used", "a"));
    expect(displacedBy("b")).toBeUndefined();
    expect(shares.hasRoomFor("b")).toBe(true);
  });

  test("is the one that a search of all sessions finds", async () => {
    const step = fc.record({
      what: fc.constantFrom("open", "open", "open", "use", "busy", "wait", "delete"),
      caller: fc.constantFrom("a", "b", "c", alice, bob),
      item: fc.nat({ max: 30 }),
      ms: fc.constantFrom(1, 3_000, 7_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { clock, shares, open, displacedBy } = table(1_000);
        const model: ModelSession[] = [];
        for (const [index, { what, caller, item, ms }] of steps.entries()) {
          const one = model[item % Math.max(1, model.length)];
          // Each use has another time, so that the order is exact.
          await clock.advance(what === "wait" ? ms : 1);
          if (what === "open") {
            const session = open(`s${index}`, caller);
            model.push({ session, usedAt: clock.now() });
          } else if (one && what === "delete") {
            shares.delete(one.session);
            model.splice(model.indexOf(one), 1);
          } else if (one && (what === "use" || what === "busy")) {
            // A busy newcomer counts as a newcomer until a search has found it.
            one.session.isBusy = what === "busy" && clock.now() - one.session.startedAt > 10_000;
            one.usedAt = clock.now();
            shares.noteUse(one.session);
          }
          for (const newcomer of ["a", alice, "d"]) {
            expect(displacedBy(newcomer)).toBe(displacedOf(model, newcomer, clock.now()));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test("is found in a few steps at a full table of 10,000 sessions", async () => {
    const { clock, shares, used } = table(10_000);
    let reads = 0;
    const counted = (session: TestSession): TestSession => {
      const { lastUsed, startedAt } = session;
      Object.defineProperty(session, "isBusy", { get: () => (reads++, false) });
      Object.defineProperty(session, "startedAt", { get: () => (reads++, startedAt) });
      Object.defineProperty(session, "lastUsed", { get: () => (reads++, lastUsed) });
      return session;
    };
    const sessions = Array.from({ length: 10_000 }, (_, index) => counted(used(`s${index}`, `a${index}`)));
    await clock.advance(10_001);
    for (const session of sessions.slice(0, 5_000)) shares.noteUse(session);
    shares.toDisplace("b");
    reads = 0;
    for (let count = 0; count < 1_000; count++) {
      const newcomer = counted({ ...seatOf("b"), name: "new", startedAt: clock.now(), lastUsed: clock.now() });
      expect(shares.makeRoomFor(newcomer, (victim) => shares.delete(victim))).toBe(true);
      shares.open(newcomer);
    }
    expect(reads).toBeLessThan(10_000);
  });
});

const seatOf = (caller: string): TestSession => ({
  name: "new",
  caller,
  isBusy: false,
  startedAt: 0,
  lastUsed: 0,
  keptSize: 0,
  entry: undefined,
});

interface ModelSession {
  session: TestSession;
  usedAt: number;
}

/** Returns the name of the session to displace, by the rules in the guide and a search of all sessions. */
function displacedOf(sessions: ModelSession[], newcomer: string, now: number): string | undefined {
  const isPrincipal = (caller: string) => caller.startsWith("[");
  const countIn = (list: ModelSession[], caller: string) => list.filter((one) => one.session.caller === caller).length;
  const count = countIn(sessions, newcomer);
  const mayLose = (caller: string) =>
    caller === newcomer || countIn(sessions, caller) > count + (isPrincipal(caller) && !isPrincipal(newcomer) ? 1 : 0);
  /** The first of the sessions of the caller with the most of `counted`. If it may not be displaced, one of the newcomer. */
  const choose = (list: ModelSession[], counted: ModelSession[]): string | undefined => {
    const rank = ({ session, usedAt }: ModelSession) =>
      [-countIn(counted, session.caller), isPrincipal(session.caller) ? 1 : 0, usedAt] as const;
    const sorted = list.toSorted((a, b) => {
      const [[moreA, laterA, usedA], [moreB, laterB, usedB]] = [rank(a), rank(b)];
      return moreA - moreB || laterA - laterB || usedA - usedB;
    });
    const [first] = sorted;
    if (first && mayLose(first.session.caller)) return first.session.name;
    return sorted.find(({ session }) => session.caller === newcomer)?.session.name;
  };
  for (const one of sessions) if (one.session.isBusy && now - one.usedAt > 10_000) one.usedAt = now;
  const unlessBusy = sessions.filter(({ session }) => !session.isBusy);
  const idle = unlessBusy.filter(({ usedAt }) => now - usedAt > 10_000);
  const newcomers = unlessBusy.filter(({ session }) => now - session.startedAt <= 10_000);
  const chosen = choose(idle, sessions) ?? choose(newcomers, newcomers);
  if (chosen) return chosen;
  const [longest] = sessions
    .filter(({ session }) => 2 * countIn(sessions, session.caller) > sessions.length)
    .toSorted((a, b) => a.usedAt - b.usedAt);
  return longest && countIn(sessions, longest.session.caller) > count + 1 ? longest.session.name : undefined;
}

describe("the total size of the sessions", () => {
  const seat = (caller: string, keptSize: number): TestSession => ({
    name: "new",
    caller,
    isBusy: false,
    startedAt: 0,
    lastUsed: 0,
    keptSize,
    entry: undefined,
  });
  const makeRoom = ({ shares }: ReturnType<typeof table>, newcomer: TestSession): string[] | undefined => {
    const displaced: string[] = [];
    const hasRoom = shares.makeRoomFor(newcomer, (victim) => {
      displaced.push(victim.name);
      shares.delete(victim);
    });
    return hasRoom ? displaced : undefined;
  };

  test("displaces the number of sessions that a new session needs, and no session if it fits exactly", () => {
    const sessions = table(100, 1_000);
    for (const name of ["a1", "a2", "a3"]) sessions.used(name, "a", 300);
    expect(makeRoom(sessions, seat("b", 100))).toEqual([]);
    expect(makeRoom(sessions, seat("b", 101))).toEqual(["a1"]);
    expect(makeRoom(sessions, seat("b", 900))).toEqual(["a2", "a3"]);
  });

  test("refuses a new session if no session may be displaced", () => {
    const sessions = table(100, 1_000);
    sessions.used("a1", alice, 600);
    expect(makeRoom(sessions, seat("b", 400))).toEqual([]);
    expect(makeRoom(sessions, seat("b", 401))).toBeUndefined();
  });

  test("does not count a session that is used after it was deleted", () => {
    const sessions = table(100, 1_000);
    const ended = sessions.used("a1", "a", 600);
    sessions.shares.delete(ended);
    sessions.shares.noteUse(ended);
    expect(makeRoom(sessions, seat("b", 1_000))).toEqual([]);
  });

  test("displaces other sessions of its caller if a session has grown, and then that session itself", () => {
    const { shares, used } = table(100, 1_000);
    used("b1", "b", 100);
    used("a1", "a", 100);
    const growing = used("a2", "a", 100);
    const displaced: string[] = [];
    const use = (keptSize: number): void => {
      growing.keptSize = keptSize;
      shares.noteUse(growing);
      shares.makeRoomForGrowth(growing, (victim) => {
        displaced.push(victim.name);
        shares.delete(victim);
      });
    };
    use(800);
    expect(displaced).toEqual([]);
    use(801);
    expect(displaced).toEqual(["a1"]);
    use(901);
    expect(displaced).toEqual(["a1", "a2"]);
  });
});

test("an unused session ends after exactly sessions.handshake, and a used one stays", async () => {
  const { clock, open, used, ended } = table(10);
  open("first", "a");
  used("used", "a");
  await clock.advance(100);
  open("second", "b");
  await clock.advance(29_899);
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect(ended).toEqual(["first"]);
  await clock.advance(99);
  expect(ended).toEqual(["first"]);
  await clock.advance(1);
  expect(ended).toEqual(["first", "second"]);
  expect(clock.pending).toBe(0);
});
