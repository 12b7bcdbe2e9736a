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
  await chat.waitForText("Plan my day.");
  await chat.idle();
});

test.each(Object.values(revisions))("asks for the arguments with the values of the server, on %s", async (revision) => {
  const chat = await openNotes(revision);
  await chat.type("/notes:summarize");
  await chat.waitForQuestion("page (required):");
  expect(await chat.text()).toContain("Arguments of notes:summarize\n  The name of the page");
  await chat.waitForText("  restore");
  chat.press("b");
  await chat.screen.waitUntil(
    (lines) => lines.join("\n").includes("  basics") && !lines.join("\n").includes("  restore"),
  );
  chat.press(keys.down + keys.down);
  chat.press(keys.enter);
  await chat.waitForQuestion("page (required): basics");
  chat.press(keys.enter);
  await chat.answer("style (optional):", "long");
  await chat.waitForText("Summarize basics in the style long.");
  expect(chat.notes.completedValues).toEqual(expect.arrayContaining(["", "b"]));
});

test("an optional argument can be left empty, and a required one cannot", async () => {
  const chat = await openNotes();
  await chat.type("/notes:summarize");
  await chat.answer("page (required):", "");
  await chat.waitForText("This value is required. Ctrl-D cancels.");
  await chat.answer("page (required):", "any");
  await chat.answer("style (optional):", "");
  await chat.waitForText("Summarize any in the style plain.");
});

test("arguments on the line are used, and only required ones are asked for", async () => {
  const chat = await openNotes();
  await chat.type('/notes:summarize page="the plan"');
  await chat.waitForText("Summarize the plan in the style plain.");
  await chat.type("/notes:summarize style=brief");
  await chat.answer("page (required):", "x");
  await chat.waitForText("Summarize x in the style brief.");
});

test("refuses an argument that the prompt does not have", async () => {
  const chat = await openNotes();
  await chat.expectRefusal("/notes:summarize pages=x", 'has no argument "pages".');
  expect(await chat.text()).toContain('Did you mean "page"?');
  await chat.expectRefusal("/notes:daily x", '"x" is not an argument.');
});

test("values of an argument that depend on an earlier one", async () => {
  const chat = await openNotes();
  await chat.type("/notes:deploy");
  await chat.answer("team (required):", "search");
  await chat.waitForQuestion("service (optional):");
  await chat.waitForText("  query-api");
  chat.press("q");
  await chat.screen.waitUntil((lines) => lines.includes("  query-api") && !lines.includes("  indexer"));
  chat.press(keys.tab);
  await chat.waitForQuestion("service (optional): query-api");
  chat.press(keys.enter);
  await chat.waitForText("Deploy query-api of search.");
});

test("values for an earlier text cannot be chosen while those of the present one are requested", async () => {
  const chat = await openNotes();
  await chat.type("/notes:deploy team=search");
  await chat.waitForText("Deploy all of search.");
  await chat.type("/notes:deploy");
  await chat.answer("team (required):", "search");
  await chat.waitForText("  query-api");
  chat.press(`q${keys.tab}${keys.enter}`);
  await chat.waitForText("Deploy q of search.");
});

test("a template asks for its variables, and the second depends on the first", async () => {
  const chat = await openNotes();
  await chat.type("Compare @notes:runbook://{team}/{service}");
  await chat.waitForQuestion("team (required):");
  expect(await chat.text()).toContain("Variables of notes:runbook://{team}/{service}");
  chat.press("st");
  await chat.waitForText("  storage");
  chat.press(keys.tab);
  chat.press(keys.enter);
  await chat.waitForQuestion("service (required):");
  await chat.waitForText("  blob-api");
  expect((await chat.screen.lines()).join("\n")).not.toContain("indexer");
  chat.press(keys.tab);
  await chat.waitForQuestion("service (required): blob-api");
  chat.press(keys.enter);
  await chat.waitForText("Runbook of blob-api (storage)");
  await chat.waitForText("[user]\nCompare @notes:runbook://storage/blob-api");
  await chat.type("/attached");
  await chat.waitForText("@notes:runbook://storage/blob-api");
});

test("a question that is closed sends nothing, and the text is not lost", async () => {
  const chat = await openNotes();
  await chat.type("Compare @notes:runbook://{team}/{service} please");
  await chat.waitForQuestion("team (required):");
  chat.press(keys.ctrlD);
  await chat.waitForText("Cancelled.");
  expect(await chat.text()).not.toContain("[user]");
  await chat.idle();
  chat.press(keys.up);
  await chat.waitForQuestion("> Compare @notes:runbook://{team}/{service} please");
});

test("Ctrl-C empties a typed answer, and then closes the question", async () => {
  const chat = await openNotes();
  await chat.type("/notes:summarize");
  await chat.waitForQuestion("page (required):");
  chat.press("bac");
  await chat.waitForQuestion("page (required): bac");
  chat.press(keys.ctrlC);
  await chat.screen.waitUntil((lines) => lines.at(-1) === "  page (required):");
  chat.press(keys.ctrlC);
  await chat.waitForText("Cancelled.");
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
  await chat.waitForText("Plan Friday.");
});
