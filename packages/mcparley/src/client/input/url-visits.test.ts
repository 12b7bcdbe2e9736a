import { expect, test } from "vitest";
import { UrlVisits } from "./url-visits.ts";

function visits() {
  const announced: string[] = [];
  return { visits: new UrlVisits((id) => announced.push(id)), announced };
}

test("an id is announced once, and only after the server has requested the visit", () => {
  const { visits: seen, announced } = visits();
  seen.announced("unknown");
  seen.requested("a");
  seen.announced("a");
  seen.announced("a");
  seen.requested("a");
  seen.announced("a");
  for (const id of [undefined, 1, null, {}]) seen.announced(id);
  expect(announced).toEqual(["a"]);
});

test("an announcement that precedes the request for the visit counts", async () => {
  const { visits: seen, announced } = visits();
  seen.announced("a");
  expect(announced).toEqual([]);
  await seen.expect("a");
  expect(announced).toEqual(["a"]);
});

test("a call that no longer waits leaves the announcement to the host", () => {
  const { visits: seen, announced } = visits();
  void seen.expect("a");
  seen.cancel("a");
  seen.announced("a");
  expect(announced).toEqual(["a"]);
});

test("of a flood of announcements the last 100 are remembered", async () => {
  const { visits: seen, announced } = visits();
  for (let n = 0; n < 1000; n++) seen.announced(`${n}`);
  for (let n = 0; n < 1000; n++) seen.requested(`${n}`);
  expect(announced).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 900}`));
});
