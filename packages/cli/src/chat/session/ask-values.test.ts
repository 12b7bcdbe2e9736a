import { createServer, prompt, resource } from "mcparley/server";
import { expect, test } from "vitest";
import { keys } from "../../terminal/testing/emulated-terminal.ts";
import { notesServer, revisions } from "../testing/notes-server.ts";
import { type TestChat, openTestChat } from "../testing/open-test-chat.ts";

type NotesChat = TestChat & { readonly notes: ReturnType<typeof notesServer> };

async function openNotes(revision: string = revisions.modern): Promise<NotesChat> {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: { target: notes.server, revision } } });
  await chat.ready("notes");
  return { ...chat, notes };
}

test("expands a prompt without arguments at once", async () => {
  const chat = await openNotes();
  await chat.type("/notes:daily");
  await chat.seen("Plan my day.");
  await chat.idle();
});

test.each(Object.values(revisions))("asks for the arguments with the values of the server, on %s", async (revision) => {
  const chat = await openNotes(revision);
  await chat.type("/notes:summarize");
  await chat.asked("page (required):");
  expect(await chat.text()).toContain("Arguments of notes:summarize\n  The name of the page");
  await chat.seen("  restore");
  chat.press("b");
  await chat.screen.until((lines) => lines.join("\n").includes("  basics") && !lines.join("\n").includes("  restore"));
  chat.press(keys.down + keys.down);
  chat.press(keys.enter);
  await chat.asked("page (required): basics");
  chat.press(keys.enter);
  await chat.answer("style (optional):", "long");
  await chat.seen("Summarize basics in the style long.");
  expect(chat.notes.completed).toEqual(expect.arrayContaining(["", "b"]));
});

test("an optional argument can be left empty, and a required one cannot", async () => {
  const chat = await openNotes();
  await chat.type("/notes:summarize");
  await chat.answer("page (required):", "");
  await chat.seen("This value is required. Ctrl-D cancels.");
  await chat.answer("page (required):", "any");
  await chat.answer("style (optional):", "");
  await chat.seen("Summarize any in the style plain.");
});

test("arguments on the line are used, and only required ones are asked for", async () => {
  const chat = await openNotes();
  await chat.type('/notes:summarize page="the plan"');
  await chat.seen("Summarize the plan in the style plain.");
  await chat.type("/notes:summarize style=brief");
  await chat.answer("page (required):", "x");
  await chat.seen("Summarize x in the style brief.");
});

test("refuses an argument that the prompt does not have", async () => {
  const chat = await openNotes();
  await chat.refused("/notes:summarize pages=x", 'has no argument "pages".');
  expect(await chat.text()).toContain('Did you mean "page"?');
  await chat.refused("/notes:daily x", '"x" is not an argument.');
});

test("values of an argument that depend on an earlier one", async () => {
  const chat = await openNotes();
  await chat.type("/notes:deploy");
  await chat.answer("team (required):", "search");
  await chat.asked("service (optional):");
  await chat.seen("  query-api");
  chat.press("q");
  await chat.screen.until((lines) => lines.includes("  query-api") && !lines.includes("  indexer"));
  chat.press(keys.tab);
  await chat.asked("service (optional): query-api");
  chat.press(keys.enter);
  await chat.seen("Deploy query-api of search.");
});

test("values for an earlier text cannot be chosen while those of the present one are requested", async () => {
  const chat = await openNotes();
  await chat.type("/notes:deploy team=search");
  await chat.seen("Deploy all of search.");
  await chat.type("/notes:deploy");
  await chat.answer("team (required):", "search");
  await chat.seen("  query-api");
  chat.press(`q${keys.tab}${keys.enter}`);
  await chat.seen("Deploy q of search.");
});

test("a template asks for its variables, and the second depends on the first", async () => {
  const chat = await openNotes();
  await chat.type("Compare @notes:runbook://{team}/{service}");
  await chat.asked("team (required):");
  expect(await chat.text()).toContain("Variables of notes:runbook://{team}/{service}");
  chat.press("st");
  await chat.seen("  storage");
  chat.press(keys.tab);
  chat.press(keys.enter);
  await chat.asked("service (required):");
  await chat.seen("  blob-api");
  expect((await chat.screen.lines()).join("\n")).not.toContain("indexer");
  chat.press(keys.tab);
  await chat.asked("service (required): blob-api");
  chat.press(keys.enter);
  await chat.seen("Runbook of blob-api (storage)");
  await chat.seen("[user]\nCompare @notes:runbook://storage/blob-api");
  await chat.type("/attached");
  await chat.seen("@notes:runbook://storage/blob-api");
});

test("a question that is closed sends nothing, and the text is not lost", async () => {
  const chat = await openNotes();
  await chat.type("Compare @notes:runbook://{team}/{service} please");
  await chat.asked("team (required):");
  chat.press(keys.ctrlD);
  await chat.seen("Cancelled.");
  expect(await chat.text()).not.toContain("[user]");
  await chat.idle();
  chat.press(keys.up);
  await chat.asked("> Compare @notes:runbook://{team}/{service} please");
});

test("Ctrl-C empties a typed answer, and then closes the question", async () => {
  const chat = await openNotes();
  await chat.type("/notes:summarize");
  await chat.asked("page (required):");
  chat.press("bac");
  await chat.asked("page (required): bac");
  chat.press(keys.ctrlC);
  await chat.screen.until((lines) => lines.at(-1) === "  page (required):");
  chat.press(keys.ctrlC);
  await chat.seen("Cancelled.");
  await chat.idle();
});

test("an argument whose values the server cannot complete has no menu, and can be typed", async () => {
  const plan = prompt({
    arguments: {
      day: {
        required: true,
        complete: () => {
          throw new Error("The calendar is closed.");
        },
      },
    },
    get: ({ day }) => `Plan ${day}.`,
  });
  const server = createServer({
    name: "calendar",
    version: "1.0.0",
    onError: () => {},
    prompts: { plan },
    resources: { today: resource("day://today", { read: () => "Monday" }) },
  });
  const chat = await openTestChat({ servers: { calendar: server } });
  await chat.ready("calendar");
  await chat.type("/calendar:plan");
  await chat.answer("day (required):", "Friday");
  await chat.seen("Plan Friday.");
});
