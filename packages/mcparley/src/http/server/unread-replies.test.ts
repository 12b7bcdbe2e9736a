import { describe, expect, test } from "vitest";
import { coreOf, createServer } from "../../server/create-server.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import type { UnreadBody } from "../exchange.ts";
import { OpenExchanges } from "./open-exchanges.ts";
import { UnreadReplies } from "./unread-replies.ts";

/** A body whose client reads when the test says so. */
class Body implements UnreadBody {
  backlog = 0;
  isClosed = false;
  isSteady = false;
  unread: number;

  constructor(unread: number) {
    this.unread = unread;
  }

  hasRead(): boolean {
    return this.isSteady;
  }

  destroy(): void {
    this.isClosed = true;
  }
}

/** An endpoint where 1,000 bytes may be unread, with a read timeout of 60 s. */
function world() {
  const clock = fakeClock(1_000_000);
  const errors: string[] = [];
  const onError = (error: unknown): void => void errors.push((error as Error).message);
  const server = createServer({ name: "x", version: "1.0.0", clock, onError, limits: { unread: 1_000 } });
  const replies = new UnreadReplies(coreOf(server), undefined, OpenExchanges);
  const write = (unread: number, caller = "a"): Body => {
    const body = new Body(unread);
    replies.note(body, caller);
    return body;
  };
  return { clock, errors, replies, write };
}

const closed = (...bodies: readonly Body[]): boolean[] => bodies.map(({ isClosed }) => isClosed);

describe("a body that its client does not read", () => {
  test("loses its connection after the read timeout, with a report", async () => {
    const { clock, errors, write } = world();
    const body = write(1);
    await clock.advance(59_999);
    expect(closed(body)).toEqual([false]);
    await clock.advance(1_000);
    expect(closed(body)).toEqual([true]);
    expect(errors).toEqual([
      "A connection was closed, because its client does not read the reply: it has read nothing for 60000 ms (readTimeout).",
    ]);
    expect(clock.pending).toBe(0);
  });

  test("starts its timeout again when its client reads a part, and has none if it reads steadily", async () => {
    const { clock, errors, write } = world();
    const [once, steady] = [write(1), write(1)];
    steady.isSteady = true;
    await clock.advance(50_000);
    once.isSteady = true;
    await clock.advance(1_000);
    once.isSteady = false;
    await clock.advance(59_000);
    expect(closed(once, steady)).toEqual([false, false]);
    await clock.advance(1_000_000);
    expect(closed(once, steady)).toEqual([true, false]);
    expect(errors).toHaveLength(1);
  });

  test("is forgotten when it was read, and when its connection is closed", async () => {
    const { clock, errors, write, replies } = world();
    const [read, gone] = [write(250), write(250)];
    read.unread = 0;
    replies.remove(gone);
    replies.remove(gone);
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
    const others = Array.from({ length: 4 }, () => write(250));
    expect(closed(read, gone, ...others)).not.toContain(true);
    expect(errors).toEqual([]);
    write(1);
    expect(closed(...others)).toEqual([true, false, false, false]);
  });

  test("is counted again after it has grown or was read", async () => {
    const { write, replies } = world();
    const body = write(100);
    body.unread = 250;
    replies.note(body, "a");
    const others = Array.from({ length: 3 }, () => write(250));
    expect(closed(body, ...others)).not.toContain(true);
    body.unread = 249;
    const small = write(1);
    expect(closed(body, small, ...others)).not.toContain(true);
    write(1);
    expect(closed(body, small, ...others).filter(Boolean)).toHaveLength(1);
  });

  test("stops its timer when the endpoint closes", () => {
    const { clock, replies, write } = world();
    write(1);
    replies.stop();
    expect(clock.pending).toBe(0);
  });
});

describe("a caller", () => {
  test("may leave half of limits.unread unread for the read timeout", async () => {
    const { clock, write } = world();
    const bodies = [write(250), write(250)];
    await clock.advance(59_999);
    expect(closed(...bodies)).toEqual([false, false]);
  });

  test("loses a connection after 5 s with one byte more, and keeps the others", async () => {
    const { clock, errors, write } = world();
    const bodies = [write(250), write(250), write(1), write(1, "b")];
    await clock.advance(4_999);
    expect(closed(...bodies)).not.toContain(true);
    await clock.advance(1);
    expect(closed(...bodies)).toEqual([true, false, false, false]);
    expect(errors[0]).toContain("its caller has 501 unread bytes (limits.unread)");
  });

  test("loses no connection that it reads steadily", async () => {
    const { clock, write } = world();
    const steady = write(250);
    const bodies = [write(250), write(1)];
    steady.isSteady = true;
    await clock.advance(10_000);
    expect(closed(steady, ...bodies)).toEqual([false, true, false]);
  });

  test.each([
    [250, false],
    [251, true],
  ])("may let %i bytes wait behind the text that is being sent on one stream", (backlog, isClosed) => {
    const { replies, errors } = world();
    const body = new Body(10_000);
    body.backlog = backlog;
    replies.note(body, "a");
    expect(closed(body)).toEqual([isClosed]);
    expect(errors).toHaveLength(isClosed ? 1 : 0);
  });

  test("may leave a result of any size unread, which counts as a quarter", async () => {
    const { clock, write } = world();
    const bodies = [write(10_000), write(10_000)];
    await clock.advance(30_000);
    expect(closed(...bodies)).toEqual([false, false]);
  });
});

describe("all callers together", () => {
  test("may leave limits.unread unread", () => {
    const { write } = world();
    const bodies = ["a", "b", "c", "d"].map((caller) => write(250, caller));
    expect(closed(...bodies)).not.toContain(true);
  });

  test("lose with one byte more the connection that the caller with the most did not read for the longest time", async () => {
    const { clock, write, errors } = world();
    const small = write(200, "b");
    await clock.advance(100);
    const first = write(250, "a");
    await clock.advance(100);
    const second = write(250, "a");
    const other = write(250, "c");
    first.isSteady = true;
    await clock.advance(1_000);
    expect(closed(small, first, second, other)).not.toContain(true);
    const last = write(51, "d");
    expect(closed(small, first, second, other, last)).toEqual([false, false, true, false, false]);
    expect(errors[0]).toContain("limits.unread");
  });

  test("are counted as they are now before a connection is closed", () => {
    const { write } = world();
    const read = write(250);
    const bodies = ["b", "c", "d"].map((caller) => write(250, caller));
    read.unread = 0;
    expect(closed(read, ...bodies, write(250, "e"))).not.toContain(true);
  });
});
