import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { credentialsPlace } from "./credentials-place.ts";

test.each([
  ["linux", { HOME: "/home/a" }, "/home/a/.config/mcparley/credentials"],
  ["linux", { HOME: "/home/a", XDG_CONFIG_HOME: "/c" }, "/c/mcparley/credentials"],
  ["linux", { HOME: "/home/a", XDG_CONFIG_HOME: "relative" }, "/home/a/.config/mcparley/credentials"],
  ["linux", {}, join(homedir(), ".config/mcparley/credentials")],
  ["darwin", { HOME: "/Users/a" }, "/Users/a/Library/Application Support/mcparley/credentials"],
  ["win32", { LOCALAPPDATA: "/Users/a/AppData/Local" }, "/Users/a/AppData/Local/mcparley/credentials"],
  ["win32", { USERPROFILE: "/Users/a" }, "/Users/a/AppData/Local/mcparley/credentials"],
] as const)("on %s with %j credentials are in %s", (platform, env, folder) => {
  expect(credentialsPlace({ platform, env }, false)).toEqual({ folder, usesKeychain: false });
});

test("uses the keychain in later commands after it was requested once", () => {
  const home = mkdtempSync(join(tmpdir(), "mcparley-place-"));
  const io = { platform: "linux", env: { HOME: home } } as const;
  const withKeychain = { folder: join(home, ".config/mcparley/keychain-credentials"), usesKeychain: true };
  expect(credentialsPlace(io, true)).toEqual(withKeychain);
  expect(credentialsPlace(io, false).usesKeychain).toBe(false);
  mkdirSync(withKeychain.folder, { recursive: true });
  expect(credentialsPlace(io, false)).toEqual(withKeychain);
  rmSync(home, { recursive: true });
});
