import { expect, test } from "vitest";
import { findUnsafe } from "./safe-url.ts";

test("a URL of 16,384 characters is safe, and a longer one is not", () => {
  const url = `https://a.example/${"b".repeat(16_384 - 18)}`;
  expect(findUnsafe(url)).toBeUndefined();
  expect(findUnsafe(`${url}b`)).toMatch(
    /^url must have at most 16384 characters; got 16385: "https:\/\/a\.example\/b+"$/,
  );
});
