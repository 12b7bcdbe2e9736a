import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import type { RootsHandler } from "../options.ts";
import { inputRequests } from "./input-requests.ts";

function listRoots(roots: RootsHandler): Promise<JsonObject> {
  const source = {
    target: "test",
    server: undefined,
    during: undefined,
    signal: new AbortController().signal,
    progress: () => {},
  };
  return inputRequests({ roots }, () => {})("roots/list", {}, source);
}

test.each([
  "file:///",
  "file:///home/a",
  "file:///home/a.b/..c/d..",
  "file:///C:/a",
  "file://host/share",
  "file:///a%20b",
])("%s is a valid root", async (uri) => {
  expect(await listRoots([{ uri }])).toEqual({ roots: [{ uri }] });
});

test.each([
  "https://example.com/a",
  "/home/a",
  "",
  7,
  "file:///a\ud83d",
  "file:///home/a/../b",
  "file:///home/a/..",
  "file:///home/./b",
  "file:///home/%2e%2E/b",
  "file:///home/.%2e/b",
  "file:///home%2f..%2fb",
  "file:///C:/a\\..\\b",
  "file:///a%5C..%5Cb",
])("%s is not a valid root", async (uri) => {
  const roots = [{ uri: "file:///a" }, { uri: uri as string }];
  await expect(listRoots(roots)).rejects.toMatchObject({ code: "invalid_result" });
});

test("a value other than an array of roots is rejected with a message that shows it", async () => {
  await expect(listRoots("file:///a" as never)).rejects.toThrow("must be an array of roots");
});
