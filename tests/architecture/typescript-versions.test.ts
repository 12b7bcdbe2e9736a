import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

test("no source file uses the type parameter of Uint8Array, which TypeScript 5.4 to 5.6 do not support", () => {
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(100);
  const written = files.filter(({ code }) => /\bUint8Array</.test(code));
  expect(written.map(({ name }) => name)).toEqual([]);
});
