import { expect, test } from "vitest";
import { scriptedModel, textStep } from "../../../host/src/testing/scripted-model.ts";
import { keys } from "../terminal/testing/emulated-terminal.ts";
import { notesServer, revisions } from "./testing/notes-server.ts";
import { type TestChat, openTestChat } from "./testing/open-test-chat.ts";

type NotesChat = TestChat & { readonly notes: ReturnType<typeof notesServer> };

async function openNotes(revision: string = revisions.modern): Promise<NotesChat> {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: { target: notes.server, revision } } });
  await chat.ready("notes");
  return { ...chat, notes };
}

test.each(Object.values(revisions))(
  "attaches a mentioned resource once, and sends the message, on %s",
  async (revision) => {
    const chat = await openNotes(revision);
    await chat.type("What is in @notes:note://today, @notes:note://today?");
    await chat.waitForText("[user]\nWhat is in @notes:note://today, @notes:note://today?");
    await chat.type("And now in @notes:note://today");
    await chat.waitForText("[user]\nAnd now in @notes:note://today");
    expect(chat.notes.reads).toEqual(["note://today"]);
    expect((await chat.text()).split("Buy milk.")).toHaveLength(2);
  },
);

test("a message whose resource cannot be read is not sent, and is offered again", async () => {
  const chat = await openNotes();
  await chat.expectRefusal("Explain @notes:note://broken", "The disk is full.");
  await chat.type("/attached");
  await chat.waitForText("No resource is attached.");
  expect(await chat.text()).not.toContain("[user]");
});

test("a resource that is not listed is requested, and its error is shown", async () => {
  const chat = await openNotes();
  await chat.type("Explain @notes:note://missing");
  await chat.waitForQuestion("> Explain @notes:note://missing");
  expect(await chat.text()).toContain("note://missing");
  expect(await chat.text()).not.toContain("[user]");
});

test("a word with @ whose server does not exist is text", async () => {
  const chat = await openNotes();
  await chat.type("Write to @ann:home and bob@notes:note");
  await chat.waitForText("[user]\nWrite to @ann:home and bob@notes:note");
});

test("an unknown command keeps the text, with the nearest name", async () => {
  const chat = await openNotes();
  await chat.expectRefusal("/tolls", "There is no command or prompt /tolls.");
  expect(await chat.text()).toContain('Did you mean "/tools"?');
  await chat.expectRefusal("/notes:dayly", 'Did you mean "/notes:daily"?');
});

test("a prompt of a server that is still connecting can be tried again", async () => {
  const chat = await openTestChat({ servers: { slow: { attach: () => new Promise(() => {}) } } });
  await chat.expectRefusal("/slow:plan", "Still connecting: slow. Try again.");
});

test("a text that starts with a slash and is no name is a message", async () => {
  const chat = await openNotes();
  await chat.type("/ is a slash");
  await chat.waitForText("[user]\n/ is a slash");
});

test("an empty text sends nothing", async () => {
  const chat = await openNotes();
  chat.press("   ");
  chat.press(keys.enter);
  await chat.idle();
  chat.press(keys.enter);
  await chat.type("text");
  await chat.waitForText("[user]\ntext");
  expect((await chat.text()).split("[user]")).toHaveLength(2);
});

test("a message of several lines is sent as one", async () => {
  const model = scriptedModel([textStep("Both.")]);
  const chat = await openTestChat({ model });
  await chat.idle();
  chat.press("one");
  chat.press(keys.altEnter);
  chat.press("two\\");
  chat.press(keys.enter);
  chat.press("three");
  chat.press(keys.enter);
  await chat.waitForText("Both.");
  expect(JSON.stringify(model.requests[0]?.prompt)).toContain(String.raw`one\ntwo\nthree`);
});

test("Ctrl-C cancels the read of a resource, and the message is offered again", async () => {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server } });
  await chat.ready("notes");
  await chat.type("Read @notes:hung://a");
  await chat.waitForText("Reading @notes:hung://a (Ctrl-C cancels)");
  chat.press(keys.ctrlC);
  await chat.waitForQuestion("> Read @notes:hung://a");
  expect(await chat.text()).not.toContain("[user]");
});

test("the texts of earlier messages are offered by the arrow keys", async () => {
  const chat = await openNotes();
  await chat.type("first");
  await chat.type("second");
  await chat.idle();
  chat.press(keys.up);
  chat.press(keys.up);
  await chat.waitForQuestion("> first");
});
