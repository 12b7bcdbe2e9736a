import { expect, test } from "vitest";
import { isBase64, isLooseBase64 } from "./base64.ts";

test.each(["", "QUJD", "QUI=", "QQ=="])("%j is base64, with and without the rule about padding", (text) => {
  expect([isBase64(text), isLooseBase64(text)]).toEqual([true, true]);
});

test.each(["QUI", "QQ=", "QUJDQ", "==", "="])("%j is base64 only if the padding may be missing", (text) => {
  expect([isBase64(text), isLooseBase64(text)]).toEqual([false, true]);
});

test.each(["QQ=A", "Q===", "QU_-", "QUJ\n", "QU D", "QUJé"])("%j is not base64", (text) => {
  expect([isBase64(text), isLooseBase64(text)]).toEqual([false, false]);
});

test("a text of 64 MiB is checked", () => {
  const text = Buffer.alloc(64 * 2 ** 20, "QUJD").toString("latin1");
  expect(isBase64(text)).toBe(true);
  expect(isBase64(`${text.slice(0, -1)}!`)).toBe(false);
});
