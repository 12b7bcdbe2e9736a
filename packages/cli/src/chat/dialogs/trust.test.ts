import type { ServerIdentity, TrustRequest } from "@mcparley/host";
import { describe, expect, test } from "vitest";
import { styleFor } from "../../client/terminal-text.ts";
import { hostile, plainView, scriptedDialogs, signal } from "./testing/scripted-prompter.ts";
import { shellWord } from "./trust.ts";

const files: ServerIdentity = {
  kind: "command",
  command: ["files-server", "--root", "/home/ann/my notes"],
  executable: "/usr/local/bin/files-server",
  cwd: "/home/ann",
  environment: ["LANG", "TOKEN"],
};

const wiki: ServerIdentity = {
  kind: "url",
  url: "https://wiki.example.com/mcp?key=…&a=b",
  headers: ["authorization"],
};

function request(changes: Partial<TrustRequest> = {}): TrustRequest {
  return { server: "files", identity: files, previous: undefined, remarks: [], ...changes };
}

test("shows the program, and what has changed since it was trusted", async () => {
  const previous: ServerIdentity = { ...files, command: ["files-server"], environment: [] };
  const remarks = ['Another program or address was trusted under the name "files" before.'];
  const { renderer, screen } = scriptedDialogs(["yes"]);
  expect(await renderer.trust(request({ previous, remarks }), signal)).toEqual({ action: "trust" });
  expect(screen()).toMatchInlineSnapshot(`
    "
    Start the server "files"?
    It is a program on this computer, and can do everything that you can do.
      Command       files-server --root '/home/ann/my notes'
      Executable    /usr/local/bin/files-server
      Folder        /home/ann
      Variables     LANG, TOKEN (values are not shown)
    You trusted this name before. These facts were different:
      Command       files-server
      Variables     none
    ! Another program or address was trusted under the name "files" before.
    A yes is remembered until one of these facts changes.
    Start it? [y]es, [n]o? yes
    "
  `);
});

test("shows the URL with its host", async () => {
  const { renderer, screen } = scriptedDialogs(["n"]);
  const asked = request({ server: "wiki", identity: wiki, remarks: ["The connection is not encrypted."] });
  expect(await renderer.trust(asked, signal)).toEqual({ action: "deny" });
  expect(screen()).toMatchInlineSnapshot(`
    "
    Connect to the server "wiki"?
    It is a server at a URL. It receives what the model and you send to it.
      URL           https://wiki.example.com/mcp?key=…&a=b
      Host          wiki.example.com
      Headers       authorization (values are not shown)
    ! The connection is not encrypted.
    A yes is remembered until one of these facts changes.
    Connect? [y]es, [n]o? n
    "
  `);
});

test("emphasizes the host with colours", async () => {
  const { renderer, screen } = scriptedDialogs(["n"], {}, { ...plainView, style: styleFor(true, {}) });
  await renderer.trust(request({ identity: wiki }), signal);
  expect(screen()).toContain("https://\u001b[7mwiki.example.com\u001b[27m/mcp?key=…&a=b\n");
});

test("states that the difference is not shown if the shown facts are equal", async () => {
  const { renderer, screen } = scriptedDialogs(["n"]);
  await renderer.trust(request({ identity: wiki, previous: wiki }), signal);
  expect(screen()).toContain("You trusted this name before. The difference is in a part that is not shown.\n");
});

test("cuts a very long command, which can be viewed", async () => {
  const identity = { ...files, command: ["run", ...Array.from({ length: 600 }, (_, index) => `word${index}`)] };
  const { renderer, screen } = scriptedDialogs(["v", "y"]);
  expect(await renderer.trust(request({ identity }), signal)).toEqual({ action: "trust" });
  const [cut = "", whole = ""] = screen().split("[v]iew? v\n");
  expect(cut).toMatch(/ {2}… \d+ lines are not shown\n/);
  expect(cut).not.toContain("word300");
  expect(whole).toContain("word300");
});

describe("shellWord", () => {
  test.each([
    ["--root=/a.b", "--root=/a.b"],
    ["", "''"],
    ["a b", "'a b'"],
    ["a  b", "'a  b'"],
    ["it's", String.raw`'it'\''s'`],
    ["$HOME;rm", "'$HOME;rm'"],
    ["größe", "'größe'"],
    ["a\nb\t'\\", String.raw`$'a\nb\t\'\\'`],
    ["a\u00a0b\u200b\u{e0041}\u001b", String.raw`$'a\u00a0b\u200b\U000e0041\u001b'`],
  ])("%j is written as %s", (word, shown) => {
    expect(shellWord(word)).toBe(shown);
  });
});

test("words of a command and names cannot look like lines of the chat", async () => {
  const identity = { ...files, command: [hostile, hostile], cwd: hostile, environment: [hostile] };
  const { renderer, screen } = scriptedDialogs(["n"]);
  await renderer.trust(request({ server: hostile, identity, previous: wiki, remarks: [hostile] }), signal);
  expect(screen()).not.toMatch(/[^ -~\n…]/);
  expect(screen()).not.toMatch(/^(The server|Call it)/m);
});
