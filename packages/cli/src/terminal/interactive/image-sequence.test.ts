import { expect, test } from "vitest";
import { imageSequence } from "./image-sequence.ts";

const kitty = { TERM: "xterm-kitty" };
const iterm = { TERM_PROGRAM: "iTerm.app" };
const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(7);

/** Returns the parts of a sequence of kitty: the settings and the data of each. */
function kittyParts(sequence: string | undefined): { settings: string; data: string }[] {
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  const found = [...(sequence ?? "").matchAll(/\u001b_G([^;]*);([^\u001b]*)\u001b\\/g)];
  expect(found.map(([whole]) => whole).join("")).toBe(sequence);
  return found.map(([, settings = "", data = ""]) => ({ settings, data }));
}

test("shows a PNG with the protocol of kitty, without replies of the terminal", () => {
  const [part, ...others] = kittyParts(imageSequence(bytes(3), "image/png", kitty));
  expect(others).toEqual([]);
  expect(part).toEqual({ settings: "a=T,f=100,q=2,m=0", data: "BwcH" });
});

test("sends a large PNG in parts of at most 4096 characters", () => {
  const data = bytes(3 * 4096);
  const parts = kittyParts(imageSequence(data, "image/png", kitty));
  expect(parts.map(({ settings }) => settings)).toEqual(["a=T,f=100,q=2,m=1", "m=1", "m=1", "m=0"]);
  expect(parts.every((part) => part.data.length <= 4096)).toBe(true);
  expect(Buffer.from(parts.map((part) => part.data).join(""), "base64")).toEqual(Buffer.from(data));
});

test.each([
  [3072, 1],
  [3073, 2],
])("sends a PNG of %i bytes in %i parts", (length, count) => {
  expect(kittyParts(imageSequence(bytes(length), "image/png", kitty))).toHaveLength(count);
});

test("kitty shows no other type", () => {
  for (const type of ["image/jpeg", "image/svg+xml", "text/plain"]) {
    expect(imageSequence(bytes(3), type, kitty)).toBeUndefined();
  }
});

test("shows each type of image with the protocol of iTerm2", () => {
  for (const type of ["image/png", "image/jpeg", "image/gif"]) {
    expect(imageSequence(bytes(3), type, iterm)).toBe(
      "\u001b]1337;File=inline=1;size=3;preserveAspectRatio=1:BwcH\u0007",
    );
  }
  expect(imageSequence(bytes(3), "application/pdf", iterm)).toBeUndefined();
});

test.each([
  ["WezTerm", { TERM_PROGRAM: "WezTerm" }, "\u001b]1337;"],
  ["kitty by its window", { KITTY_WINDOW_ID: "1" }, "\u001b_G"],
  ["Ghostty", { TERM: "xterm-ghostty" }, "\u001b_G"],
  ["Ghostty by its resources", { GHOSTTY_RESOURCES_DIR: "/usr/share/ghostty" }, "\u001b_G"],
])("recognizes %s", (_name, env, start) => {
  expect(imageSequence(bytes(3), "image/png", env)?.startsWith(start)).toBe(true);
});

test.each([
  ["an unknown terminal", { TERM: "xterm-256color" }],
  ["a terminal without a name", {}],
  ["tmux", { ...kitty, TMUX: "/tmp/tmux-1000/default,1,0" }],
  ["screen", { ...iterm, STY: "1.pts" }],
])("shows no image in %s", (_name, env) => {
  expect(imageSequence(bytes(3), "image/png", env)).toBeUndefined();
});

test("shows an image of 8 MiB, and none that is empty or larger", () => {
  expect(imageSequence(bytes(0), "image/png", iterm)).toBeUndefined();
  expect(imageSequence(bytes(8 * 1024 * 1024), "image/png", iterm)).toBeDefined();
  expect(imageSequence(bytes(8 * 1024 * 1024 + 1), "image/png", iterm)).toBeUndefined();
});

test("uses only the bytes of a view", () => {
  const whole = new Uint8Array([1, 2, 3, 4]);
  expect(imageSequence(whole.subarray(1, 3), "image/png", iterm)).toContain(
    `:${Buffer.from([2, 3]).toString("base64")}`,
  );
});
