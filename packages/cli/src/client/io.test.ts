import { expect, test } from "vitest";
import { processIo } from "./io.ts";

test("Ctrl-C is listened to until it is not wanted any more", () => {
  const before = process.listenerCount("SIGINT");
  const heard: string[] = [];
  const stop = processIo().onInterrupt(() => heard.push("interrupt"));
  process.emit("SIGINT");
  stop();
  expect(heard).toEqual(["interrupt"]);
  expect(process.listenerCount("SIGINT")).toBe(before);
});
