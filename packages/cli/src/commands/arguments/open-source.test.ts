import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, writeFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { readText } from "../../terminal/read-text.ts";
import { fakeIo } from "../testing/fake-io.ts";
import { readArguments, sourcesOf } from "./arguments.ts";
import { openSource } from "./open-source.ts";

const source = { name: "pipe", cure: "", maxBytes: 1024 };

test.skipIf(process.platform === "win32")(
  "a named pipe without a writer is an error after a limited wait",
  async () => {
    const pipe = `${await temporaryFolder()}/pipe`;
    execFileSync("mkfifo", [pipe]);
    const reading = openSource(pipe, "pipe", 20).then((stream) => readText(stream, source));
    await expect(reading).rejects.toThrow("No program wrote to the named pipe pipe within 0.02 s.");
  },
);

test.skipIf(process.platform === "win32")(
  "a named pipe is read to the end of its writer, which can start later",
  async () => {
    const folder = await temporaryFolder();
    execFileSync("mkfifo", [`${folder}/pipe`]);
    const reading = readArguments(["text=@pipe"], sourcesOf(fakeIo({ cwd: folder })));
    spawn("sh", ["-c", "(printf one; printf two) > pipe"], { stdio: "inherit", cwd: folder });
    expect(await reading).toEqual([{ key: "text", form: "text", value: "onetwo" }]);
  },
);

test("a file is read whole, and one over the limit, a folder and a missing file are errors", async () => {
  const folder = await temporaryFolder();
  writeFileSync(`${folder}/a.txt`, "x".repeat(200_000));
  const sources = sourcesOf(fakeIo({ cwd: folder }));
  expect(await sources.file("a.txt")).toHaveLength(200_000);
  for (const path of [".", "missing"])
    await expect(sources.file(path)).rejects.toThrow(`The file ${path} cannot be read:`);
  if (process.platform !== "win32")
    await expect(sources.file("/dev/zero")).rejects.toThrow("/dev/zero has more than 64 MiB");
});

test.skipIf(process.platform === "win32")("a named pipe has no time limit after its first content", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const pipe = `${await temporaryFolder()}/pipe`;
  execFileSync("mkfifo", [pipe]);
  const stream = await openSource(pipe, "pipe");
  const reading = readText(stream, source);
  const writer = createWriteStream(pipe);
  writer.write("one");
  await once(stream, "readable");
  vi.advanceTimersByTime(60_000);
  writer.end("two");
  expect(await reading).toBe("onetwo");
  expect(vi.getTimerCount()).toBe(0);
});
