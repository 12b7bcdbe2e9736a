import { describe, expect, test } from "vitest";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { redactKnown } from "./redact-known.ts";

describe("a known secret", () => {
  const secret = `4/0A\\+b =é"'<~`;

  test.each([
    ["literal", secret],
    ["percent-encoded", encodeURIComponent(secret)],
    ["percent-encoded in part", secret.replace("/", "%2f").replace("=", "%3D")],
    ["form-encoded", new URLSearchParams({ "": secret }).toString().slice(1)],
    ["JSON", JSON.stringify(secret).slice(1, -1)],
    ["JSON of PHP", JSON.stringify(secret).slice(1, -1).replace("/", "\\/").replace("é", "\\u00e9")],
    ["JSON in JSON", JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["percent-encoded twice", encodeURIComponent(encodeURIComponent(secret))],
    ["JSON in a URL", encodeURIComponent(JSON.stringify(secret).slice(1, -1))],
    ["HTML twice", secret.replace("<", "&amp;lt;").replace('"', "&amp;quot;").replace("'", "&amp;#x27;")],
    ["HTML", secret.replace("<", "&lt;").replace('"', "&quot;").replace("'", "&#x27;")],
  ])("is removed in its form as %s", (_, form) => {
    expect(redactKnown(`code ${form}, ${form}.`, [secret])).toBe("code [redacted], [redacted].");
  });

  test("is not found in other words", () => {
    expect(redactKnown("Code ABCD, abc", ["code", "abc"])).toBe("Code ABCD, abc");
  });

  test.each([
    ["an encoding", "%2Fabc%25"],
    ["an entity", "a&amp;b&lt;c"],
    ["backslashes", "ab\\\\b\\u0041cd"],
    ["an astral character", "a😀bc"],
    ["a line break", "ab\ncd"],
  ])("with %s is removed in all forms", (_, text) => {
    const forms = [text, encodeURIComponent(text), new URLSearchParams({ "": text }).toString().slice(1)];
    for (const form of [...forms, JSON.stringify(text).slice(1, -1)])
      expect(redactKnown(`<${form}>`, [text])).toBe("<[redacted]>");
  });

  test("that was cut after 64 characters is removed as far as it agrees", () => {
    const long = "abcdefgh".repeat(100);
    expect(redactKnown(`${long.slice(0, 64)}!`, [long])).toBe("[redacted]!");
    expect(redactKnown(`${long.slice(0, 63)}!`, [long])).toBe(`${long.slice(0, 63)}!`);
    expect(redactKnown(`${long} ${long.slice(0, 200)}.`, [long])).toBe("[redacted] [redacted].");
  });

  test("that overlaps another one is removed with it", () => {
    expect(redactKnown("(abcdefghijkl)", ["abcdefgh", "efghijkl"])).toBe("([redacted])");
    expect(redactKnown("(abcdefghijkl)", ["efgh", "abcdefghijkl"])).toBe("([redacted])");
  });

  test("is removed up to the limit of a text, which is cut there", () => {
    const text = "a".repeat(131_068);
    expect(redactKnown(`${text}wxyz`, ["wxyz"])).toBe(`${text}[redacted]`);
    expect(redactKnown(`${text}-wxyz`, ["wxyz"])).toBe(`${text}-wxy`);
  });

  test.each(["-".repeat(4_096), "-".repeat(1_000_000), `${"%25".repeat(1_300)}X`, `${"\\-".repeat(2_047)}X`])(
    "of any length and any characters is searched: %#",
    (secret) => {
      expect(redactKnown(`(${secret.slice(0, 131_000)})`, [secret])).toBe("([redacted])");
    },
  );

  test.each([
    ["a", "a"],
    ["\\", "\\"],
    ['\\"', '\\\\\\"'],
    ["&;", "&a;"],
    ["%25", "%25"],
    ["-", "%25"],
    ["\\-", "\\u"],
    ["&amp;", "&amp;amp;"],
    ["25", "%2525"],
  ])("of repeated %s is searched in linear time in %s", async (unit, repeated) => {
    const secrets = [`${unit.repeat(8)}!`, `${unit.repeat(2_000)}!`];
    await expectLinearTime({ head: "", unit: repeated, tail: "" }, (text) => redactKnown(text, secrets));
  });
});
