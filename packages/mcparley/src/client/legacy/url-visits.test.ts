import { expect, test } from "vitest";
import { UrlVisits } from "./url-visits.ts";

function visits() {
  const announced: string[] = [];
  return { visits: new UrlVisits((id) => announced.push(id)), announced };
}

test("the completion of a visit is announced once, and only after the server has requested it", () => {
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

test("an announcement that precedes the request for the visit is remembered", async () => {
  const { visits: seen, announced } = visits();
  seen.announced("a");
  expect(announced).toEqual([]);
  await seen.expect("a");
  expect(announced).toEqual(["a"]);
});

test("an announcement is passed to the host if its call no longer waits", () => {
  const { visits: seen, announced } = visits();
  void seen.expect("a");
  seen.cancel("a");
  seen.announced("a");
  expect(announced).toEqual(["a"]);
});

test("the last 100 announcements of a flood are remembered", async () => {
  const { visits: seen, announced } = visits();
  for (let n = 0; n < 1000; n++) seen.announced(`${n}`);
  for (let n = 0; n < 1000; n++) seen.requested(`${n}`);
  expect(announced).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 900}`));
});
