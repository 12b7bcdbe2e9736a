import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { type JsonObject, Prepared, classify, encode, failure, notification, success } from "./messages.ts";
import { printable, printableJson } from "./printable.ts";
import { repairJson, requireWellFormed, wellFormedJson } from "./well-formed.ts";

/** A text of any UTF-16 units, with many halves of pairs, backslashes and texts that look like escapes. */
const units = fc
  .array(fc.constantFrom("\ud83d", "\ude00", "😀", "\\", '"', "u", "d83d", "\\ud83d", "a", "é", "\n", "\u0000"), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    units,
    fc.integer(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(units, tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** Returns a copy of a JSON value with well-formed texts and names, by the engine's function. */
function expected(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), expected(member)]));
}

describe("wellFormedJson", () => {
  test("reads like JSON.stringify, with each half of a pair replaced in texts and names", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = wellFormedJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected(value))));
        expect(text.isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["a high half", "a\ud83d b", '"a\ufffd b"'],
    ["a low half", "\ude00", '"\ufffd"'],
    ["halves in the wrong order", "\ude00\ud83d", '"\ufffd\ufffd"'],
    ["a pair", "😀", '"😀"'],
    ["an escaped backslash before the letters of an escape", String.raw`\ud83d`, String.raw`"\\ud83d"`],
    ["a backslash before a half", "\\\ud83d", '"\\\\\ufffd"'],
    ["a private use character", "\uf8ff", '"\uf8ff"'],
    ["undefined", undefined, "null"],
  ])("%s", (_what, value, text) => {
    expect(wellFormedJson(value)).toBe(text);
  });

  test("indents like JSON.stringify", () => {
    expect(wellFormedJson({ a: ["\ud83d"] }, 2)).toBe('{\n  "a": [\n    "\ufffd"\n  ]\n}');
  });
});

test("JSON text without half of a pair is neither copied nor searched twice", () => {
  const text = JSON.stringify({ text: "a \\ backslash, \n and 😀".repeat(100) });
  const search = vi.spyOn(String.prototype, "indexOf");
  const slice = vi.spyOn(String.prototype, "slice");
  try {
    expect(repairJson(text)).toBe(text);
    expect([search.mock.calls.length, slice.mock.calls.length]).toEqual([1, 0]);
  } finally {
    search.mockRestore();
    slice.mockRestore();
  }
});

describe("every kind of message is encoded without half of a pair", () => {
  const half = "cut \ud83d";
  const whole = "cut \ufffd";
  const member = { [half]: [half, { [half]: half }] };
  const repaired = { [whole]: [whole, { [whole]: whole }] };

  test.each<[string, Parameters<typeof encode>[0], unknown]>([
    ["a request", { jsonrpc: "2.0", id: 1, method: "m", params: member }, { id: 1, method: "m", params: repaired }],
    ["a notification", notification("m", member), { method: "m", params: repaired }],
    ["a result", success(1, member), { id: 1, result: repaired }],
    ["a prepared result", success(1, new Prepared(member)), { id: 1, result: repaired }],
    [
      "an error",
      failure(1, { code: 1, message: half, data: member }),
      { id: 1, error: { code: 1, message: whole, data: repaired } },
    ],
  ])("%s", (_kind, message, content) => {
    expect(JSON.parse(encode(message))).toEqual({ jsonrpc: "2.0", ...(content as JsonObject) });
  });
});

test("an id with half of a pair is no id, because the response would have another one", () => {
  const request = { jsonrpc: "2.0", id: "a\ud83d", method: "m" };
  expect(classify(request)).toMatchObject({ kind: "invalid", id: undefined });
  expect(classify({ ...request, id: "a😀" }).kind).toBe("request");
});

test("texts and JSON for terminals and logs are well-formed", () => {
  expect(printable("a\ud83d\u202e\r\nb")).toBe("a\ufffd\\u{202e}\nb");
  expect(printableJson({ "\udc00": "a\ud83d" })).toBe('{"\ufffd":"a\ufffd"}');
});

test("a name with half of a pair is refused, and the error has its escaped value and the cure", () => {
  expect(requireWellFormed("note://😀", "its URI")).toBe("note://😀");
  const message = String.raw`its URI "note://\ud83d" has half of a surrogate pair, which cannot be sent; use whole characters`;
  expect(() => requireWellFormed("note://\ud83d", "its URI")).toThrow(new TypeError(message));
});
