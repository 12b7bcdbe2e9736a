import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { quotedWord } from "./quoted-word.ts";

test("a word without special characters is not changed", () => {
  for (const word of ["server.js", "~/notes/a-b_c.ts", "C:\\notes", "@acme/notes@1.2.3"])
    expect(quotedWord(word)).toBe(word);
});

test("a word with special characters is in the quotes of the system's shell", () => {
  expect(quotedWord("a b/it's", "linux")).toBe(String.raw`'a b/it'\''s'`);
  expect(quotedWord("C:\\a b", "win32")).toBe('"C:\\a b"');
});

test.skipIf(process.platform === "win32")("a shell reads the same word", () => {
  for (const word of ["a b", "it's", 'a "b"', "$HOME `x` \\ !", "ü", "a\nb", "*", "", "#a", "a;b"]) {
    const { stdout } = spawnSync("/bin/sh", ["-c", `printf %s ${quotedWord(word)}`], { encoding: "utf8" });
    expect(stdout).toBe(word);
  }
});
