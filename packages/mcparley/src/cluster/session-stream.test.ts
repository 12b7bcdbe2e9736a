import { expect, test } from "vitest";
import { memoryStore } from "../store/memory-store.ts";
import { fakeClock, flushPromises } from "../testing/fake-clock.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { SessionStream } from "./session-stream.ts";
import type { LoggedChange, SharedChanges } from "./shared-changes.ts";
import type { SharedSession } from "./shared-session.ts";

const changeAt = (position: string): LoggedChange => ({
  change: { list: "tools" },
  position,
  json: `"change ${position}"`,
});

/** A session's stream on one node, with scripted changes. `past` is the changes of the log. */
function sessionStream({ past = [] as LoggedChange[] } = {}) {
  const clock = fakeClock();
  const store = memoryStore({ clock });
  const sent: string[] = [];
  const followers = new Set<(change: LoggedChange) => void>();
  const state = { isFailing: false };
  const session = {
    id: "s",
    openedAt: "0",
    stream: { sendEncoded: (json: string) => void sent.push(json) },
    session: { wants: () => true },
  };
  const changes = {
    follow(onChange: (change: LoggedChange) => void) {
      followers.add(onChange);
      return () => followers.delete(onChange);
    },
    async readSince() {
      if (state.isFailing) throw new Error("down");
      // A change that arrives while the past is read is in both.
      for (const follower of followers) follower(changeAt("2"));
      return past;
    },
  };
  const node = { id: "n", store, core: { clock }, report: () => {}, send: async () => {} };
  const stream = new SessionStream({
    session: session as unknown as SharedSession,
    node: node as unknown as ClusterNode,
    changes: changes as unknown as SharedChanges,
    ttl: 60_000,
  });
  return { stream, session, sent, followers, state, clock, store };
}

test("a change that arrives while earlier ones are read is sent once, after them", async () => {
  const { stream, sent } = sessionStream({ past: [changeAt("1"), changeAt("2")] });
  stream.streamOpened();
  await flushPromises();
  expect(sent).toEqual(['"change 1"', '"change 2"']);
});

test("changes are followed once while this node owns the stream, and not after it", async () => {
  const { stream, session, followers, store } = sessionStream();
  for (let times = 0; times < 3; times++) {
    stream.streamOpened();
    stream.streamOpened();
    await flushPromises();
    expect(followers.size).toBe(1);
    const open = session.stream;
    Object.assign(session, { stream: undefined });
    stream.streamClosed();
    await flushPromises();
    expect(followers.size).toBe(0);
    session.stream = open;
  }
  stream.streamOpened();
  await flushPromises();
  await store.set("session-stream:s", JSON.stringify({ node: "other" }), { ttl: 60_000 });
  stream.ownerChanged();
  await flushPromises();
  expect(followers.size).toBe(0);
});

test("saving the positions ends the ownership if another node has claimed it, and does not overwrite its record", async () => {
  const { stream, followers, store } = sessionStream();
  stream.streamOpened();
  await flushPromises();
  const record = JSON.stringify({ node: "other" });
  await store.set("session-stream:s", record, { ttl: 60_000 });
  stream.save();
  await flushPromises();
  expect(followers.size).toBe(0);
  expect(await store.get("session-stream:s")).toBe(record);
});

test("changes are not followed after the past could not be read, until the next attempt", async () => {
  const { stream, followers, state, clock, sent } = sessionStream({ past: [changeAt("1")] });
  state.isFailing = true;
  stream.streamOpened();
  await flushPromises();
  expect(followers.size).toBe(0);
  state.isFailing = false;
  await clock.advance(1_000);
  expect(followers.size).toBe(1);
  expect(sent).toEqual(['"change 1"', '"change 2"']);
});

test("a change while the stream is closed is sent on the next stream", async () => {
  const { stream, session, sent, followers } = sessionStream();
  stream.streamOpened();
  await flushPromises();
  sent.length = 0;
  const open = session.stream;
  Object.assign(session, { stream: undefined });
  for (const follower of followers) follower(changeAt("3"));
  expect(sent).toEqual([]);
  session.stream = open;
  for (const follower of followers) follower(changeAt("3"));
  for (const follower of followers) follower(changeAt("3"));
  expect(sent).toEqual(['"change 3"']);
});
