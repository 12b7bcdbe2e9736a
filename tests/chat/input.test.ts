import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openChat, targetOf } from "./support/chat.ts";
import { openModelEndpoint, say, toolCall } from "./support/model-endpoint.ts";
import { rawControls } from "./support/raw-controls.ts";
import { environmentOf, newHome, openTerminal, program } from "./support/terminal.ts";
import { stdioTestServer } from "./support/test-server.ts";

const lines = "first line\n\tsecond line\n\nlast line";

test("does not submit a paste of several lines, and sends it as one message", async () => {
  const { terminal, requests } = await openChat({ script: [say("Read.")] });
  terminal.paste(`${lines}\n`);
  await terminal.waitFor(/^> first line\n {6}second line\n\n {2}last line$/m);
  expect(requests).toEqual([]);
  terminal.key("enter");
  await terminal.waitFor("Read.");
  expect(requests[0]?.messages.at(-1)).toEqual({ role: "user", content: lines });
});

test("does not submit a paste without markers, as from a terminal without bracketed paste", async () => {
  const { terminal, requests } = await openChat({ script: [say("Read.")] });
  terminal.press("first line\r/quit\rlast line\r");
  await terminal.waitFor(/^> first line\n {2}\/quit\n {2}last line$/m);
  expect(requests).toEqual([]);
  terminal.key("enter");
  await terminal.waitFor("Read.");
  expect(requests[0]?.messages.at(-1)).toMatchObject({
    content: expect.stringContaining("first line\n/quit\nlast line"),
  });
});

test("inserts no control characters of a paste", async () => {
  const { terminal, requests } = await openChat({ script: [say("Read.")] });
  terminal.press("\u001b[200~a\u0007b\u0003\u001b[31mc\u001b[201~");
  await terminal.waitFor(/^> a.*c/m);
  terminal.key("enter");
  await terminal.waitFor("Read.");
  expect(requests[0]?.messages.at(-1).content).not.toMatch(/\p{Cc}/u);
  expect(rawControls(terminal.raw())).toEqual([]);
});

test.each([
  ["Alt-Enter", "alt-enter"],
  ["Ctrl-J", "ctrl-j"],
] as const)("inserts a line break with %s", async (_, key) => {
  const { terminal, requests } = await openChat({ script: [say("Read.")] });
  await terminal.type("one");
  await terminal.waitFor(/^> one$/m);
  terminal.key(key);
  await terminal.waitForCursor(/^$/);
  await terminal.type("two\\");
  await terminal.waitFor(/^ {2}two\\$/m);
  terminal.key("enter");
  await terminal.waitFor(/^ {2}two$/m);
  await terminal.type("three");
  await terminal.waitFor(/^> one\n {2}two\n {2}three$/m);
  terminal.key("enter");
  await terminal.waitFor("Read.");
  expect(requests[0]?.messages.at(-1)).toEqual({ role: "user", content: "one\ntwo\nthree" });
});

test("shows and edits wide characters and emoji", async () => {
  const { terminal, requests, idle } = await openChat({ script: [say("はい、", "👨‍👩‍👧 です。")] });
  await idle();
  terminal.paste("漢字👍🏽🙂x");
  await terminal.waitFor("> 漢字👍🏽🙂x");
  expect(terminal.cursor().column).toBe(2 + 4 + 2 + 2 + 1);
  terminal.key("left");
  terminal.key("backspace");
  await terminal.waitFor("> 漢字👍🏽x");
  terminal.key("enter");
  await terminal.waitFor("はい、👨‍👩‍👧 です。");
  expect(requests[0]?.messages.at(-1)).toEqual({ role: "user", content: "漢字👍🏽x" });
  expect(rawControls(terminal.raw())).toEqual([]);
});

test("Backspace deletes what a person sees as one character", async () => {
  const { terminal, send, leave } = await openChat({ script: [say("One.")] });
  await terminal.type("a👨‍👩‍👧🇩🇪e\u0301");
  await terminal.waitFor("> a👨‍👩‍👧🇩🇪e\u0301");
  terminal.key("backspace");
  await terminal.waitForCursor(/^> a👨‍👩‍👧🇩🇪$/u);
  terminal.key("left");
  terminal.key("backspace");
  await terminal.waitFor(/^> a🇩🇪$/mu);
  expect(terminal.cursor().column).toBe(3);
  terminal.key("delete");
  await terminal.waitForCursor(/^> a$/);
  terminal.key("backspace");
  await send("Hi");
  await terminal.waitFor("One.");
  expect(await leave()).toBe(0);
});

test("draws the input at the first row again without an erasure that fills the history of tmux", async () => {
  const { terminal, idle, leave } = await openChat({ rows: 12 });
  const erasures: string[] = [];
  const record = (): boolean => {
    const { cursorX, cursorY } = terminal.emulator.buffer.active;
    if (cursorX === 0 && cursorY === 0) erasures.push("at the first cell");
    return false;
  };
  terminal.key("ctrl-l");
  await terminal.waitFor(() => terminal.cursor().row <= 1);
  terminal.emulator.parser.registerCsiHandler({ final: "J" }, record);
  await terminal.type("/ser");
  await terminal.waitFor(/^\* \/servers/m);
  terminal.key("ctrl-u");
  await idle();
  expect(terminal.screen()).not.toContain("/servers");
  expect(terminal.screen().split("\n")).toHaveLength(2);
  expect(erasures).toEqual([]);
  expect(await leave()).toBe(0);
});

test("works with TERM=dumb without any control sequence", async () => {
  const server = stdioTestServer();
  const { terminal } = await openChat({
    server,
    waits: false,
    env: { TERM: "dumb" },
    script: [say(toolCall("server__echo", { text: "hello" })), say("Done.")],
  });
  await terminal.waitFor("server is connected");
  terminal.press("Echo it\r");
  await terminal.waitFor("[v]iew?");
  // The text for the next message is reported when the question takes keys.
  terminal.press("x");
  await terminal.waitFor('Your text "x" is kept for the next message.');
  terminal.press("y\r");
  await terminal.waitFor("200 tokens in");
  terminal.press("pasted line\rother line\r");
  await terminal.waitFor('2 lines were pasted. Press Enter to send them, or type "no" to discard them.');
  terminal.press("y");
  await terminal.waitFor('Your text "y" is kept for the next message.');
  terminal.press("no\r");
  await terminal.waitFor(/discard them\. no\nPress Enter to send "y", or type another message\.\n>$/);
  terminal.press("/quit\r");
  expect((await terminal.exit).code).toBe(0);
  expect(terminal.raw()).not.toContain("\u001b");
  expect(server.events()).toContainEqual({ event: "echo", text: "hello" });
});

test("uses no colours with NO_COLOR", async () => {
  const { terminal, send, leave } = await openChat({ env: { NO_COLOR: "1" }, script: [say("Hello.")] });
  await send("/help");
  await send("Hi");
  await terminal.waitFor("Hello.");
  await leave();
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  expect(terminal.raw().match(/\u001b\[[\d;]*m/g) ?? []).toEqual([]);
});

test("escapes characters that a locale without UTF-8 cannot show, or leaves them", async () => {
  const { terminal, send, leave } = await openChat({ env: { LANG: "C", LC_ALL: "C" }, script: [say("plain ä 漢")] });
  await send("Hi");
  await terminal.waitFor(/^plain /m);
  expect(await leave()).toBe(0);
  expect(rawControls(terminal.raw())).toEqual([]);
});

/** Runs a chat without a terminal. Returns its output and its exit code. */
async function pipe(args: readonly string[], input: string) {
  const home = newHome();
  mkdirSync(path.join(home, "work"));
  const options = { env: environmentOf(home), cwd: path.join(home, "work") } as const;
  const child = spawn(process.execPath, [program, "chat", ...args], options);
  child.stdin.end(input);
  const exited = once(child, "exit");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exited;
  return { stdout, stderr, code };
}

test("reads messages and commands from the lines of a pipe, and denies calls that nobody can be asked for", async () => {
  const server = stdioTestServer();
  const endpoint = await openModelEndpoint([
    say("Hello."),
    say(toolCall("server__echo", { text: "a" })),
    say("It was denied."),
  ]);
  const args = ["--lines", "--model", "small", "--base-url", endpoint.url, ...targetOf(server)];
  const { stdout, stderr, code } = await pipe(args, "Hi\nEcho it\n/call add a:=1 b:=2\n/quit\n");
  expect(code).toBe(7);
  expect(stdout).toMatch(/^Hello\.$/m);
  expect(stdout).toMatch(/^It was denied\.$/m);
  expect(stdout).toContain('{"sum":3}');
  expect(stdout + stderr).not.toContain("\u001b");
  expect(stderr).not.toContain("Hello.");
  expect(server.events().map(({ event }) => event)).toEqual(["started"]);
});

test("sends a pipe as one message, and a pipe beside --prompt as a part of it", async () => {
  const endpoint = await openModelEndpoint([say("One."), say("Two.")]);
  const model = ["--model", "small", "--base-url", endpoint.url];
  const code = "@decorator\nclass A {}\n";
  expect(await pipe(model, code)).toMatchObject({ stdout: expect.stringContaining("One."), code: 0 });
  expect(await pipe([...model, "-p", "Explain this."], code)).toMatchObject({ stdout: "Two.\n", stderr: "", code: 0 });
  const contents = endpoint.requests.map(({ messages }) => messages.slice(1));
  expect(contents).toEqual([
    [{ role: "user", content: code.trimEnd() }],
    [{ role: "user", content: `Explain this.\n\nText of stdin:\n\`\`\`\n${code}\`\`\`` }],
  ]);
});

test("exits with the code of the last failure of a pipe", async () => {
  const { stderr, code } = await pipe(targetOf(stdioTestServer()), "/call missing\n");
  expect(stderr).toContain('There is no tool "missing".');
  expect(code).toBe(1);
});

test("types into a chat whose stdout is a file", async () => {
  const { command } = stdioTestServer();
  const terminal = openTerminal({
    command: [
      "bash",
      "-c",
      '"$@" > out.txt; echo "ended with $?"; cat out.txt',
      "bash",
      process.execPath,
      program,
      "chat",
      "--",
      ...command,
    ],
    columns: 100,
  });
  await terminal.waitFor("server is connected");
  const isAsked = (): boolean => terminal.cursor().line.trimEnd() === ">";
  await terminal.waitFor(isAsked);
  terminal.press("/call echo text=hello\r");
  await terminal.waitFor("server__echo: running");
  await terminal.waitFor(isAsked);
  terminal.press("/quit\r");
  await terminal.waitFor("ended with 0");
  await terminal.waitFor(/^hello$/m);
  await terminal.exit;
});
