import { expect, test } from "vitest";
import { userFolder } from "./state-storage.ts";

test.each([
  ["linux", { HOME: "/home/ann" }, "/home/ann/.config/mcparley/host"],
  ["linux", { HOME: "/home/ann", XDG_CONFIG_HOME: "/home/ann/my config" }, "/home/ann/my config/mcparley/host"],
  ["linux", { HOME: "/home/ann", XDG_CONFIG_HOME: "relative" }, "/home/ann/.config/mcparley/host"],
  ["darwin", { HOME: "/Users/ann" }, "/Users/ann/Library/Application Support/mcparley/host"],
  ["win32", { LOCALAPPDATA: "C:\\Users\\ann\\AppData\\Local" }, "C:\\Users\\ann\\AppData\\Local\\mcparley\\host"],
  ["win32", { USERPROFILE: "C:\\Users\\ann" }, "C:\\Users\\ann\\AppData\\Local\\mcparley\\host"],
] as const)("on %s with %o the folder of the user is %s", (platform, env, folder) => {
  expect(userFolder({ platform, env })).toBe(folder);
});
