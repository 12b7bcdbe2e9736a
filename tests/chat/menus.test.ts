import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { say } from "./support/model-endpoint.ts";
import { rawControls } from "./support/raw-controls.ts";
import { type Terminal } from "./support/terminal.ts";

/** Returns the selected row of the menu, without its mark. */
function selected(terminal: Terminal): string | undefined {
  return /^\* (.*)$/m.exec(terminal.screen())?.[1];
}

/** Presses a key until the selected row starts with a text. */
async function select(terminal: Terminal, text: string, key: "down" | "up"): Promise<void> {
  for (;;) {
    if (selected(terminal)?.startsWith(text)) return;
    const before = selected(terminal);
    terminal.key(key);
    await terminal.waitFor(() => selected(terminal) !== before);
  }
}

test("shows the servers, the keys and the state at the start", async () => {
  const { terminal, leave } = await openChat();
  await terminal.waitFor("server is connected: 16 tools, 3 prompts, 5 resources, 1 template");
  const screen = terminal.screen();
  expect(screen).toMatch(/^mcparley chat without a model, and the server server$/m);
  expect(screen).toMatch(/^no model - 1 of 1 servers connected - \/ commands, @ resources$/m);
  expect(terminal.cursor()).toMatchObject({ column: 2, line: expect.stringMatching(/^>/) });
  expect(await leave()).toBe(0);
  // The hint and the input are removed at the end.
  expect(terminal.screen()).not.toContain("servers connected");
  expect(rawControls(terminal.raw())).toEqual([]);
});

test("chooses a command by the arrow keys, and closes the menu with Escape", async () => {
  const { terminal, idle } = await openChat();
  await terminal.type("/");
  await terminal.waitFor(/^\* \/help /m);
  expect(terminal.screen()).toMatch(/^ {2}\/servers +show the servers, or change one$/m);
  // 14 commands, and the prompts when the server has sent them.
  await terminal.waitFor(/^ {2}8 of 17$/m);
  terminal.key("up");
  await terminal.waitFor(/^\* \/server:/m);
  terminal.key("down");
  await terminal.waitFor(/^\* \/help /m);
  await select(terminal, "/roots", "down");
  terminal.key("enter");
  await terminal.waitForCursor(/^> \/roots$/);
  terminal.key("escape");
  await terminal.waitForGone(/^\* /m);
  terminal.key("enter");
  await terminal.waitFor("No folder is shared with servers.");
  await idle();
});

test("filters the menu while typing, and completes with Tab", async () => {
  const { terminal } = await openChat();
  await terminal.type("/mode");
  // Descriptions are searched too.
  await terminal.waitFor(/^ {2}\/why +show what the model was sent/m);
  terminal.key("ctrl-u");
  await terminal.type("/too");
  await terminal.waitFor(/^\* \/tools /m);
  terminal.key("tab");
  await terminal.waitForCursor(/^> \/tools$/);
  await terminal.type(" add");
  await terminal.waitFor(/^ {2}server__add +Adds two numbers\./m);
  terminal.key("tab");
  await terminal.waitFor("> /tools server__add");
  terminal.key("enter");
  await terminal.waitFor('"name": "server__add"');
});

test("completes the words of /servers and /call", async () => {
  const { terminal } = await openChat();
  await terminal.type("/servers o");
  await terminal.waitFor(/^ {2}off$/m);
  terminal.key("down");
  terminal.key("down");
  await terminal.waitFor(/^\* off$/m);
  terminal.key("enter");
  await terminal.waitFor(/^ {2}server {2}ready$/m);
  terminal.key("tab");
  await terminal.waitFor("> /servers off server");
  terminal.key("ctrl-c");
  await terminal.waitForCursor(/^>$/);
  await terminal.type("/call hos");
  await terminal.waitFor(/^ {2}server__hostile /m);
  terminal.key("tab");
  await terminal.waitFor("> /call server__hostile");
});

test("asks for the arguments of a prompt, with the completions of the server", async () => {
  const { terminal, requests, answer } = await openChat({ script: [say("It is fine.")] });
  await terminal.type("/rev");
  await terminal.waitFor(/^\* \/server:review +Reviews code\.$/m);
  terminal.key("enter");
  await terminal.waitForCursor(/^> \/server:review$/);
  terminal.key("enter");
  await terminal.waitFor("Arguments of server:review");
  await answer("code (required):", "let x = 1;");
  await terminal.waitFor("language (optional):");
  await terminal.waitFor(/^ {2}Rust$/m);
  await terminal.waitForCursor();
  // One character, so that no later menu replaces the one that is shown.
  await terminal.type("j");
  await terminal.waitFor(/^ {2}JavaScript$/m);
  await terminal.waitForGone(/^ {2}Rust$/m);
  terminal.key("tab");
  await terminal.waitFor("language (optional): JavaScript");
  terminal.key("enter");
  await terminal.waitFor("It is fine.");
  expect(requests[0]?.messages.at(-1)).toMatchObject({
    role: "user",
    content: expect.stringContaining("Review this code in the language JavaScript:\nlet x = 1;"),
  });
});

test("requires the required arguments, omits empty ones, and cancels with Ctrl-D", async () => {
  const { terminal, send, answer } = await openChat();
  await send("/server:review");
  await terminal.waitFor("code (required):");
  await terminal.waitForCursor();
  terminal.key("enter");
  await terminal.waitFor("This value is required. Ctrl-D cancels.");
  await answer("code (required):", "x");
  await terminal.waitFor("language (optional):");
  await terminal.waitForCursor();
  terminal.key("enter");
  await terminal.waitFor("Review this code in the language unknown:");
  await send("/server:review");
  await terminal.waitForCursor("code (required):");
  terminal.key("ctrl-d");
  await terminal.waitFor("Cancelled.");
});

test("takes arguments of a prompt from the line, and asks only for missing required ones", async () => {
  const { terminal, send, answer, refused } = await openChat();
  await send('/server:review language=Go code="a b"');
  await terminal.waitFor("Review this code in the language Go:\na b");
  await send("/server:review language=Rust");
  await answer("code (required):", "c d");
  await terminal.waitFor("Review this code in the language Rust:\nc d");
  await send("/server:review lang=Go");
  expect(await refused('The prompt server:review has no argument "lang".')).toContain('Did you mean "language"?');
  await send("/server:plain");
  await terminal.waitFor("The text of the plain prompt.");
});

test("offers the earlier texts with the arrow keys", async () => {
  const { terminal, send, idle } = await openChat();
  await send("first text");
  await send("second text");
  await idle();
  terminal.key("up");
  await terminal.waitForCursor(/^> second text$/);
  terminal.key("up");
  await terminal.waitForCursor(/^> first text$/);
  terminal.key("down");
  await terminal.waitForCursor(/^> second text$/);
});

test("Enter submits a text that matches only descriptions of the menu", async () => {
  const { terminal, idle, leave } = await openChat();
  await idle();
  await terminal.type("/model");
  // The description of /why has the word.
  await terminal.waitFor(/^ {2}\/why /m);
  terminal.key("enter");
  await terminal.waitFor("There is no command or prompt /model.");
  await idle();
  await terminal.type("Buy @milk");
  terminal.key("enter");
  await terminal.waitFor(/^\[user\]\nBuy @milk$/m);
  await idle();
  await terminal.type("/rev");
  await terminal.waitFor(/^\* \/server:review/m);
  terminal.key("enter");
  await terminal.waitForCursor(/^> \/server:review$/);
  terminal.key("ctrl-c");
  expect(await leave()).toBe(0);
});
