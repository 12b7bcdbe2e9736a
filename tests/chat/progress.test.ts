import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { rawControls } from "./support/raw-controls.ts";
import { say, toolCall } from "./support/model-endpoint.ts";
import { httpTestServer, stdioTestServer } from "./support/test-server.ts";

test("shows the progress of a call above the input, and removes it at the end", async () => {
  const { terminal, send, idle } = await openChat();
  await send("/call slow steps:=4 interval:=10");
  await terminal.waitFor("finished after 4 steps");
  await idle();
  // A busy machine shows several steps at once, and each of them is in the output.
  expect(terminal.raw()).toContain("server__slow: [#####...............] 25% step 1 (Ctrl-C cancels)");
  expect(terminal.raw()).toContain("server__slow: [###############.....] 75% step 3 (Ctrl-C cancels)");
  expect(terminal.history()).not.toContain("Ctrl-C cancels");
  expect(terminal.history()).not.toContain("step 3");
});

test("shows progress without a total as a number", async () => {
  const server = stdioTestServer();
  const { terminal, send } = await openChat({ server });
  await send("/call slow interval:=5");
  await terminal.waitFor(/^server__slow: \d+ step \d+ \(Ctrl-C cancels\)$/m);
  terminal.key("ctrl-c");
  await terminal.waitFor("Interrupted.");
  await expect.poll(() => server.events()).toContainEqual({ event: "cancelled" });
});

test("shows one line for each of several calls, and names their results", async () => {
  const steps = { steps: 20, interval: 20 };
  const { terminal, send } = await openChat({
    args: ["--allow", "slow", "--allow", "server:echo"],
    script: [say(toolCall("server__slow", steps), toolCall("server__echo", { text: "fast" })), say("Both.")],
  });
  await send("Call both");
  await terminal.waitFor("Both.");
  const [during = "", after = ""] = terminal.raw().split("server__echo returned:");
  expect(during).toMatch(/server__slow: .*\(Ctrl-C cancels\).*\r?\n.*server__echo: /);
  expect(after).toMatch(/server__slow: \[#+\.*\] \d+% step \d+ \(Ctrl-C cancels\)/);
  expect(terminal.history()).toMatch(/server__echo returned:\n {2}fast\nserver__slow returned:\n {2}finished after/);
});

test.each([
  ["2026-07-28 on stdio", () => stdioTestServer({ revision: "2026-07-28" })],
  ["2025-11-25 on stdio", () => stdioTestServer({ revision: "2025-11-25" })],
  ["2025-11-25 over HTTP", () => httpTestServer({ revision: "2025-11-25" })],
])("follows a task of %s, and cancels one", async (_, open) => {
  const server = await open();
  const { terminal, send } = await openChat({ server });
  await send("/call task steps:=10 interval:=30");
  await terminal.waitFor("finished after 10 steps");
  expect(terminal.raw()).toMatch(/__task: (?:task working|\[#)/);
  await send("/call task interval:=10");
  await terminal.waitFor(/__task: (?:task working|\d+ step)/);
  terminal.key("ctrl-c");
  await terminal.waitFor("Interrupted.");
  await expect.poll(() => server.events()).toContainEqual({ event: "cancelled" });
});

test("shows log messages from the level warning, or from another one", async () => {
  const first = await openChat();
  await first.send("/call log_lines");
  await first.terminal.waitFor("[error] server: the error message");
  await first.idle();
  expect(first.terminal.screen()).toContain("[warning] server: the warning message");
  expect(first.terminal.screen()).not.toMatch(/\[(?:notice|info|debug)\]/);
  const second = await openChat({ args: ["--log-level", "info"] });
  await second.send("/call log_lines");
  await second.terminal.waitFor("[error] server: the error message");
  await second.idle();
  expect(second.terminal.screen()).toContain("[info] server files: the info message");
  expect(second.terminal.screen()).toContain('[notice] server: {"text":"the notice message","size":3}');
  expect(second.terminal.screen()).not.toContain("[debug]");
});

// oxlint-disable-next-line no-control-regex -- matches escape sequences
const kitty = /^\u001b_Ga=T,f=100,q=2,m=0;[A-Za-z0-9+/]+=*\u001b\\$/;
// oxlint-disable-next-line no-control-regex -- matches escape sequences
const iterm = /^\u001b\]1337;File=inline=1;size=\d+;preserveAspectRatio=1:[A-Za-z0-9+/]+=*\u0007$/;

test.each([
  ["the protocol of kitty", { KITTY_WINDOW_ID: "1" }, kitty, "\u001b_G"],
  ["the protocol of iTerm2", { TERM_PROGRAM: "iTerm.app" }, iterm, "\u001b]1337;"],
])("shows an image with %s, and sends no other sequence", async (_, env, sequence, start) => {
  const { terminal, send, idle } = await openChat({ env });
  await send("/call picture");
  await terminal.waitFor("The picture:");
  await idle();
  expect(terminal.raw().split(start)).toHaveLength(2);
  expect(rawControls(terminal.raw(), { also: [sequence] })).toEqual([]);
  expect(rawControls(terminal.raw())).toHaveLength(1);
  expect(terminal.screen()).not.toContain("[image/png");
});

test("shows an image of a call of the model", async () => {
  const { terminal, send } = await openChat({
    env: { KITTY_WINDOW_ID: "1" },
    args: ["--allow", "picture"],
    script: [say(toolCall("server__picture")), say("A square.")],
  });
  await send("Draw it");
  await terminal.waitFor("A square.");
  expect(terminal.raw().split("\u001b_G")).toHaveLength(2);
});

test.each([
  ["of an unknown terminal", {}],
  ["inside of tmux", { KITTY_WINDOW_ID: "1", TMUX: "/tmp/tmux-1/default,1,0" }],
])("shows the type and the size of an image in place of it %s", async (_, env) => {
  const { terminal, send, idle } = await openChat({ env });
  await send("/call picture");
  await terminal.waitFor("[image/png, 85 bytes]");
  await idle();
  expect(rawControls(terminal.raw())).toEqual([]);
});
