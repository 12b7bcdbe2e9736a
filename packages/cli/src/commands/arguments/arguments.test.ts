import { describe, expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { UsageError } from "../../terminal/io.ts";

const files = new Map([
  ["a.txt", "text\n"],
  ["a.json", '{"a":1}'],
]);
const sources = {
  file: async (path: string): Promise<string> => files.get(path) ?? Promise.reject(new UsageError(`no ${path}`)),
  stdin: async (): Promise<string> => "from stdin",
};
const read = (...words: string[]): ReturnType<typeof readArguments> => readArguments(words, sources);

describe("readArguments", () => {
  test("reads text, JSON, files and stdin", async () => {
    expect(await read("a=b=c", "n:=[1, true]", "f=@a.txt", "j:=@a.json", "s=@-", "empty=")).toEqual([
      { key: "a", form: "text", value: "b=c" },
      { key: "n", form: "json", value: [1, true] },
      { key: "f", form: "text", value: "text\n" },
      { key: "j", form: "json", value: { a: 1 } },
      { key: "s", form: "text", value: "from stdin" },
      { key: "empty", form: "text", value: "" },
    ]);
  });

  test("keeps dots, colons and repeated keys as they are written", async () => {
    const given = await read("a.b=1", "x:y=2", "a.b=3", "text=two\nlines");
    expect(given.map(({ key, value }) => [key, value])).toEqual([
      ["a.b", "1"],
      ["x:y", "2"],
      ["a.b", "3"],
      ["text", "two\nlines"],
    ]);
  });

  test.each([
    ["word", '"word" is not an argument.'],
    ["=x", '"=x" is not an argument.'],
    [":=1", "is not an argument."],
    ["a:={", "The value of a is not JSON"],
    ["a=@", '"a=@" names no file'],
    ["a=@missing", "no missing"],
  ])("%s is refused", async (word, message) => {
    await expect(read(word)).rejects.toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringContaining(message) }),
    );
  });

  test("refuses two arguments that read stdin", async () => {
    await expect(read("a=@-", "b:=@-")).rejects.toThrow("only one argument may be @-");
  });

  test("reads all arguments from a JSON object, as a word, in a file or on stdin", async () => {
    const all = [
      { key: "a", form: "json", value: 1 },
      { key: "b", form: "json", value: "x=y" },
    ];
    const text = '{"a": 1, "b": "x=y"}';
    const given = { file: async () => text, stdin: async () => text };
    for (const word of [text, `  ${text}`, "@file.json", "@-"]) expect(await readArguments([word], given)).toEqual(all);
  });

  test("replaces a member of the object by key=value, before or after the object", async () => {
    const given = [
      { key: "b", form: "json", value: 2 },
      { key: "a", form: "text", value: "3" },
    ];
    expect(await readArguments(['{"a":1,"b":2}', "a=3"], sources)).toEqual(given);
    expect(await readArguments(["a=3", '{"a":1,"b":2}'], sources)).toEqual(given);
  });

  test("reads a word that starts with @ as a key if it has a value", async () => {
    expect(await readArguments(["@type=Person"], sources)).toEqual([{ key: "@type", form: "text", value: "Person" }]);
  });

  test.each([
    [["{a: 1}"], "The arguments are not JSON"],
    [["[1]"], "The arguments must be a JSON object"],
    [["@list.json"], "The arguments must be a JSON object"],
    [['{"a":1}', '{"b":1}'], "only one JSON object"],
    [["@-", "a=@-"], "stdin can be read once"],
    [["@"], "names no file after the @"],
  ])("%j is refused", async (words, message) => {
    const list = { file: async () => "[1]", stdin: async () => "{}" };
    await expect(readArguments(words, list)).rejects.toThrow(message);
  });
});
