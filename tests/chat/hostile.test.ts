import { expect, test } from "vitest";
import { type Chat, openChat } from "./support/chat.ts";
import { say, toolCall } from "./support/model-endpoint.ts";
import { rawControls } from "./support/raw-controls.ts";
import { hostileText, httpTestServer, stdioTestServer } from "./support/test-server.ts";

/** Expects that hostile texts were shown, as escaped text only. */
function expectEscaped({ terminal }: Chat): void {
  expect(rawControls(terminal.raw())).toEqual([]);
  const text = terminal.history();
  expect(text).toContain("hostile-start");
  expect(text).toContain(String.raw`\x1b[2J`);
}

test.each([
  ["stdio", () => stdioTestServer({ hasHostileNames: true })],
  ["HTTP", () => httpTestServer({ hasHostileNames: true, revision: "2025-11-25" })],
])("lists hostile names, titles and descriptions over %s", async (_, open) => {
  const chat = await openChat({ server: await open(), rows: 60 });
  const { terminal, send, idle } = chat;
  for (const command of ["/tools", "/prompts", "/resources", "/servers", "/why", "/why tools"]) await send(command);
  await idle();
  for (const menu of ["/name", "/call name", "@hostile", "/tools name"]) {
    await terminal.type(menu);
    await terminal.waitFor(/^[* ] .*hostile.*\n> \S/m);
    terminal.key("ctrl-c");
    await idle();
  }
  expectEscaped(chat);
});

test("calls a tool with a hostile name and hostile arguments", async () => {
  const chat = await openChat({ server: stdioTestServer({ hasHostileNames: true }), rows: 60 });
  const { terminal, idle } = chat;
  await idle();
  await terminal.type("/call name");
  await terminal.waitFor(/^ {2}server_.*hostile/m);
  terminal.key("tab");
  await terminal.waitFor(/^> \/call server_name/m);
  terminal.key("enter");
  await terminal.waitFor(/hostile-end.*\):/s);
  await terminal.waitForCursor();
  terminal.paste(`value ${hostileText}`);
  await terminal.waitFor("value hostile-start");
  terminal.key("enter");
  await terminal.waitFor("called hostile-start");
  await idle();
  expectEscaped(chat);
});

test("shows a hostile result, hostile progress and a hostile log message", async () => {
  const chat = await openChat();
  await chat.send("/call hostile");
  await chat.terminal.waitFor(/^result hostile-start/m);
  await chat.idle();
  expect(chat.terminal.history()).toContain("[error] server hostile-start");
  expectEscaped(chat);
});

test("shows a hostile prompt and a hostile resource", async () => {
  const chat = await openChat();
  await chat.send("/server:hostile_prompt");
  await chat.terminal.waitFor(/^prompt hostile-start/m);
  await chat.send("Read @server:note://hostile");
  await chat.terminal.waitFor(/^note hostile-start/m);
  await chat.send("/attached");
  await chat.idle();
  expectEscaped(chat);
});

test("shows a hostile answer of the model, also if a sequence is in two parts", async () => {
  const parts = Array.from({ length: 9 }, (_, index) => hostileText.slice(index * 40, (index + 1) * 40));
  const chat = await openChat({ script: [say(...parts, "\u001b", "[2J", "\u009b", "31m", hostileText)] });
  await chat.send("Attack");
  await chat.terminal.waitFor("100 tokens in");
  await chat.idle();
  expectEscaped(chat);
});

test("shows hostile arguments of a call, a hostile tool name and a hostile reason of a failure", async () => {
  const chat = await openChat({
    rows: 80,
    script: [
      say(toolCall("server__echo", { text: hostileText, [hostileText]: "extra" })),
      say(toolCall(`server__${hostileText}`, { text: hostileText })),
      say("Done."),
      { status: 400, message: hostileText },
    ],
  });
  const { terminal, send, answer } = chat;
  await send("Echo");
  await terminal.waitFor("[v]iew?");
  await answer("[v]iew?", "v");
  await answer("[v]iew?", "y");
  await terminal.waitFor(/^Done\.$/m);
  await send("Fail");
  await terminal.waitFor("rejected the request (HTTP status 400)");
  // The message can be sent again.
  await terminal.waitFor(() => terminal.cursor().line.startsWith("> Fail"));
  terminal.key("ctrl-c");
  await chat.idle();
  expectEscaped(chat);
});

test("shows hostile sampling requests and answers", async () => {
  const chat = await openChat({ rows: 60, script: [say(hostileText)] });
  const { terminal, send, answer } = chat;
  await send(`/call ask_model ${JSON.stringify({ question: `question ${hostileText}` })}`);
  await terminal.waitFor("question hostile-start");
  await answer("[v]iew?", "v");
  await answer("[v]iew?", "y");
  await terminal.waitFor("Send it to the server?");
  await answer("[v]iew?", "y");
  await terminal.waitFor("the model answered");
  await chat.idle();
  expectEscaped(chat);
});

test("shows the stderr of a server that fails, and its error, as escaped text", async () => {
  const code = `process.stderr.write(${JSON.stringify(`stderr ${hostileText}\n`)}); process.exitCode = 1`;
  const chat = await openChat({ server: null, args: ["--verbose", "--", process.execPath, "-e", code], waits: false });
  await chat.terminal.waitFor(/node failed:/);
  await chat.terminal.waitFor("stderr hostile-start");
  await chat.send("/servers");
  await chat.idle();
  expectEscaped(chat);
});

test("stores and shows hostile texts of a conversation that is continued", async () => {
  const chat = await openChat({ script: [say(hostileText)] });
  await chat.send(`Title ${hostileText}`);
  await chat.terminal.waitFor("100 tokens in");
  await chat.leave();
  const { home } = chat.terminal;
  const again = await openChat({ home, args: ["--resume", "last"], script: [] });
  await again.terminal.waitFor("Continued: Title hostile-start");
  await again.idle();
  expectEscaped(again);
  const missing = await openChat({ home, args: ["--resume", `x${hostileText}`], server: null, waits: false });
  await missing.terminal.exit;
  expectEscaped(missing);
});
