import { describe, expect, test } from "vitest";
import { isLoopback, isSecureUrl } from "./loopback.ts";

describe("isLoopback", () => {
  test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.255.255.254", "::1", "[::1]"])("accepts %s", (host) =>
    expect(isLoopback(host)).toBe(true),
  );

  test.each(["http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://[0:0:0:0:0:0:0:1]/"])(
    "accepts the hostname of %s, which the URL parser normalizes",
    (url) => expect(isLoopback(new URL(url).hostname)).toBe(true),
  );

  test.each(["app.localhost", "a.b.localhost", ".localhost", "localhost.", "localhost.localdomain"])(
    "rejects %s, which a resolver may send to DNS",
    (host) => expect(isLoopback(host)).toBe(false),
  );

  test.each([
    "",
    "localhost.example.com",
    "localhost:3000",
    "127.0.0.1.example.com",
    "127.example.com",
    "128.0.0.1",
    "1127.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "::",
    "[::1",
    "::1]",
    "[::11]",
    "[::ffff:127.0.0.1]",
    "127.0.0.1\n",
  ])("rejects %j", (host) => expect(isLoopback(host)).toBe(false));
});

test.each([
  ["https://example.com/", true],
  ["http://localhost:3000/a", true],
  ["http://127.0.0.2/", true],
  ["http://[::1]:8/", true],
  ["http://app.localhost/", false],
  ["http://example.com/", false],
  ["http://localhost@example.com/", false],
  ["ws://localhost/", false],
  ["javascript:alert(1)", false],
])("whether %s is secure: %s", (url, expected) => expect(isSecureUrl(new URL(url))).toBe(expected));
