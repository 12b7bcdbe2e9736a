import { expect, test } from "vitest";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { redact } from "./redact.ts";

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
