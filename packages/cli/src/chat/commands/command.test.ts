import { expect, test } from "vitest";
import { UsageError } from "../../terminal/io.ts";
import { requireNamed, splitWords, wordMenu } from "./command.ts";

test("splits words at spaces, and keeps quoted ones together", () => {
  expect(splitWords("  a  b ")).toEqual(["a", "b"]);
  expect(splitWords(`add "my folder" 'it is "x"' key="a b"`)).toEqual(["add", "my folder", 'it is "x"', "key=a b"]);
  expect(splitWords(String.raw`text="say \"hi\" \\ now"`)).toEqual([String.raw`text=say "hi" \ now`]);
  expect(splitWords("")).toEqual([]);
});

test("keeps JSON as one word", () => {
  expect(splitWords(`search {"query": "a b", "limit": 3}`)).toEqual(["search", `{"query": "a b", "limit": 3}`]);
});

test("rejects a quote without its end", () => {
  expect(() => splitWords(`say "hello`)).toThrow(UsageError);
});

test("offers the entries for the last word", () => {
  const entries = [{ value: "on" }, { value: "off" }, { value: "reconnect" }];
  expect(wordMenu("o", entries).entries.map(({ value }) => value)).toEqual(["on", "off", "reconnect"]);
  expect(wordMenu("", entries)).toMatchObject({ replaces: 0 });
  expect(wordMenu("on of", entries)).toMatchObject({ entries: [{ value: "off" }], replaces: 2 });
});

test("names the most similar entry for an unknown one", () => {
  expect(() => requireNamed("server", "nots", new Map([["notes", 1]]))).toThrow('There is no server "nots".');
});

test.each([
  [`x filter:={"a":1}`, ["x", `filter:={"a":1}`]],
  [`x filter:={"a": [1, "b c"]} limit=3`, ["x", `filter:={"a": [1, "b c"]}`, "limit=3"]],
  [`x filter={"a": "it's"}`, ["x", `filter={"a": "it's"}`]],
  [`x list:=["a b", "c"] q="two words"`, ["x", `list:=["a b", "c"]`, "q=two words"]],
  [`x text:="a \\"b\\" c"`, ["x", `text:="a \\"b\\" c"`]],
  [`x text:='"quoted"'`, ["x", `text:="quoted"`]],
  [`x {"a": {"b": "}"}} c=1`, ["x", `{"a": {"b": "}"}}`, "c=1"]],
  [`x {"a": 1`, ["x", `{"a": 1`]],
  [`x text=[draft] b=1`, ["x", "text=[draft]", "b=1"]],
  [`x text={"a"}b`, ["x", "text={a}b"]],
  [`x n:=3 t:=true`, ["x", "n:=3", "t:=true"]],
])("reads JSON as JSON in %s", (text, words) => {
  expect(splitWords(text)).toEqual(words);
});
