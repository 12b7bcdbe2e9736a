import { expect, test } from "vitest";
import { matchesArgument } from "./argument-pattern.ts";

test.each([
  "/home/ann/../../etc/passwd",
  "/home/ann/..",
  "/home/ann/%2e%2E/etc",
  "/home/ann/..%2fetc",
  "/home/ann\\..\\etc",
  "/home/ann/.%2e%5cetc",
  "/home/ann/%252e%252e/etc",
  "/home/ann/%25252e%25252e%25252fetc",
  "/home/ann/%2e%252e%2fetc",
  `/home/ann/%${"25".repeat(20)}2e%2e/etc`,
  "/home/ann/%c0%ae%c0%ae/etc",
  "/home/ann/..%c0%afetc",
  "/home/ann/..%c1%9cetc",
  "/home/ann/%u002e%u002e/etc",
  "/home/ann/%ef%bc%8e%ef%bc%8e/etc",
  "/home/ann/\uff0e\uff0e/etc",
  "/home/ann/\u2025/etc",
  "/home/ann/..\u2215etc",
  "/home/ann/..\u29f5etc",
  "/home/ann/.\u200b./etc",
  "/home/ann/.. /etc",
  "/home/ann/... /etc",
  "/home/ann/..../etc",
  "/home/ann/..;x=1/etc",
  "/home/ann/..\0/etc",
  "/home/ann/..?a",
  "/home/ann/..#a",
  "/home/ann/C:..\\etc",
  "/home/ann/a ../../etc",
  "/home/ann/key\0.txt",
  "/home/ann/key%00.txt",
])("a wildcard of an allow rule does not match %j", (path) => {
  expect(matchesArgument("allow", "/home/ann*", path)).toBe(false);
  expect(matchesArgument("allow", '["/home/ann*"]', JSON.stringify([path]))).toBe(false);
  expect(matchesArgument("allow", path, path)).toBe(true);
  expect(matchesArgument("allow", "*", path)).toBe(true);
  for (const decision of ["deny", "ask"] as const) expect(matchesArgument(decision, "/home/ann*", path)).toBe(true);
});

test.each([
  "/home/ann/a..b/...c",
  "/home/ann/./a",
  "/home/ann//a",
  "/home/ann/100%",
  "/home/ann/100%25.txt",
  "/home/ann/a%20b%2525",
  "/home/ann/münchen",
  "/home/ann/.env",
  "/home/ann/a and b\nc",
])("a wildcard of an allow rule matches %j", (path) => {
  expect(matchesArgument("allow", "/home/ann*", path)).toBe(true);
});

test.each([
  ["https://example.com/*", "https://example.com/a?b=c#d", true],
  ["https://example.com/*", "https://example.com/a/%2e%2e/b", false],
  ["https://example.com/*", "https://example.com.evil.org/a", false],
  ["https://example.com/*", "https://example.com@evil.org/", false],
  ["https://example.com/*", "https://EXAMPLE.com/a", false],
  ["https://example.com/*", "https://example.com:444/a", false],
  ["https://example.com/*", "http://example.com/a", false],
  ["https://example.com/*", "https:example.com/a", false],
  ["https://example.com/*", "https://example.com./a", false],
  ["https://example.com*", "https://example.com", true],
  ["https://example.com*", "https://example.com/a", true],
  ["https://example.com*", "https://example.com:8443/a", true],
  ["https://example.com*", "https://example.com.evil.org/a", false],
  ["https://example.com*", "https://example.com@evil.org/a", false],
  ["https://example.com*", "https://example.com:a@evil.org/a", false],
  ["https://example.com*", "https://example.community/a", false],
  ["http://localhost:*", "http://localhost:3000/a", true],
  ["http://localhost:*", "http://localhost:3000@evil.org/a", false],
  ["https://*.example.com/*", "https://api.example.com/a", true],
  ["https://*.example.com/*", "https://bücher.example.com/a", true],
  ["https://*.example.com/*", "https://evil.org/.example.com/a", false],
  ["https://*.example.com/*", "https://evil.org?.example.com/a", false],
  ["https://*.example.com/*", "https://evil.org#.example.com/a", false],
  ["https://*.example.com/*", "https://evil.org\\.example.com/a", false],
  ["https://*.example.com/*", "https://evil.org%2f.example.com/a", false],
  ["https://*.example.com/*", "https://evil.org\uff0f.example.com/a", false],
  ["https://*.example.com/*", "https://evil.org\t/.example.com/a", false],
  ["https://*.example.com/*", "https://a@b.example.com/a", false],
  ["https://me@example.com/*", "https://me@example.com/a", true],
  ["https://me@*.example.com/*", "https://me@evil.org@a.example.com/a", false],
  ["http*://example.com/*", "https://example.com/a", true],
  ["http*://example.com/*", "http://evil.org://example.com/a", false],
  ["*://example.com/*", "ftp://example.com/a", true],
  ["https://*", "https://anything.org/a", true],
  ["https://*", "https://user@anything.org/a", false],
  ["file:///home/ann/*", "file:///home/ann/a", true],
  ["file:///home/ann/*", "file://localhost/home/ann/a", false],
  ["file:///home/ann/*", "file:///home/ann/%252e%252e/bob", false],
  ["/home/ann/*", "file:///home/ann/a", false],
  ["note:*", "note:a@b", true],
])("the pattern %s of an allow rule and the URL %j: %s", (pattern, url, expected) => {
  expect(matchesArgument("allow", pattern, url)).toBe(expected);
});
