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
    ["HTML", secret.replace("<", "&lt;").replace('"', "&quot;").replace("'", "&#x27;")],
  ])("is removed in its form as %s", (_, form) => {
    expect(redactKnown(`code ${form}, ${form}.`, [secret])).toBe("code [redacted], [redacted].");
  });

  test("is not found in other words", () => {
    expect(redactKnown("Code ABCD, abc", ["code", "abc"])).toBe("Code ABCD, abc");
  });

  test.each([
    ["a", "a"],
    ["\\", "\\"],
    ['\\"', '\\\\\\"'],
    ["&;", "&a;"],
  ])("of repeated %s is searched in linear time", async (unit, repeated) => {
    const secrets = [`${unit.repeat(8)}!`];
    await expectLinearTime({ head: "", unit: repeated, tail: "" }, (text) => redactKnown(text, secrets));
  });
});
