import fc from "fast-check";
import { expect, test } from "vitest";
import { isRegex } from "./regex-syntax.ts";

function isNativeRegex(text: string): boolean {
  try {
    return Boolean(new RegExp(text, "u"));
  } catch {
    return false;
  }
}

test.each(
  [
    [
      "",
      "a",
      "a|",
      "|",
      "()",
      "(a)*",
      "(?:a)+?",
      "(?=a)",
      "(?!a)b",
      "(?<=a)",
      "(?<!a)",
      "a{2}",
      "a{2,}?",
      "a{2,2}",
      "a{0}",
    ],
    ["^a$", String.raw`\b\B`, "[]", "[^]", "[a-z]", "[a-]", "[-a]", "[a-b-c]", "[--a]", "[^-]", "[[]", "[*-+]", "[^^]"],
    [String.raw`[\b-\x10]`, String.raw`[\w-]`, String.raw`[-\w]`, String.raw`[\]\-]`, String.raw`[\0-\cA]`, "[😀-😎]"],
    [
      String.raw`[\ud83d\ude00-\u{1F60E}]`,
      String.raw`\ud83d\ude00*`,
      "😀+",
      String.raw`\u{10FFFF}`,
      String.raw`\u{0000000041}`,
    ],
    [
      String.raw`(?<a>x)\k<a>`,
      String.raw`\k<a>(?<a>x)`,
      String.raw`(?<$_é>x)`,
      String.raw`(x)\1`,
      String.raw`\1(x)`,
      String.raw`\0`,
    ],
    [
      String.raw`\p{L}`,
      String.raw`\P{Script=Greek}`,
      String.raw`[\p{Lu}\d]`,
      String.raw`\/\.\^\$\*\+\?\(\)\[\]\{\}\|\\`,
      "/",
      "a-b",
    ],
    [
      "\n",
      "\u2028",
      "\ud800",
      "[\ud800]",
      "[\udc00-\udfff]",
      String.raw`[\ud800-\udfff]`,
      String.raw`(?<\u0061b>x)\k<\u0061b>`,
    ],
  ].flat(),
)("accepts %j, as the runtime does", (text) => {
  expect([isRegex(text), isNativeRegex(text)]).toEqual([true, true]);
});

test.each(
  [
    [
      "(",
      ")",
      "(?",
      "(?a)",
      "[",
      "[a",
      "]",
      "{",
      "}",
      "a{",
      "a{1",
      "a{1,",
      "a{,1}",
      "a{2,1}",
      "*",
      "+a",
      "a**",
      "a{1}{2}",
      "a+?+",
    ],
    ["^*", "$+", String.raw`\b?`, "(?=a)*", "(?!a)+", "(?<=a)?", "(?<!a){2}", "(*a)", "a|*", "a||+"],
    [
      "[b-a]",
      String.raw`[\w-a]`,
      String.raw`[a-\d]`,
      String.raw`[\p{L}-z]`,
      "[😎-😀]",
      String.raw`[\u{1F60E}-\ud83d\ude00]`,
      String.raw`[\cB-\x01]`,
    ],
    [
      "\\",
      String.raw`\a`,
      String.raw`\-`,
      String.raw`\_`,
      String.raw`\é`,
      String.raw`\c`,
      String.raw`\c1`,
      String.raw`\x1`,
      String.raw`\u12`,
      String.raw`\u{}`,
    ],
    [
      String.raw`\u{110000}`,
      String.raw`\00`,
      String.raw`\1`,
      String.raw`(a)\2`,
      String.raw`\k`,
      String.raw`\k<a>`,
      String.raw`(?<a>x)\k<b>`,
      "[\\",
    ],
    [
      "(?<a>x)(?<a>y)",
      "(?<1>x)",
      "(?<>x)",
      "(?<a",
      String.raw`\p`,
      String.raw`\p{}`,
      String.raw`\p{Nonsense}`,
      String.raw`\p{Script=No}`,
      String.raw`[\p{No such}]`,
    ],
    [String.raw`[\k<a>]`, String.raw`[\B]`, String.raw`[\1]`, String.raw`[\00]`, String.raw`^\S(|(.|\n)*\S)\Z`],
  ].flat(),
)("refuses %j, as the runtime does", (text) => {
  expect([isRegex(text), isNativeRegex(text)]).toEqual([false, false]);
});

test("agrees with the runtime about random parts of patterns", () => {
  const part = fc.oneof(
    fc.constantFrom(...Array.from("()[]{}*+?|^$\\-.,:=!<>/09aAbBcdDkpPsuwxFf😀\ud800\n")),
    fc.constantFrom(
      "(?:",
      "(?=",
      "(?<=",
      "(?<n>",
      "(?<m>",
      "\\k<n>",
      "\\p{L}",
      "\\u{1F600}",
      "\\ud83d\\ude00",
      "[a-z]",
      "{1,2}",
      "\\x41",
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      // Later editions allow a name twice, in different alternatives.
      fc.pre(!/\(\?<(.)>.*\(\?<\1>/s.test(text) && !/\(\?-?[ims]*-?[ims]*:/.test(text.replaceAll("(?:", "")));
      expect([text, isRegex(text)]).toEqual([text, isNativeRegex(text)]);
    }),
    { numRuns: 20_000 },
  );
});
