import { expect, test } from "vitest";
import { type ScriptedStep, callStep, scriptedModel, textStep } from "../../../../host/src/testing/scripted-model.ts";
import { keys } from "../../terminal/testing/emulated-terminal.ts";
import { notesServer, revisions } from "../testing/notes-server.ts";
import { type TestChat, openTestChat } from "../testing/open-test-chat.ts";

type NotesChat = TestChat & { readonly notes: ReturnType<typeof notesServer> };

interface Opening {
  readonly revision?: string;
  readonly argv?: readonly string[];
  readonly home?: string;
  readonly notes?: ReturnType<typeof notesServer>;
}

async function open(steps: readonly ScriptedStep[] | undefined, opening: Opening = {}): Promise<NotesChat> {
  const { revision = revisions.modern, argv = [], home, notes = notesServer() } = opening;
  const servers = { notes: { target: notes.server, revision } };
  const model = steps && scriptedModel(steps);
  const chat = await openTestChat({ servers, model, argv, ...(home !== undefined && { home }) });
  await chat.ready("notes");
  return { ...chat, notes };
}

const search = (query: string): ScriptedStep => callStep([{ name: "notes__search", input: { query }, id: query }]);
const remove = callStep([{ name: "notes__remove", input: { id: "7" } }]);

test("a call is made after a yes, and the exact arguments are shown before", async () => {
  const chat = await open([search("x"), textStep("Done.")]);
  await chat.type("Go");
  await chat.waitForQuestion("Call it? [y]es, [n]o, [e]dit, [s]ession, [a]lways, [v]iew?");
  expect(await chat.text()).toContain('The model wants to call the tool "search" of the server "notes".');
  expect(await chat.text()).toContain('"query": "x"');
  await chat.waitForText("notes__search: waits for your approval (Ctrl-C cancels)");
  expect(chat.notes.calls).toEqual([]);
  await chat.answer("Call it?", "y");
  await chat.waitForText("Done.");
  expect(chat.notes.calls).toEqual(["search x"]);
});

test("a denied call is not made, and the model receives the reason", async () => {
  const model = scriptedModel([remove, textStep("I will not.")]);
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server }, model });
  await chat.ready("notes");
  await chat.type("Go");
  await chat.answer("Call it?", "n");
  await chat.answer("Reason for the model", "Keep it.");
  await chat.waitForText("I will not.");
  expect(notes.calls).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain("Keep it.");
});

test("edited arguments are shown again, and sent", async () => {
  const chat = await open([remove, textStep("Done.")]);
  await chat.type("Go");
  await chat.answer("Call it?", "e");
  await chat.waitForQuestion('JSON > {"id":"7"}');
  for (const _ of '7"}') chat.press(keys.backspace);
  await chat.answer('JSON > {"id":"', '8"}');
  await chat.answer("Call it?", "y");
  await chat.waitForText("Done.");
  expect(chat.notes.calls).toEqual(["remove 8"]);
});

test("a yes for the session asks no more, also with other arguments, until the chat ends", async () => {
  const first = await open([search("x"), search("y"), textStep("Done.")]);
  await first.type("Go");
  await first.answer("Call it?", "s");
  await first.waitForText("Done.");
  expect(first.notes.calls).toEqual(["search x", "search y"]);
  await first.leave();
  const second = await open([search("z"), textStep("Again.")], { home: first.home, notes: first.notes });
  await second.type("Go");
  await second.answer("Call it?", "y");
  await second.waitForText("Again.");
});

test("always is confirmed, and is valid in the next chat", async () => {
  const first = await open([search("x"), textStep("Done.")]);
  await first.type("Go");
  await first.answer("Call it?", "a");
  await first.answer("Remember this?", "y");
  await first.waitForText("Done.");
  await first.leave();
  const second = await open([search("z"), textStep("Again.")], { home: first.home, notes: first.notes });
  await second.type("Go");
  await second.waitForText("Again.");
  expect(first.notes.calls).toEqual(["search x", "search z"]);
});

test("--allow calls without a question, and names the server if it has a colon", async () => {
  const chat = await open([search("x"), remove, textStep("Done.")], { argv: ["--allow", "notes:s*"] });
  await chat.type("Go");
  await chat.waitForQuestion("Call it?");
  expect(chat.notes.calls).toEqual(["search x"]);
});

test("Ctrl-D closes the question, and the call is not made", async () => {
  const chat = await open([remove, textStep("No.")]);
  await chat.type("Go");
  await chat.waitForQuestion("Call it?");
  chat.press(keys.ctrlD);
  await chat.waitForText("No.");
  expect(chat.notes.calls).toEqual([]);
});

test.each(Object.values(revisions))("a form is filled in and confirmed, on %s", async (revision) => {
  const chat = await open(undefined, { revision });
  await chat.type("/call book");
  await chat.answer("  >", "9");
  await chat.waitForText("The answer must be a number from 1 to 8.");
  await chat.answer("  >", "4");
  await chat.answer("[s]end, [e]dit, [d]ecline or [c]ancel?", "s");
  await chat.waitForText("Booked for 4");
  const text = await chat.text();
  expect(text).toContain('The server "notes" asks you to fill in a form');
  expect(text).toContain("  │ How many guests?");
});

test.each(Object.values(revisions))("a page is opened only after a yes, on %s", async (revision) => {
  const chat = await open(undefined, { revision });
  await chat.type("/call pay");
  await chat.waitForQuestion("Open it?");
  expect(await chat.text()).toContain("https://pay.example.com/7");
  await chat.answer("Open it?", "m");
  await chat.waitForText("paid");
});

test.each(Object.values(revisions))(
  "without a model the user writes the answer of sampling, on %s",
  async (revision) => {
    const chat = await open(undefined, { revision });
    await chat.type("/call think");
    await chat.waitForQuestion("Answer it?");
    expect(await chat.text()).toContain("Name a colour.");
    await chat.answer("Answer it?", "y");
    await chat.answer("Answer:", "teal");
    await chat.waitForText('The answer: {"type":"text","text":"teal"}');
  },
);

test.each(Object.values(revisions))(
  "sampling is shown before the model runs and before it is sent, on %s",
  async (revision) => {
    const chat = await open([textStep("red")], { revision });
    await chat.type("/call think");
    await chat.answer("Run it?", "y");
    await chat.waitForQuestion("Send it to the server?");
    expect(await chat.text()).toContain("  │ red");
    await chat.answer("Send it to the server?", "y");
    await chat.waitForText('"text":"red"');
  },
);

test("denied sampling runs no model", async () => {
  const chat = await open([textStep("red")]);
  await chat.type("/call think");
  await chat.answer("Run it?", "n");
  await chat.waitForText("The user has not allowed the request of the sampling.");
  await chat.type("Hello");
  await chat.waitForText("> Hello\nred");
});
