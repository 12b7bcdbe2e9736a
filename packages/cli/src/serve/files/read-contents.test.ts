import { execFileSync } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FileTooLarge, readContents } from "./read-contents.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

test("reads UTF-8 as text and other bytes as base64, for any file name", async () => {
  const folder = await temporaryFolder({
    "a.bin": "Grüße, 世界 🌍\n",
    "b.txt": new Uint8Array([0x48, 0x00, 0x49]),
    "c.txt": new Uint8Array([0xff, 0xfe, 0x41]),
    "empty.png": "",
  });
  expect(await readContents(join(folder, "a.bin"), 1000)).toEqual({ text: "Grüße, 世界 🌍\n" });
  expect(await readContents(join(folder, "b.txt"), 1000)).toEqual({ blob: "SABJ" });
  expect(await readContents(join(folder, "c.txt"), 1000)).toEqual({ blob: "//5B" });
  expect(await readContents(join(folder, "empty.png"), 1000)).toEqual({ text: "" });
});

test("reads a text whose first block ends within a character as text", async () => {
  const text = `${"x".repeat(8191)}€ and on`;
  const folder = await temporaryFolder({ "long.txt": text });
  expect(await readContents(join(folder, "long.txt"), 100_000)).toEqual({ text });
});

test("reads a file that starts as text and is not UTF-8 later as base64", async () => {
  const bytes = new Uint8Array(20_000).fill(0x61);
  bytes[15_000] = 0xff;
  const folder = await temporaryFolder({ "late.txt": bytes });
  expect(await readContents(join(folder, "late.txt"), 100_000)).toEqual({
    blob: Buffer.from(bytes).toString("base64"),
  });
});

test("encodes a binary file of any size as one base64 text", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "x.bin");
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200_000 }), fc.nat(255), async (size, seed) => {
      const bytes = Buffer.alloc(size, Uint8Array.from([seed, 0, 255, 128, seed, 7, 9]));
      bytes[0] = 0xff;
      await writeFile(path, bytes);
      const contents = await readContents(path, size);
      expect(contents).toEqual({ blob: bytes.toString("base64") });
    }),
    { numRuns: 25 },
  );
});

test("reads a file at the limit, and refuses one byte more with both sizes", async () => {
  const folder = await temporaryFolder({ "a.txt": "x".repeat(100) });
  const path = join(folder, "a.txt");
  expect(await readContents(path, 100)).toEqual({ text: "x".repeat(100) });
  const refused = readContents(path, 99);
  await expect(refused).rejects.toThrow(FileTooLarge);
  await expect(refused).rejects.toMatchObject({ size: 100, limit: 99 });
});

test("reads only regular files: no folder, no link in place of the file, no pipe", async () => {
  const folder = await temporaryFolder({ "a.txt": "a", "sub/b.txt": "b" });
  await symlink(join(folder, "a.txt"), join(folder, "link.txt"));
  for (const name of ["sub", "link.txt", "missing.txt"]) {
    expect(await readContents(join(folder, name), 1000), name).toBeUndefined();
  }
  if (process.platform === "win32") return;
  execFileSync("mkfifo", [join(folder, "pipe")]);
  expect(await readContents(join(folder, "pipe"), 1000)).toBeUndefined();
});
