import { expect, test } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import { isLastingRefusal, withoutSecrets } from "./oauth-error.ts";

test("a known secret anywhere in a long text is removed, and white space becomes one space", () => {
  expect(withoutSecrets("a\r\n\u200b\tsecret-1 b", ["secret-1"])).toBe("a [redacted] b");
  expect(withoutSecrets(`${" ".repeat(16_380)}secret-1`, ["secret-1"])).not.toMatch(/sec/);
});

test("the start of a secret at the end of the part that is read is not shown", () => {
  // The address is recognized by the character behind the password, which is not read.
  const password = "p".repeat(500);
  const text = (spaces: number) => `see${" ".repeat(spaces)}https://user:${password}@a.example`;
  expect(withoutSecrets(text(1), [])).toBe("see https://[redacted]@a.example");
  expect(withoutSecrets(text(16_000), [])).not.toMatch(/ppp/);
});

test.each([
  ["invalid_grant", true],
  ["bad_refresh_token", true],
  ["BadRequest", true],
  ["bad_verification_code", true],
  ["token_expired", true],
  ["bad_gateway", false],
  ["BadGateway", false],
  ["slow_down", false],
])("whether a refusal with the code %s is lasting: %s", (code, isLasting) => {
  const error = new LocalError("authorization_failed", "Refused.", { data: { status: 400, error: code } });
  expect(isLastingRefusal(error)).toBe(isLasting);
});
