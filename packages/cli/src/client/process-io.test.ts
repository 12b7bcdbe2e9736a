import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { processIo } from "./process-io.ts";

test("A4: a program is started without a shell: its arguments arrive as they are", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mcparley-launch-"));
  const file = join(folder, "argument");
  const url = "https://a.example/?a=1&b=$(id);`id`%20^|";
  const write =
    "const fs = require('fs'); fs.writeFileSync(process.argv[1] + '.tmp', process.argv[2]); fs.renameSync(process.argv[1] + '.tmp', process.argv[1])";
  await processIo().launch(process.execPath, ["-e", write, file, url]);
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 10_000 });
  expect(readFileSync(file, "utf8")).toBe(url);
  rmSync(folder, { recursive: true });
});

test("a program that is not there is told", async () => {
  await expect(processIo().launch("mcparley-no-such-program", [])).rejects.toThrow("ENOENT");
});

test("Ctrl-C is listened to until it is not wanted any more", () => {
  const before = process.listenerCount("SIGINT");
  const heard: string[] = [];
  const stop = processIo().onInterrupt(() => heard.push("interrupt"));
  process.emit("SIGINT");
  stop();
  expect(heard).toEqual(["interrupt"]);
  expect(process.listenerCount("SIGINT")).toBe(before);
});
