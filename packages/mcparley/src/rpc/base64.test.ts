import { expect, test } from "vitest";
import { fromBase64Url, toBase64Url } from "./base64.ts";

test("decodes its own encoding", () => {
  for (const bytes of [[], [0], [255, 254], [1, 2, 3], [251, 255, 191, 0]]) {
    expect([...(fromBase64Url(toBase64Url(Uint8Array.from(bytes))) ?? [])]).toEqual(bytes);
  }
});

test.each([
  ["a character of base64 only", "+/+/"],
  ["padding", "AA=="],
  ["a space", "AA AA"],
  ["an impossible length", "A"],
  ["bits that are not used", "AB"],
])("a text with %s is refused", (_, text) => {
  expect(fromBase64Url(text)).toBeUndefined();
});
