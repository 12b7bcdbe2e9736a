import { expect, test } from "vitest";
import { expectLinearTime } from "./linear-time.ts";

const growing = { head: "", unit: "a", tail: "b" };

test("accepts linear work", async () => {
  await expectLinearTime(growing, (text) => text.split("").toSorted().length);
});

test("rejects quadratic work", async () => {
  await expect(expectLinearTime(growing, (text) => /a+c/.test(text))).rejects.toThrow("8 times the input takes");
});
