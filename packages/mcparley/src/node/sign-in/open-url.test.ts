import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { type OpenUrlOptions, openUrl } from "./loopback-sign-in.ts";

async function launched(url: string, options: OpenUrlOptions = {}): Promise<string[] | undefined> {
  let seen: string[] | undefined;
  const launch = async (command: string, args: readonly string[]): Promise<void> => {
    seen = [command, ...args];
  };
  await openUrl(url, { platform: "linux", env: { DISPLAY: ":0" }, launch, ...options }).catch(() => {});
  return seen;
}

test.each([["https://a.example/x y"], ["http://localhost:8080/"], ["http://127.1.2.3/"], ["http://[::1]/"]])(
  "%s is opened",
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
])("%s is never opened, with any browser", async (url) => {
  expect(await launched(url)).toBeUndefined();
  expect(await launched(url, { env: { BROWSER: "firefox" } })).toBeUndefined();
});

test("each system has a program to open URLs, and BROWSER has precedence", async () => {
  const url = "https://a.example/";
  expect(await launched(url, { platform: "darwin", env: {} })).toEqual(["open", url]);
  expect(await launched(url, { platform: "win32", env: {} })).toEqual(["rundll32", "url.dll,FileProtocolHandler", url]);
  expect(await launched(url, { env: { WAYLAND_DISPLAY: "wayland-0" } })).toEqual(["xdg-open", url]);
  expect(await launched(url, { env: { BROWSER: "/opt/my browser" } })).toEqual(["/opt/my browser", url]);
});

test("reports a missing display on Linux", async () => {
  await expect(openUrl("https://a.example/", { platform: "linux", env: {} })).rejects.toThrow("no display");
});

test("a program is started without a shell: its argument is unchanged", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-open-"));
  // Otherwise a package.json above the folder could make the script an ES module.
  writeFileSync(path.join(folder, "package.json"), "{}");
  const browser = path.join(folder, "browser");
  const script = `#!${process.execPath}
    const { renameSync, writeFileSync } = require("node:fs");
    writeFileSync(__filename + ".part", process.argv[2]);
    renameSync(__filename + ".part", __filename + ".url");`;
  writeFileSync(browser, script, { mode: 0o700 });
  const url = "https://a.example/?a=1&b=$(id);`id`|";
  await openUrl(url, { env: { BROWSER: browser } });
  await expect.poll(() => existsSync(`${browser}.url`)).toBe(true);
  expect(readFileSync(`${browser}.url`, "utf8")).toBe(new URL(url).href);
  rmSync(folder, { recursive: true });
});

test("reports a browser that does not exist", async () => {
  await expect(openUrl("https://a.example/", { env: { BROWSER: "mcparley-no-such-browser" } })).rejects.toThrow(
    "ENOENT",
  );
});
