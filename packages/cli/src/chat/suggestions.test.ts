import { createServer, prompt, resource } from "mcparley/server";
import { expect, test } from "vitest";
import { keys } from "../terminal/testing/emulated-terminal.ts";
import { notesServer } from "./testing/notes-server.ts";
import { type TestChat, openTestChat } from "./testing/open-test-chat.ts";

async function openNotes(): Promise<TestChat> {
  const chat = await openTestChat({ servers: { notes: notesServer().server } });
  await chat.ready("notes");
  return chat;
}

test("/ offers the commands and the prompts of the servers, with the first one selected", async () => {
  const chat = await openNotes();
  chat.press("/");
  await chat.waitForText("* /help");
  expect(await chat.text()).toContain("show the commands and the keys");
  chat.press("notes:");
  await chat.waitForText("* /notes:summarize  Summarizes a page.");
  chat.press(keys.down);
  chat.press(keys.enter);
  await chat.waitForQuestion("> /notes:daily");
  chat.press(keys.enter);
  await chat.waitForText("Plan my day.");
});

test("finds entries also by a part of their name and by their description", async () => {
  const chat = await openNotes();
  chat.press("/mariz");
  await chat.waitForText("  /notes:summarize");
  for (const _ of "mariz") chat.press(keys.backspace);
  chat.press("plans");
  await chat.waitForText("  /notes:daily");
  // Such an entry is chosen with Tab or the arrows. Enter submits the text.
  chat.press(keys.enter);
  await chat.waitForText("There is no command or prompt /plans.");
  await chat.idle();
  chat.press("/dai");
  await chat.waitForText("* /notes:daily");
  chat.press(keys.enter);
  await chat.waitForQuestion("> /notes:daily");
});

test("@ offers the resources and templates, after the start of a word", async () => {
  const chat = await openNotes();
  chat.press("Read @tod");
  await chat.waitForText("* notes:note://today  today: The note of today");
  chat.press(keys.enter);
  await chat.waitForQuestion("> Read @notes:note://today");
  chat.press(" and @run");
  await chat.waitForText("* notes:runbook://{team}/{service}");
  chat.press(keys.tab);
  await chat.waitForQuestion("and @notes:runbook://{team}/{service}");
});

test("an e-mail address opens no menu", async () => {
  const chat = await openNotes();
  chat.press("ann@today");
  await chat.waitForQuestion("> ann@today");
  expect(await chat.text()).not.toContain("* notes:");
});

test("Escape closes the menu, and Enter then sends the text as it is", async () => {
  const chat = await openNotes();
  chat.press("mail @tod");
  await chat.waitForText("* notes:note://today");
  chat.press("\u001b");
  await chat.waitForText("no model - 1 of 1 servers connected");
  chat.press(keys.enter);
  await chat.waitForText("[user]\nmail @tod");
});

test("the menu of a name without entries is not shown, and Enter submits", async () => {
  const chat = await openNotes();
  chat.press("/nothing-like-this");
  chat.press(keys.enter);
  await chat.waitForText("There is no command or prompt /nothing-like-this.");
});

test("Enter submits a name that is also the start of another one", async () => {
  const read = (): string => "text";
  const other = createServer({
    name: "other",
    version: "1.0.0",
    prompts: { planning: prompt({ get: () => "long" }), plan: prompt({ get: () => "short" }) },
    resources: { sub: resource("note://a/b", { read }), a: resource("note://a", { read }) },
  });
  const chat = await openTestChat({ servers: { other } });
  await chat.ready("other");
  await chat.type("/other:plan");
  await chat.waitForText("\nshort\n");
  await chat.type("See @other:note://a");
  await chat.waitForText("[user]\nSee @other:note://a");
});

test("the words of commands are completed", async () => {
  const chat = await openNotes();
  chat.press("/why t");
  await chat.waitForText("  tools  the tokens of each tool's definition");
  chat.press(keys.ctrlC);
  await chat.idle();
  chat.press("/roots ");
  await chat.waitForText("  remove");
  chat.press(keys.tab);
  await chat.waitForQuestion("> /roots add");
});

test("a menu that is open follows the changes of the servers", async () => {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server }, argv: ["--trust"] });
  await chat.ready("notes");
  chat.press("/notes:d");
  await chat.waitForText("/notes:deploy");
  notes.server.prompts.delete("deploy");
  await chat.waitForText("notes has changed: removed: notes:deploy");
  expect((await chat.screen.lines()).filter((line) => /^[* ] \/notes:deploy/.test(line))).toEqual([]);
});
