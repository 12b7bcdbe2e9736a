import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { readTrusted } from "./trusted-file.ts";

const uid = process.getuid?.();

async function fileWith(mode: number): Promise<string> {
  const file = join(await temporaryFolder(), "mcp.json");
  writeFileSync(file, "{}");
  chmodSync(file, mode);
  return file;
}

test("reads a file that only its owner can write, and returns undefined if there is none", async () => {
  const file = await fileWith(0o644);
  expect(readTrusted(file)).toBe("{}");
  expect(readTrusted(`${file}.missing`)).toBeUndefined();
  expect(readTrusted(join(file, "below"))).toBeUndefined();
  mkdirSync(`${file}.d`);
  expect(readTrusted(`${file}.d`)).toBeUndefined();
});

test.skipIf(uid === undefined).each([0o666, 0o646, 0o622])(
  "refuses a file that all users can write: %o",
  async (mode) => {
    const file = await fileWith(mode);
    expect(() => readTrusted(file)).toThrow(
      expect.objectContaining({
        name: "UsageError",
        message: expect.stringContaining(`${file} can be written by other users (mode ${mode.toString(8)})`),
        hint: expect.stringContaining("chmod go-w"),
      }),
    );
  },
);

test.skipIf(uid !== 0)("refuses a file that a group can write, except for the user's own group", async () => {
  const file = await fileWith(0o664);
  expect(() => readTrusted(file)).toThrow("can be written by other users");
  chownSync(file, 12_345, 100);
  expect(() => readTrusted(file, 12_345)).toThrow("can be written by other users");
  chownSync(file, 12_345, 12_345);
  expect(readTrusted(file, 12_345)).toBe("{}");
});

test.skipIf(uid !== 0)("refuses a file or a link of another user, and accepts a file of root", async () => {
  const file = await fileWith(0o644);
  expect(readTrusted(file, 12_345)).toBe("{}");
  const link = `${file}.link`;
  symlinkSync(file, link);
  lchownSync(link, 12_345, 0);
  expect(() => readTrusted(link)).toThrow("belongs to another user (uid 12345)");
  chownSync(file, 12_345, 0);
  expect(() => readTrusted(file)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(`${file} belongs to another user (uid 12345)`),
      hint: expect.stringContaining("copy it to a file that you own"),
    }),
  );
});

test("refuses a file of another user to a user who is not root", async () => {
  const file = await fileWith(0o644);
  if (uid === undefined || uid === 0) return;
  expect(() => readTrusted(file, uid + 1)).toThrow("belongs to another user");
});
