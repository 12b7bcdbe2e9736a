import { type Server, createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { keys } from "../../terminal/testing/emulated-terminal.ts";
import { notesServer, revisions } from "../testing/notes-server.ts";
import { type TestChat, openTestChat } from "../testing/open-test-chat.ts";

type NotesChat = TestChat & { readonly notes: ReturnType<typeof notesServer> };

async function openNotes(revision: string = revisions.modern, others: Record<string, Server> = {}): Promise<NotesChat> {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: { target: notes.server, revision }, ...others } });
  await chat.ready("notes");
  return { ...chat, notes };
}

test.each(Object.values(revisions))("calls a tool with typed arguments, on revision %s", async (revision) => {
  const chat = await openNotes(revision);
  await chat.type('/call search query="two words" limit=3');
  await chat.waitForText("Found: two words");
  await chat.type('/call notes__search {"query":"json"}');
  await chat.type("/call notes:search query:='\"text\"'");
  await chat.waitForText("Found: text");
  expect(chat.notes.calls).toEqual(["search two words 3", "search json", "search text"]);
  expect(await chat.text()).toContain(
    'The user called the tool notes__search with the arguments {"query":"two words","limit":3}. The result is:',
  );
});

test("does not ask again for a call that the user has typed", async () => {
  const chat = await openNotes();
  await chat.type("/call search query=x");
  await chat.waitForText("Found: x");
  await chat.idle();
  expect(await chat.text()).not.toContain("Call it?");
});

test("asks before a destructive tool is called, and does not call it after a no", async () => {
  const chat = await openNotes();
  await chat.type("/call remove id=7");
  await chat.answer("Call it?", "n");
  await chat.idle();
  expect(chat.notes.calls).toEqual([]);
  chat.press(keys.up + keys.enter);
  await chat.answer("Call it?", "y");
  await chat.idle();
  expect(chat.notes.calls).toEqual(["remove 7"]);
});

test("asks for the arguments that are not typed, with menus for choices", async () => {
  const chat = await openNotes();
  await chat.type("/call colour");
  await chat.waitForQuestion("name");
  expect(await chat.text()).toContain("Arguments of notes__colour");
  chat.press(keys.tab);
  await chat.waitForQuestion(": red");
  chat.press(keys.enter);
  await chat.waitForQuestion("dark");
  chat.press("tr");
  chat.press(keys.tab);
  await chat.waitForQuestion(": true");
  chat.press(keys.enter);
  await chat.waitForText("red, dark");
});

test("asks again for a required argument that is empty, and leaves out an optional one", async () => {
  const chat = await openNotes();
  await chat.type("/call search");
  await chat.answer("query", "");
  await chat.waitForText("This value is required.");
  await chat.answer("query", "y");
  await chat.answer("limit", "");
  await chat.waitForText("Found: y");
  expect(chat.notes.calls).toEqual(["search y"]);
});

test("an empty JSON object is a call without arguments, and not a question", async () => {
  const chat = await openNotes();
  await chat.expectRefusal("/call search {}", "needs query.");
  await chat.type("/call fail {}");
  await chat.waitForText("The tool returned this error:");
});

test("closing the questions cancels the call", async () => {
  const chat = await openNotes();
  await chat.type("/call search");
  await chat.waitForQuestion("query");
  chat.press(keys.ctrlD);
  await chat.waitForText("Cancelled.");
  await chat.type("/call search");
  await chat.waitForQuestion("query");
  chat.press(keys.ctrlC);
  await chat.waitForText("Cancelled.", 2);
  await chat.idle();
  expect(chat.notes.calls).toEqual([]);
});

test("refuses words that name no tool or no argument", async () => {
  const chat = await openNotes();
  await chat.expectRefusal("/call", "Which tool?");
  await chat.expectRefusal("/call serch query=x", 'There is no tool "serch".');
  await chat.expectRefusal("/call search q=x", 'has no argument "q".');
  await chat.expectRefusal("/call search limit=3", "needs query.");
  await chat.expectRefusal("/call search query", '"query" is not an argument.');
  await chat.expectRefusal("/call search limit:=x", "The value of limit is not JSON");
  expect(chat.notes.calls).toEqual([]);
});

test("asks which tool is meant if several servers have one with the name", async () => {
  const other = createServer({
    name: "other",
    version: "1.0.0",
    tools: { search: tool({ call: () => "other" }) },
    resources: {},
  });
  const chat = await openNotes(revisions.modern, { other });
  chat.press("/tools other");
  await chat.waitForText("  other__search");
  chat.press(keys.ctrlC);
  await chat.expectRefusal("/call search query=x", 'Several servers have a tool "search".');
  expect(await chat.text()).toMatch(/Choose one: (notes|other)__search, (notes|other)__search\n/);
  await chat.type("/call other:search");
  await chat.waitForText("other__search with the arguments {}");
});

test("waits for a server that still connects before it decides which tool is meant", async () => {
  const other = createServer({ name: "other", version: "1.0.0", tools: { search: tool({ call: () => "other" }) } });
  let connect = (): void => {};
  const connected = new Promise<void>((resolve) => {
    connect = resolve;
  });
  const attach: Server["attach"] = async (...given) => {
    await connected;
    return other.attach(...given);
  };
  const chat = await openNotes(revisions.modern, { slow: { attach } as Server });
  await chat.type("/call search query=x");
  await chat.waitForText("Waiting for the servers");
  connect();
  await chat.waitForText('Several servers have a tool "search".');
  expect(chat.notes.calls).toEqual([]);
});

test("shows the error of a tool as the model would receive it", async () => {
  const chat = await openNotes();
  await chat.type("/call fail");
  await chat.waitForText("The tool returned this error:");
  expect(await chat.text()).toContain("The index is locked.");
});

test("Ctrl-C cancels the call, and the text is in the history", async () => {
  const chat = await openNotes();
  await chat.type("/call wait");
  await chat.waitForText("notes__wait: [#####...............] 25% one of four (Ctrl-C cancels)");
  chat.press(keys.ctrlC);
  await chat.idle();
  chat.press(keys.up);
  await chat.waitForQuestion("> /call wait");
  expect(chat.notes.cancelledCalls).toEqual(["wait"]);
});

test("the menu offers the tools until one is chosen", async () => {
  const chat = await openNotes();
  chat.press("/call sea");
  await chat.waitForText("  notes__search  Searches the notes.");
  chat.press(keys.tab);
  await chat.waitForQuestion("> /call notes__search");
  chat.press(" ");
  await chat.waitForText("no model - 1 of 1 servers connected");
});
