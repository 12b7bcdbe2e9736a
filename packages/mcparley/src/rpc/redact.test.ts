import { describe, expect, test } from "vitest";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { redact, redactKnown } from "./redact.ts";

test.each([
  ["API_KEY=abc123 rest", "API_KEY=[redacted] rest"],
  ['{"clientSecret":"a b c","x":1}', '{"clientSecret":[redacted],"x":1}'],
  ["Authorization: Bearer abc.def-ghi", "Authorization: [redacted]"],
  ["sent Bearer abcdefgh12345 to it", "sent Bearer [redacted] to it"],
  ["Authorization: DPoP abc.def-ghi", "Authorization: [redacted]"],
  ["sent DPoP abcdefgh12345 to it", "sent DPoP [redacted] to it"],
  ["the DPoP challenge is missing", "the DPoP challenge is missing"],
  ["serve --api-key s3cr3t --port 1", "serve --api-key [redacted] --port 1"],
  [
    "GET https://me:pw@example.com/x?access_token=abc&y=1",
    "GET https://[redacted]@example.com/x?access_token=[redacted]&y=1",
  ],
  ["key sk-abcdefghijklmnopqrstu.", "key [redacted]."],
  ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "jwt [redacted]"],
  ["cut off: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx", "cut off: [redacted]"],
  ['cut off: {"api_key":"abc', 'cut off: {"api_key":[redacted]'],
  ["cut off: token='abc", "cut off: token=[redacted]"],
  ["set-cookie: sid=1; Path=/", "set-cookie: [redacted]; Path=/"],
])("%s", (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test.each([
  "The tokenizer failed at line 3.",
  "no such file: secrets.txt",
  "Connection to https://example.com/mcp failed",
])("keeps %s unchanged", (text) => {
  expect(redact(text)).toBe(text);
});

test.each(["bearer ", "dpop 1", "sk-", "eyJ", "eyJaaaaaaaa.", "token=", 'token="', "AIza"])(
  "redacts a secret of 8 MB after %s",
  (start) => {
    const isRedacted = /^(?:bearer |dpop |token=)?\[redacted\]$/.test(redact(start + "A".repeat(8_388_608)));
    expect(isRedacted).toBe(true);
  },
);

test.each(["token", "a.", "--", '"', "bearer ", "://", "eyJaaaaaaaaa", "-eyJaaaaaaaaa"])(
  "reads text that is nearly a secret in linear time: %s",
  async (unit) => {
    await expectLinearTime({ head: "", unit, tail: "" }, redact);
  },
);

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
