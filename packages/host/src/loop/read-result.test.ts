import { describe, expect, test } from "vitest";
import { ResultStore } from "../conversation/server-text.ts";
import { readResult } from "./read-result.ts";

const origin = { server: "notes", name: "read" };

/** Keeps a text, and returns a function that reads it with arguments. */
function kept(text: string, maxBytes = 1000) {
  const store = new ResultStore();
  const { handle } = store.keep({ kind: "result", origin, content: Buffer.from(text) });
  return (args: object) => {
    const { content, isError } = readResult({ handle, ...args }, { store, maxBytes });
    const [answer, remark] = content.map((part) => part.text);
    const [, body] = /^<server-text[^\n]*\n([\s\S]*)\n<\/server-text/.exec(answer ?? "") ?? [];
    return { body: body ?? answer, remark, isError, from: content[0]?.from };
  };
}

describe("a part of a text", () => {
  test("has at most the bytes of the limit, whatever the model asks for", () => {
    const read = kept("x".repeat(50_000));
    expect(read({ length: 40_000 }).body).toHaveLength(1000);
    expect(read({ length: 1001 }).body).toHaveLength(1000);
    expect(read({ length: 999 }).body).toHaveLength(999);
    expect(read({}).body).toHaveLength(1000);
    expect(kept("x".repeat(50_000), 40_000)({ length: 40_000 }).body).toHaveLength(40_000);
  });

  test("has 8 KiB from the start by default", () => {
    const read = kept("x".repeat(50_000), 40_000);
    expect(read({}).body).toHaveLength(8 * 1024);
    expect(read({}).remark).toBe("Bytes 0 to 8192 of 50000. Read on with offset 8192.");
  });

  test("at the end says that it is the end, also one that is empty", () => {
    const read = kept("0123456789");
    expect(read({ offset: 4 })).toMatchObject({ body: "456789", remark: "Bytes 4 to 10 of 10. This is the end." });
    expect(read({ offset: 10 })).toMatchObject({ body: "", remark: "Bytes 10 to 10 of 10. This is the end." });
    expect(read({ offset: 11 })).toMatchObject({ body: "The text ends at byte 10.", isError: true });
    expect(read({ length: 9 }).remark).toBe("Bytes 0 to 9 of 10. Read on with offset 9.");
  });

  test("is labelled with the origin of the text", () => {
    expect(kept("a")({})).toMatchObject({ from: origin, isError: false });
  });
});

describe("a search", () => {
  test("returns at most 20 matches, with the offset of the next one", () => {
    const read = kept("needle ".repeat(21), 100_000);
    const { body, remark } = read({ find: "needle" });
    expect(body?.split("\n")).toHaveLength(20);
    expect(remark).toBe("Offsets and surroundings of 20 matches. Find more with offset 140.");
    expect(read({ find: "needle", offset: 140 }).remark).toBe(
      "Offsets and surroundings of 1 matches. These are all matches.",
    );
    expect(kept("needle ".repeat(20), 100_000)({ find: "needle" }).remark).toContain("These are all matches.");
  });

  test("has at most the bytes of the limit, and at least one match", () => {
    const read = kept(`needle${"x".repeat(500)}`.repeat(10), 450);
    const { body, remark } = read({ find: "needle" });
    expect(body?.split("\n")).toHaveLength(2);
    expect(remark).toContain("Find more with offset 1012.");
    expect(kept(`needle${"x".repeat(500)}`.repeat(2), 1)({ find: "needle" }).body?.split("\n")).toHaveLength(1);
  });

  test("shows 100 bytes around a match, in one line", () => {
    const { body } = kept(`${"a".repeat(200)}\n needle\n${"b".repeat(200)}`)({ find: "needle" });
    expect(body).toBe(`202: ${"a".repeat(98)} needle ${"b".repeat(99)}`);
  });

  test("counts bytes, finds no overlapping match, and begins at the offset", () => {
    const read = kept("ééaaaa");
    expect(read({ find: "aa" }).body).toMatch(/^4: .*\n6: /);
    expect(read({ find: "aa", offset: 5 }).body).toMatch(/^5: /);
    expect(read({ find: "é", offset: 4 })).toMatchObject({ body: "No match after byte 4.", isError: false });
  });

  test("accepts a text of 200 characters, and no longer one", () => {
    const read = kept("x".repeat(300));
    expect(read({ find: "x".repeat(200) }).isError).toBe(false);
    expect(read({ find: "x".repeat(201) }).isError).toBe(true);
  });
});

test.each([
  ["a handle that is no text", { handle: 5 }, "`handle` must be a string."],
  ["an unknown handle", { handle: "r_x" }, "The handle is unknown or has expired."],
  ["a negative offset", { offset: -1 }, "`offset` must be a whole number of bytes, 0 or more."],
  ["a fraction as offset", { offset: 0.5 }, "`offset` must be"],
  ["a text as offset", { offset: "0" }, "`offset` must be"],
  ["no length", { length: 0 }, "`length` must be a whole number of bytes, 1 or more."],
  ["a fraction as length", { length: 1.5 }, "`length` must be"],
  ["an empty text to find", { find: "" }, "`find` must be a text of 1 to 200 characters."],
  ["a number to find", { find: 5 }, "`find` must be"],
])("%s is an error that the model can correct", (_name, args, message) => {
  const { body, isError } = kept("some text")(args);
  expect(isError).toBe(true);
  expect(body).toContain(message);
});

test("a text that was read stays longer in the store than one that was not", () => {
  const store = new ResultStore({ maxBytes: 10 });
  const keep = () => store.keep({ kind: "result", origin, content: Buffer.from("12345") }).handle;
  const [first, second] = [keep(), keep()];
  readResult({ handle: first }, { store, maxBytes: 100 });
  keep();
  expect(readResult({ handle: first }, { store, maxBytes: 100 }).isError).toBe(false);
  expect(readResult({ handle: second }, { store, maxBytes: 100 }).isError).toBe(true);
});
