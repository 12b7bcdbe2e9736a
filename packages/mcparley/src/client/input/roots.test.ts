import { expect, test } from "vitest";
import { checkRoots } from "./input-requests.ts";

test.each([
  "file:///",
  "file:///home/a",
  "file:///home/a.b/..c/d..",
  "file:///C:/a",
  "file://host/share",
  "file:///a%20b",
])("%s is a root", (uri) => {
  expect(checkRoots([{ uri }])).toEqual([{ uri }]);
});

test.each([
  "https://example.com/a",
  "/home/a",
  "",
  7,
  "file:///home/a/../b",
  "file:///home/a/..",
  "file:///home/./b",
  "file:///home/%2e%2E/b",
  "file:///home/.%2e/b",
  "file:///home%2f..%2fb",
  "file:///C:/a\\..\\b",
  "file:///a%5C..%5Cb",
])("%s is none", (uri) => {
  const roots = [{ uri: "file:///a" }, { uri: uri as string }];
  expect(() => checkRoots(roots)).toThrow(expect.objectContaining({ code: "invalid_result" }) as Error);
});

test("what is no array of roots is refused by name", () => {
  expect(() => checkRoots("file:///a" as never)).toThrow("must be an array of roots");
});
