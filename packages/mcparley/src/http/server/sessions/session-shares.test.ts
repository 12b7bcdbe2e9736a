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
    const seat = { name, caller, isBusy: false, lastUsed: clock.now(), keptSize, countedSize: 0, wasUsed: false };
    shares.open(seat);
    return seat;
  };
  const used = (name: string, caller: string, keptSize = 0): TestSession => {
    const seat = open(name, caller, keptSize);
    shares.used(seat);
    return seat;
  };
  const displacedBy = (caller: string): string | undefined => shares.toDisplace(caller)?.name;
  return { clock, shares, open, used, displacedBy, ended };
}

const [alice, bob] = ['["issuer","alice"]', '["issuer","bob"]'];

describe("the displaced session", () => {
  test("is an unused one, although another caller has more that are used", () => {
    const { open, used, displacedBy } = table(4);
    for (const name of ["a1", "a2", "a3"]) used(name, "a");
    open("b1", "b");
    expect(displacedBy("c")).toBe("b1");
  });

  test("is the least recently used one, and not the oldest", () => {
    const { shares, used, displacedBy } = table(3);
    const first = used("first", "a");
    const second = used("second", "a");
    used("third", "a");
    shares.used(first);
    expect(displacedBy("b")).toBe("second");
    shares.used(second);
    expect(displacedBy("b")).toBe("third");
  });

  test("is no session of a principal that would then have fewer than the new caller", () => {
    const { used, displacedBy } = table(3);
    used("a1", alice);
    used("a2", alice);
    expect(displacedBy(bob)).toBe("a1");
    used("b1", bob);
    expect(displacedBy(bob)).toBeUndefined();
  });

  test("is an idle one of a principal before a busy one", () => {
    const { used, displacedBy } = table(3);
    const busy = used("busy", alice);
    busy.isBusy = true;
    used("idle", alice);
    expect(displacedBy(bob)).toBe("idle");
  });

  test("is no busy session of an anonymous caller with only one more", () => {
    const { used, displacedBy } = table(2);
    for (const name of ["a1", "a2"]) used(name, "a").isBusy = true;
    expect(displacedBy("b")).toBe("a1");
    used("b1", "b").isBusy = true;
    expect(displacedBy("b")).toBeUndefined();
  });

  test("is never one that was deleted", () => {
    const { shares, open, used, displacedBy } = table(2);
    shares.delete(open("unused", "a"));
    shares.delete(used("used", "a"));
    expect(displacedBy("b")).toBeUndefined();
    expect(shares.hasRoomFor("b")).toBe(true);
  });
});

describe("the total size of the sessions", () => {
  const seat = (caller: string, keptSize: number): TestSession => ({
    name: "new",
    caller,
    isBusy: false,
    lastUsed: 0,
    keptSize,
    countedSize: 0,
    wasUsed: false,
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
    sessions.shares.used(ended);
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
      shares.used(growing);
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

test("the search skips at most 64 busy sessions, and the next search continues after them", () => {
  const { used, displacedBy } = table(200);
  const seats = Array.from({ length: 150 }, (_, index) => used(`s${index}`, "a"));
  let looks = 0;
  for (const seat of seats.slice(0, 100)) {
    Object.defineProperty(seat, "isBusy", {
      get: () => {
        looks++;
        return true;
      },
    });
  }
  expect(displacedBy("a")).toBeUndefined();
  expect(looks).toBe(64);
  expect(displacedBy("a")).toBe("s100");
});
