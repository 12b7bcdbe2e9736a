import { expect, test } from "vitest";
import { type ChatSummary, findChatId, idOfFile, newChatId } from "./chat-file.ts";

const ids = ["abcdefghjk", "abcdmnpqrs", "wxyz234567"];
const chats = ids.map((id, index): ChatSummary => ({
  id,
  createdAt: 0,
  updatedAt: 9 - index,
  title: `Chat ${index}`,
  model: undefined,
  targets: [],
}));
const find = (word: string): string => findChatId(word, ids, chats);

test("makes different ids of ten letters and digits without look-alikes", () => {
  const made = Array.from({ length: 1000 }, newChatId);
  expect(new Set(made).size).toBe(1000);
  expect(made.filter((id) => !/^[a-hjkmnp-z2-9]{10}$/.test(id) || idOfFile(`${id}.json`) !== id)).toEqual([]);
});

test("finds an id, its unique start of four characters in any case, and the newest conversation", () => {
  expect([find("abcdefghjk"), find("wxyz"), find("WXYZ2"), find("last")]).toEqual([ids[0], ids[2], ids[2], ids[0]]);
});

test("refuses a start of three characters", () => {
  expect(() => find("wxy")).toThrow('"wxy" is too short. The start of an id has at least 4 characters.');
});

test("refuses the start of several ids, and names them", () => {
  expect(() => find("abcd")).toThrow(
    expect.objectContaining({
      message: 'Several stored conversations start with "abcd".',
      hint: "They are: abcdefghjk, abcdmnpqrs.",
    }),
  );
});

test("suggests a similar id, and lists the newest conversations", () => {
  expect(() => find("wxyz234568")).toThrow(
    expect.objectContaining({
      message: 'There is no stored conversation "wxyz234568".',
      hint:
        'Did you mean "wxyz234567"? Stored are: abcdefghjk (Chat 0), abcdmnpqrs (Chat 1), wxyz234567 (Chat 2). ' +
        "--resume last continues the newest one.",
    }),
  );
});

test("escapes an unknown word and the titles of other conversations", () => {
  const titled = chats.map((chat) => ({ ...chat, title: "\u001b[2Jx" }));
  expect(() => findChatId("\u001b[2Jabcd", ids, titled)).toThrow(
    expect.objectContaining({
      message: 'There is no stored conversation "\\\\x1b[2Jabcd".',
      hint: expect.stringMatching(/^Stored are: abcdefghjk \(\\x1b\[2Jx\), /),
    }),
  );
});

test("states that nothing is stored", () => {
  expect(() => findChatId("last", [], [])).toThrow("There is no stored conversation.");
  expect(() => findChatId("abcd", [], [])).toThrow(expect.objectContaining({ hint: "No conversation is stored." }));
});

test("reads ids from the names of files", () => {
  expect(idOfFile("abcdefghjk.json")).toBe("abcdefghjk");
  const others = ["abcdefghjk.json.bak", ".abcdefghjk.lock", "abcdefghj.json", "ABCDEFGHJK.json", "abcdefghil.json"];
  expect(others.map(idOfFile)).toEqual(others.map(() => undefined));
});
