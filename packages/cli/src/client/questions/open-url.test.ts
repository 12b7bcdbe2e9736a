import { expect, test } from "vitest";
import { openUrl } from "./open-url.ts";

async function launched(url: string): Promise<string[] | undefined> {
  let seen: string[] | undefined;
  const launch = async (command: string, args: readonly string[]): Promise<void> => {
    seen = [command, ...args];
  };
  await openUrl(url, { platform: "linux", launch }).catch(() => {});
  return seen;
}

test.each([["https://a.example/x y"], ["http://localhost:8080/"], ["http://127.1.2.3/"], ["http://[::1]/"]])(
  "A4: %s is opened",
  async (url) => {
    expect(await launched(url)).toEqual(["xdg-open", new URL(url).href]);
  },
);

test.each([
  ["http://a.example/"],
  ["file:///etc/passwd"],
  ["javascript:alert(1)"],
  ["https://user@a.example/"],
  ["http://127.0.0.1.a.example/"],
  ["-h"],
])("A4: %s is never opened", async (url) => {
  expect(await launched(url)).toBeUndefined();
});
