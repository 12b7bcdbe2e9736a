import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { quotedWord } from "../../packages/cli/src/terminal/quoted-word.ts";
import { openChat } from "./support/chat.ts";
import { hold, say, toolCall } from "./support/model-endpoint.ts";
import { isRunning, processesOfHome, sendSignal } from "./support/process-tree.mjs";
import { type Terminal, openTerminal, program } from "./support/terminal.ts";
import { stdioTestServer } from "./support/test-server.ts";

const slow = toolCall("server__slow", { interval: 10 });
const allowed = ["--allow", "slow"];

/** Waits until no process of the chat and of its servers runs. */
async function expectNoProcess({ home }: Terminal): Promise<void> {
  await expect.poll(() => processesOfHome(home).filter(isRunning)).toEqual([]);
}

test("cancels the call, then the turn, and then leaves", async () => {
  const server = stdioTestServer();
  const { terminal, received, requests, send, idle } = await openChat({
    server,
    args: allowed,
    script: [say(slow), say("The call was", hold().held)],
  });
  await send("Work");
  await terminal.waitFor(/^server__slow: \d+ step/m);
  terminal.key("ctrl-c");
  await terminal.waitFor("The call is cancelled. Press Ctrl-C again to stop the answer.");
  await expect.poll(() => server.events()).toContainEqual({ event: "cancelled" });
  await terminal.waitFor("The call was");
  expect(JSON.stringify(requests[1]?.messages)).toContain("cancelled");
  terminal.key("ctrl-c");
  await terminal.waitFor("Stopped.");
  await (
    await received(2)
  ).disconnected;
  await idle();
  terminal.key("ctrl-c");
  await terminal.waitFor("Press Ctrl-C again within 2 seconds to leave.");
  terminal.key("ctrl-c");
  expect(await terminal.exit).toEqual({ code: 0, signal: undefined });
  expect(terminal.screen()).toMatch(/Continue this conversation with: mcparley chat --resume \w{10}$/m);
  await expectNoProcess(terminal);
});

test("cancels several calls with one Ctrl-C", async () => {
  const server = stdioTestServer();
  const { terminal, send } = await openChat({ server, args: allowed, script: [say(slow, slow), say("Both ended.")] });
  await send("Work twice");
  await terminal.waitFor(() => terminal.screen().match(/^server__slow: \d+ step/gm)?.length === 2);
  terminal.key("ctrl-c");
  await terminal.waitFor("Both ended.");
  await expect.poll(() => server.events().filter(({ event }) => event === "cancelled")).toHaveLength(2);
});

test("closes the question of a call with Ctrl-C, and calls nothing", async () => {
  const server = stdioTestServer();
  const { terminal, send } = await openChat({
    server,
    script: [say(toolCall("server__echo", { text: "a" })), say("Cancelled, then.")],
  });
  await send("Echo it");
  await terminal.waitFor("[v]iew?");
  terminal.key("ctrl-c");
  await terminal.waitFor("Cancelled, then.");
  expect(server.events().map(({ event }) => event)).toEqual(["started"]);
});

test("stops an answer that has not begun, and offers its message again", async () => {
  const { terminal, received, send, idle } = await openChat({ script: [() => hold().held.then(() => say("never"))] });
  await send("Hello");
  await terminal.waitFor("Waiting for the model (Ctrl-C stops)");
  const request = await received(1);
  terminal.key("ctrl-c");
  await terminal.waitFor("Stopped.");
  await request.disconnected;
  await terminal.waitFor(() => terminal.cursor().line.startsWith("> Hello"));
  terminal.key("ctrl-c");
  await idle();
});

test("empties a typed text with Ctrl-C, and leaves with two at an empty one", async () => {
  const { terminal, idle, send } = await openChat();
  await terminal.type("half a mess");
  terminal.key("ctrl-c");
  await idle();
  await terminal.type("/");
  await terminal.waitFor(/^\* \/help/m);
  terminal.key("ctrl-c");
  await idle();
  expect(terminal.screen()).not.toContain("to leave");
  terminal.key("ctrl-c");
  await terminal.waitFor("Press Ctrl-C again within 2 seconds to leave.");
  // The chat goes on, and a Ctrl-C with another effect does not count.
  await send("/roots");
  await terminal.waitFor("No folder is shared with servers.");
  await terminal.type("text");
  terminal.key("ctrl-c");
  await idle();
  terminal.press("\u0003\u0003");
  expect(await terminal.exit).toEqual({ code: 0, signal: undefined });
  await expectNoProcess(terminal);
});

test("leaves with Ctrl-D only at an empty text", async () => {
  const { terminal, leave } = await openChat();
  await terminal.type("ab");
  terminal.key("home");
  await terminal.waitFor(() => terminal.isCursorVisible() && terminal.cursor().column === 2);
  terminal.key("ctrl-d");
  await terminal.waitForCursor(/^> b$/);
  terminal.key("ctrl-d");
  expect(await leave()).toBe(0);
  await expectNoProcess(terminal);
});

test("keeps the text that is typed during an answer for the next message", async () => {
  const { held, release } = hold();
  const { terminal, requests, send } = await openChat({ script: [say("One", held, " two."), say("Three.")] });
  await send("Count");
  await terminal.waitFor(/^One$/m);
  await terminal.type("go");
  // Enter sends nothing while the model answers.
  terminal.key("enter");
  await terminal.type(" on");
  await terminal.waitForCursor(/^> go on$/);
  release();
  await terminal.waitFor("100 tokens in");
  await terminal.waitFor(/servers connected.*\n> go on$/);
  expect(terminal.screen()).toContain("One two.");
  expect(requests).toHaveLength(1);
  terminal.key("enter");
  await terminal.waitFor("Three.");
  expect(requests[1]?.messages.at(-1)).toEqual({ role: "user", content: "go on" });
});

/** Returns the files of stored conversations. */
function storedChats({ home }: Terminal): string[] {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  return names.filter((name) => /\/[a-z\d]{10}\.json$/.test(name));
}

test.each([
  ["SIGTERM", ({ pid }: Terminal) => sendSignal(pid, "SIGTERM"), { code: 0, signal: undefined }],
  ["SIGHUP", ({ pid }: Terminal) => sendSignal(pid, "SIGHUP"), { code: undefined, signal: "SIGHUP" }],
  ["the end of its window", (terminal: Terminal) => terminal.hangUp(), { code: undefined, signal: "SIGHUP" }],
])("stores the conversation and ends its servers at %s", async (_, end, outcome) => {
  const { terminal, send } = await openChat({ script: [say("Hello."), say("Unfinished", hold().held)] });
  await send("Hi");
  await terminal.waitFor("100 tokens in");
  await send("Go on");
  await terminal.waitFor("Unfinished");
  end(terminal);
  expect(await terminal.exit).toEqual(outcome);
  await expectNoProcess(terminal);
  expect(storedChats(terminal)).toHaveLength(1);
});

test("ends during a call when the window is closed, and leaves no process", async () => {
  const server = stdioTestServer();
  const { terminal, send } = await openChat({ server, args: allowed, script: [say(slow)] });
  await send("Work");
  await terminal.waitFor(/^server__slow: \d+ step/m);
  terminal.hangUp();
  await terminal.exit;
  await expectNoProcess(terminal);
});

test("restores the terminal when it leaves", async () => {
  const { terminal, leave } = await openChat();
  expect(terminal.emulator.modes.bracketedPasteMode).toBe(true);
  await leave();
  expect(terminal.emulator.modes.bracketedPasteMode).toBe(false);
  expect(terminal.raw().lastIndexOf("\u001b[?25h")).toBeGreaterThan(terminal.raw().lastIndexOf("\u001b[?25l"));
});

test("returns to the shell with Ctrl-Z, and continues with fg", async () => {
  const { command } = stdioTestServer();
  const terminal = openTerminal({
    command: ["bash", "--norc", "--noprofile", "-i"],
    env: { PS1: "shell: ", HISTFILE: "/dev/null" },
    columns: 100,
  });
  await terminal.waitFor("shell:");
  const words = [process.execPath, program, "chat", "--", ...command];
  terminal.paste(words.map((word) => quotedWord(word, "linux")).join(" "));
  terminal.key("enter");
  await terminal.waitFor("1 of 1 servers connected");
  await terminal.type("half a text");
  terminal.key("ctrl-z");
  await terminal.waitFor(/Stopped[\s\S]*^shell: *$/m);
  terminal.paste("echo the shell is here");
  terminal.key("enter");
  await terminal.waitFor(/^the shell is here$/m);
  terminal.paste("fg");
  terminal.key("enter");
  await terminal.waitForCursor(/^> half a text$/);
  terminal.key("ctrl-u");
  await terminal.waitForCursor(/^>$/);
  terminal.key("ctrl-d");
  await terminal.waitFor(/^shell: *$/m);
});
