import { expect, test } from "vitest";
import { UrlVisits } from "./url-visits.ts";

function visits() {
  const announced: string[] = [];
  return { visits: new UrlVisits((id) => announced.push(id)), announced };
}

test("the completion of a visit is announced once, and only after the server has requested it", () => {
  const { visits: seen, announced } = visits();
  seen.noteAnnouncement("unknown");
  seen.noteRequest("a");
  seen.noteAnnouncement("a");
  seen.noteAnnouncement("a");
  seen.noteRequest("a");
  seen.noteAnnouncement("a");
  for (const id of [undefined, 1, null, {}]) seen.noteAnnouncement(id);
  expect(announced).toEqual(["a"]);
});

test("an announcement that precedes the request for the visit is remembered", async () => {
  const { visits: seen, announced } = visits();
  seen.noteAnnouncement("a");
  expect(announced).toEqual([]);
  await seen.expect("a");
  expect(announced).toEqual(["a"]);
});

test("an announcement is passed to the host if its call no longer waits", () => {
  const { visits: seen, announced } = visits();
  void seen.expect("a");
  seen.cancel("a");
  seen.noteAnnouncement("a");
  expect(announced).toEqual(["a"]);
});

test("the last 100 announcements of a flood are remembered", async () => {
  const { visits: seen, announced } = visits();
  for (let n = 0; n < 1000; n++) seen.noteAnnouncement(`${n}`);
  for (let n = 0; n < 1000; n++) seen.noteRequest(`${n}`);
  expect(announced).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 900}`));
});
