import { expect, test } from "vitest";
import { expectLinearTime } from "./linear-time.ts";

const growing = { head: "", unit: "a", tail: "b" };

test("accepts linear work", async () => {
  await expectLinearTime(growing, (text) => text.split("").toSorted().length);
});

test("rejects quadratic work", async () => {
  // Work that is quadratic is so at each attempt.
  const checked = expectLinearTime(growing, (text) => /a+c/.test(text), { tries: 2 });
  await expect(checked).rejects.toThrow("8 times the input takes");
});
