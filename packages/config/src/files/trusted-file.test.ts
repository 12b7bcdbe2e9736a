import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, lchownSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { readTrusted, readTrustedFile } from "./trusted-file.ts";

const limit = 1024;

describe.skipIf(process.platform === "win32")("readTrusted", () => {
  test("refuses a file of another user", () => {
    const folder = temporaryFolder({ file: "x" });
    const uid = process.getuid!();
    // The file belongs to the user of the test, so that user is the other one here.
    const read = () => readTrusted(`${folder}/file`, limit, uid + 1);
    if (uid === 0) expect(read()?.bytes.toString()).toBe("x");
    else expect(read).toThrow(`belongs to another user (uid ${uid})`);
  });

  test.skipIf(process.getuid?.() !== 0)("refuses a file and a link of another user, also for root", () => {
    const folder = temporaryFolder({ file: "x", own: "x" });
    chownSync(`${folder}/file`, 12_345, 12_345);
    expect(() => readTrusted(`${folder}/file`)).toThrow(expect.objectContaining({ code: "untrusted" }));
    symlinkSync("own", `${folder}/link`);
    lchownSync(`${folder}/link`, 12_345, 12_345);
    expect(() => readTrusted(`${folder}/link`)).toThrow("belongs to another user (uid 12345)");
    expect(readTrusted(`${folder}/own`)?.bytes.toString()).toBe("x");
  });

  test.each([0o602, 0o620, 0o622, 0o646, 0o666])("refuses the mode %o with the cure", (mode) => {
    const folder = temporaryFolder({ file: "x" });
    chmodSync(`${folder}/file`, mode);
    const read = () => readTrusted(`${folder}/file`, limit, process.getuid!());
    const isOwnGroup = mode === 0o620 && process.getuid!() !== 0 && process.getgid!() === process.getuid!();
    if (isOwnGroup) expect(read()?.mode).toBe(mode);
    else expect(read).toThrow(`Check its content, then run: chmod go-w ${JSON.stringify(`${folder}/file`)}`);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "refuses a file that a group can write, except for the user's own group",
    () => {
      const file = `${temporaryFolder({ file: "x" })}/file`;
      chmodSync(file, 0o664);
      expect(() => readTrusted(file)).toThrow("Other users can write to the file (mode 664)");
      chownSync(file, 12_345, 100);
      expect(() => readTrusted(file, limit, 12_345)).toThrow("Other users can write to the file");
      chownSync(file, 12_345, 12_345);
      expect(readTrusted(file, limit, 12_345)?.bytes.toString()).toBe("x");
    },
  );

  test("does not wait for a named pipe", () => {
    const folder = temporaryFolder({});
    execFileSync("mkfifo", [`${folder}/pipe`]);
    expect(readTrusted(`${folder}/pipe`)).toBeUndefined();
  });
});

test("readTrustedFile returns the text of a file, and undefined if there is none", () => {
  const folder = temporaryFolder({ file: "text", other: new Uint8Array([0xff]), "folder/x": "" });
  expect(readTrustedFile(`${folder}/file`)).toBe("text");
  for (const name of ["missing", "file/below", "folder"]) expect(readTrustedFile(`${folder}/${name}`)).toBeUndefined();
  expect(() => readTrustedFile(`${folder}/other`)).toThrow("other: The file is not UTF-8. Save it as UTF-8.");
  if (process.platform === "win32") return;
  chmodSync(`${folder}/file`, 0o666);
  expect(() => readTrustedFile(`${folder}/file`)).toThrow(expect.objectContaining({ code: "untrusted" }));
});
