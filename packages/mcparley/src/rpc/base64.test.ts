import { expect, test } from "vitest";
import { fromBase64Url, isBase64, toBase64Url } from "./base64.ts";

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

test.each(["", "QUJD", "QUI=", "QQ=="])("%j is base64", (text) => {
  expect(isBase64(text)).toBe(true);
});

test.each(["QUI", "QQ=A", "Q===", "====", "QU_-", "QUJ\n"])("%j is not base64", (text) => {
  expect(isBase64(text)).toBe(false);
});

test("a text of 64 MiB is checked", () => {
  const text = Buffer.alloc(64 * 2 ** 20, "QUJD").toString("latin1");
  expect(isBase64(text)).toBe(true);
  expect(isBase64(`${text.slice(0, -1)}!`)).toBe(false);
});
