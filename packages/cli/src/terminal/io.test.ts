import { expect, test } from "vitest";
import { processIo } from "./io.ts";

test("listens to Ctrl-C until the returned function is called", () => {
  const before = process.listenerCount("SIGINT");
  const heard: string[] = [];
  const stop = processIo().onInterrupt(() => heard.push("interrupt"));
  process.emit("SIGINT");
  stop();
  expect(heard).toEqual(["interrupt"]);
  expect(process.listenerCount("SIGINT")).toBe(before);
});
