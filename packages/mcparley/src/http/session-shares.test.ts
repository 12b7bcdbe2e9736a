import { describe, expect, test } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { type Seat, SessionShares } from "./session-shares.ts";

interface TestSeat extends Seat {
  name: string;
  isBusy: boolean;
  lastUsed: number;
}

function table(max: number) {
  const clock = fakeClock();
  const ended: string[] = [];
  const shares = new SessionShares<TestSeat>({ clock, options: { max }, onUnused: ({ name }) => ended.push(name) });
  const open = (name: string, caller: string): TestSeat => {
    const seat = { name, caller, isBusy: false, lastUsed: clock.now() };
    shares.open(seat);
    return seat;
  };
  const used = (name: string, caller: string): TestSeat => {
    const seat = open(name, caller);
    shares.used(seat);
    return seat;
  };
  const displacedBy = (caller: string): string | undefined => shares.toDisplace(caller)?.name;
  return { clock, shares, open, used, displacedBy, ended };
}

const [alice, bob] = ['["issuer","alice"]', '["issuer","bob"]'];

describe("the session that gives way", () => {
  test("is an unused one, although another caller has more that are used", () => {
    const { open, used, displacedBy } = table(4);
    for (const name of ["a1", "a2", "a3"]) used(name, "a");
    open("b1", "b");
    expect(displacedBy("c")).toBe("b1");
  });

  test("is the one that was used the longest ago, and not the oldest", () => {
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

  test("is the idle one of a principal rather than a busy one", () => {
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

  test("is none that was deleted", () => {
    const { shares, open, used, displacedBy } = table(2);
    shares.delete(open("unused", "a"));
    shares.delete(used("used", "a"));
    expect(displacedBy("b")).toBeUndefined();
    expect(shares.isFull).toBe(false);
  });
});

test("unused sessions end after their time and not before, and used ones stay", async () => {
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

test("the search passes over at most 64 busy sessions, and goes on from there the next time", () => {
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
