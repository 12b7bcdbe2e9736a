import { expect, test } from "vitest";
import { type Chat, openChat } from "./support/chat.ts";
import { say, toolCall } from "./support/model-endpoint.ts";
import { newHome } from "./support/terminal.ts";
import { type StdioTestServer, stdioTestServer } from "./support/test-server.ts";

const question = "[v]iew?";

/** Returns the texts that the server has echoed. */
function echoed(server: StdioTestServer): unknown[] {
  return server.events().flatMap(({ event, text }) => (event === "echo" ? [text] : []));
}

/** Returns the results of calls in the last request to the model. */
function lastResults({ requests }: Chat): string {
  const { messages = [] } = requests.at(-1) ?? {};
  return JSON.stringify(messages.filter(({ role }) => role === "tool"));
}

test("shows the exact arguments, and calls the tool after a yes", async () => {
  const server = stdioTestServer();
  const text = "two words, \u001b[31m and “quotes”";
  const chat = await openChat({
    server,
    script: [say("I call it.", toolCall("server__echo", { text })), say("Done.")],
  });
  const { terminal, send, answer } = chat;
  await send("Echo it");
  await terminal.waitFor("server__echo: waits for your approval");
  const screen = await terminal.waitFor(question);
  expect(screen).toContain("I call it.");
  expect(screen).toContain('The model wants to call the tool "echo" of the server "server".');
  expect(screen).toContain("Server says   read only (not verified)");
  expect(screen).toContain("  │ Returns the text.");
  expect(screen).toContain(String.raw`"text": "two words, \u001b[31m and “quotes”"`);
  expect(echoed(server)).toEqual([]);
  await answer(question, "y");
  await terminal.waitFor("Done.");
  expect(echoed(server)).toEqual([text]);
  expect(lastResults(chat)).toContain("two words");
});

test("asks again for any text that is not an answer, and shows everything with view", async () => {
  const { terminal, send, answer } = await openChat({
    script: [say(toolCall("server__echo", { text: "a" })), say("Done.")],
  });
  await send("Echo it");
  await answer(question, "yes, please");
  await answer(question, "v");
  await terminal.waitFor("The definition of the tool, as the server sent it:");
  expect(terminal.history()).toContain('"readOnlyHint": true');
  await answer(question, "YES");
  await terminal.waitFor("Done.");
});

test("tells the model the reason for a no", async () => {
  const server = stdioTestServer();
  const chat = await openChat({ server, script: [say(toolCall("server__echo", { text: "a" })), say("I see.")] });
  await chat.send("Echo it");
  await chat.answer(question, "n");
  await chat.answer("Reason for the model (Enter: none) >", "It is not needed.");
  await chat.terminal.waitFor("I see.");
  expect(lastResults(chat)).toContain("It is not needed.");
  expect(echoed(server)).toEqual([]);
});

test("sends edited arguments, and asks again for JSON that is not valid", async () => {
  const server = stdioTestServer();
  const chat = await openChat({ server, script: [say(toolCall("server__echo", { text: "a" })), say("Done.")] });
  const { terminal, send, answer } = chat;
  await send("Echo it");
  await answer(question, "e");
  await terminal.waitForCursor(/^JSON > \{"text":"a"\}$/);
  terminal.key("backspace");
  terminal.key("enter");
  // The error shows the wrong JSON, which is offered again.
  await terminal.waitFor(
    () =>
      terminal.isCursorVisible() && terminal.cursor().line === 'JSON > {"text":"a"' && /^! /m.test(terminal.screen()),
  );
  terminal.key("ctrl-u");
  await answer("JSON >", '{"text": "edited"}');
  await terminal.waitFor("Your arguments, as they are sent:");
  await answer(question, "y");
  await terminal.waitFor("Done.");
  expect(echoed(server)).toEqual(["edited"]);
});

test("allows later calls of a tool for the session, and not those of another chat", async () => {
  const server = stdioTestServer();
  const home = newHome();
  const call = say(toolCall("server__echo", { text: "a" }));
  const chat = await openChat({ server, home, script: [call, say("One."), call, say("Two."), call, say("Three.")] });
  await chat.send("Echo it");
  await chat.answer(question, "s");
  await chat.terminal.waitFor(/^One\.$/m);
  expect(chat.terminal.screen()).toContain("is called without a question, with any arguments, until this chat");
  await chat.send("Again");
  await chat.terminal.waitFor(/^Two\.$/m);
  await chat.leave();
  const id = /--resume (\w+)/.exec(chat.terminal.screen())?.[1] ?? "";
  const resumed = await openChat({ server, home, args: ["--resume", id], script: [call, say("Three.")] });
  await resumed.terminal.waitFor("Continued: Echo it");
  await resumed.send("Once more");
  await resumed.answer(question, "y");
  await resumed.terminal.waitFor("Three.");
  expect(echoed(server)).toEqual(["a", "a", "a"]);
});

test("allows later calls of a tool always, also after a restart, until its definition changes", async () => {
  const server = stdioTestServer();
  const home = newHome();
  const call = say(toolCall("server__echo", { text: "a" }));
  const first = await openChat({ server, home, script: [call, say("One.")] });
  await first.send("Echo it");
  await first.answer(question, "a");
  await first.answer("Remember this? [y]es or [n]o?", "y");
  await first.terminal.waitFor(/^One\.$/m);
  await first.leave();
  const second = await openChat({ server, home, script: [call, say("Two."), say(toolCall("server__change_tools"))] });
  await second.send("Echo it");
  await second.terminal.waitFor(/^Two\.$/m);
  expect(second.terminal.history()).not.toContain("wants to call");
  await second.send("Change it");
  await second.answer(question, "y");
  // The changed tools are reviewed before the model can use them.
  await second.terminal.waitFor(/The tool "echo" has changed/);
  expect(second.terminal.screen()).toContain("version 2");
  expect(echoed(server)).toEqual(["a", "a"]);
});

test("shows a call as queued until it is asked for or sent, and never as running before", async () => {
  const server = stdioTestServer();
  const calls = ["a", "b"].map((folder) => toolCall("server__delete_all", { folder }));
  const slow = toolCall("server__slow", { interval: 10 });
  const chat = await openChat({
    server,
    args: ["--allow", "slow"],
    script: [say(...calls), say("Deleted."), say(slow), say("Stopped.")],
  });
  const { terminal, send, answer } = chat;
  await send("Delete both");
  await answer(question, "y");
  await terminal.waitFor("Deleted all files of");
  await terminal.waitFor(/^server__delete_all: waits for your approval/m);
  await answer(question, "y");
  await terminal.waitFor("Deleted.");
  await send("Work");
  await terminal.waitFor(/^server__slow: \d+ step/m);
  terminal.key("ctrl-c");
  await terminal.waitFor("Stopped.");
  const states = [...terminal.raw().matchAll(/server__delete_all: ([a-z ]+)/g)].map(([, state = ""]) => state.trim());
  expect(states.indexOf("running")).toBeGreaterThan(states.indexOf("waits for your approval"));
  // While the first call is asked for, the second one is queued.
  expect(terminal.raw()).toMatch(/waits for your approval \(Ctrl-C cancels\)[^w]{0,40}server__delete_all: queued/);
  // A call that a rule allows has no question.
  expect(terminal.raw()).toContain("server__slow: running");
});

test("asks for each of several calls, one after the other", async () => {
  const server = stdioTestServer();
  const calls = say(toolCall("server__echo", { text: "a" }), toolCall("server__echo", { text: "b" }));
  const chat = await openChat({ server, script: [calls, say("Done.")] });
  await chat.send("Echo both");
  // The calls run at the same time, so either of them can be the first to ask.
  await chat.terminal.waitFor(/"text": "[ab]"/);
  const isA = chat.terminal.screen().includes('"text": "a"');
  const [denied, allowed] = isA ? ["a", "b"] : ["b", "a"];
  expect(chat.terminal.screen()).not.toContain(`"text": "${allowed}"`);
  await chat.answer(question, "n");
  await chat.answer("Reason for the model (Enter: none) >", `no ${denied}`);
  await chat.terminal.waitFor(`"text": "${allowed}"`);
  await chat.answer(question, "y");
  await chat.terminal.waitFor("Done.");
  expect(echoed(server)).toEqual([allowed]);
  expect(lastResults(chat)).toContain(`no ${denied}`);
});

test("does not take typed or pasted text of a message for the answer", async () => {
  const server = stdioTestServer();
  const chat = await openChat({ server, script: [say(toolCall("server__echo", { text: "a" })), say("Done.")] });
  const { terminal, send, answer } = chat;
  await send("Echo it");
  await terminal.waitFor("waits for your approval");
  await answer(question, "y and more\ny");
  await answer(question, "n");
  await answer("Reason for the model (Enter: none) >", "stop");
  await terminal.waitFor("Done.");
  expect(echoed(server)).toEqual([]);
});

test("checks edited arguments against the schema in the editor, and names the member", async () => {
  const { terminal, send, answer, leave } = await openChat({
    script: [say(toolCall("server__add", { a: 1, b: 2 })), say("Done.")],
  });
  await send("Add");
  await answer(question, "e");
  await terminal.waitForCursor(/^JSON > \{"a":1,"b":2\}$/);
  terminal.key("ctrl-u");
  await answer("JSON >", '{"a": "x", "b": 2}');
  await terminal.waitFor(/^! a is "x", and must be number/m);
  await terminal.waitForCursor(/^JSON > \{"a": "x", "b": 2\}$/);
  terminal.key("ctrl-u");
  await answer("JSON >", '{"a": 4}');
  await terminal.waitFor(/^! The object must have the property "b"\.$/m);
  await terminal.waitForCursor(/^JSON > \{"a": 4\}$/);
  terminal.key("ctrl-u");
  await answer("JSON >", '{"a": 40, "b": 2}');
  await answer(question, "y");
  await terminal.waitFor('{"sum":42}');
  expect(await leave()).toBe(0);
});

test("checks each argument of /call when it is typed", async () => {
  const { terminal, send, answer, leave } = await openChat();
  await send("/call add");
  await answer("a (number, required):", "x");
  await terminal.waitFor('a is "x", and must be number');
  await answer("a (number, required):", "1");
  await answer("b (number, required):", "2");
  await terminal.waitFor('{"sum":3}');
  await send('/call add a:="x" b=2');
  await terminal.waitFor('The arguments do not match the schema of the tool "add": a is "x", and must be number');
  expect(await leave()).toBe(0);
});
