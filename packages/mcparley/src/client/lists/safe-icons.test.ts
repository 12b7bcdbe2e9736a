import { expect, test } from "vitest";
import { withSafeIcons } from "./safe-icons.ts";

const withIcons = (...sources: unknown[]): { name: string; icons: { src: unknown }[] } => ({
  name: "a",
  icons: sources.map((src) => ({ src })),
});

test.each([
  "https://example.com/a.png",
  "HTTPS://example.com/a.png",
  "data:image/png;base64,AAAA",
  "http://localhost:3000/a.png",
  "http://127.0.0.1/a.png",
  "http://[::1]:80/a.png",
])("an icon at %s is kept", (src) => {
  const given = withIcons(src);
  expect(withSafeIcons(given, undefined)).toBe(given);
});

test.each([
  "javascript:alert(1)",
  " javascript:alert(1)",
  "file:///etc/passwd",
  "ftp://example.com/a.png",
  "ws://example.com/",
  "vscode://settings",
  "http://example.com/a.png",
  "http://localhost.example.com/a.png",
  "http://127.0.0.1.example.com/a.png",
  "http://localhost@example.com/a.png",
  "/a.png",
  "",
  7,
  undefined,
])("an icon at %s is omitted", (src) => {
  const leftOut: unknown[] = [];
  const rest = withSafeIcons(withIcons("https://example.com/a.png", src), undefined, (icon) => leftOut.push(icon));
  expect(rest).toEqual(withIcons("https://example.com/a.png"));
  expect(leftOut).toEqual([{ src }]);
});

test("an icon of another origin than the server's is omitted", () => {
  const own = ["https://example.com/a.png", "https://EXAMPLE.com:443/b.png", "data:image/png;base64,AAAA"];
  const others = ["https://example.com:444/a.png", "https://cdn.example.com/a.png", "http://localhost/a.png"];
  expect(withSafeIcons(withIcons(...own, ...others), "https://example.com")).toEqual(withIcons(...own));
});

test("an object without icons is returned unchanged", () => {
  const given = { name: "a" };
  expect(withSafeIcons(given, undefined)).toBe(given);
});
