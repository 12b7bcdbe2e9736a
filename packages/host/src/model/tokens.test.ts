import { expect, test } from "vitest";
import { estimateTokens } from "./tokens.ts";

test.each([
  ["nothing", "", 0],
  ["white space", " \n\t", 0],
  ["a word of 7 letters", "weather", 1],
  ["a word of 8 letters", "weathers", 2],
  ["3 digits", "123", 1],
  ["4 digits", "1234", 2],
  ["symbols beside letters", "{a}", 3],
  ["each character outside of ASCII", "日本語", 3],
  ["an emoji of two UTF-16 units", "😀", 1],
])("the estimate counts %s", (_name, text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

test("the estimate of a sentence is at least the number of its words", () => {
  const sentence = "The server returned the newest notes of the week.";
  expect(estimateTokens(sentence)).toBeGreaterThanOrEqual(sentence.split(" ").length);
});
