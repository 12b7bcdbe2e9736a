import { createServer, prompt, resource, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { keys } from "../../terminal/testing/emulated-terminal.ts";
import { notesServer, revisions } from "../testing/notes-server.ts";
import { openTestChat } from "../testing/open-test-chat.ts";

const newTool = tool({ description: "Counts.", call: () => "1" });

test.each(Object.values(revisions))("names what a connected server offers, on %s", async (revision) => {
  const chat = await openTestChat({ servers: { notes: { target: notesServer().server, revision } } });
  await chat.ready("notes");
  expect(await chat.text()).toContain("notes is connected: 11 tools, 3 prompts, 2 resources, 2 templates\n");
  expect((await chat.text()).split("is connected")).toHaveLength(2);
  expect(await chat.text()).toContain("no model - 1 of 1 servers connected - / commands, @ resources\n>");
});

test("names a server without definitions", async () => {
  const empty = createServer({ name: "empty", version: "1.0.0" });
  const chat = await openTestChat({ servers: { empty } });
  await chat.waitForText("empty is connected: no tools, prompts or resources");
});

test("a failure is shown once, also if it repeats, and again if its reason changes", async () => {
  const state = { reason: "The disk is not mounted." };
  const attach = () => Promise.reject(new Error(state.reason));
  const chat = await openTestChat({ servers: { files: { attach } } });
  await chat.waitForText("files failed: ");
  await chat.expectRefusal("/servers reconnect files", "The disk is not mounted.");
  expect((await chat.text()).split("files failed: ")).toHaveLength(2);
  state.reason = "The disk is full.";
  await chat.expectRefusal("/servers reconnect files", "The disk is full.");
  expect((await chat.text()).split("files failed: ")).toHaveLength(3);
  expect(await chat.text()).toContain("no model - 0 of 1 servers connected");
});

test.each(Object.values(revisions))(
  "new and removed definitions are named after their review, on %s",
  async (revision) => {
    const { server } = notesServer();
    const chat = await openTestChat({ servers: { notes: { target: server, revision } } });
    await chat.ready("notes");
    server.tools.set("count", newTool);
    await chat.answer("Use them?", "y");
    await chat.waitForText("notes has changed: new: notes__count\n");
    server.prompts.delete("daily");
    await chat.waitForText("notes has changed: removed: notes:daily\n");
  },
);

test("many changes are counted", async () => {
  const { server } = notesServer();
  const chat = await openTestChat({ servers: { notes: server } });
  await chat.ready("notes");
  for (let number = 1; number <= 8; number++) server.tools.set(`count${number}`, newTool);
  await chat.answer("Use them?", "y");
  await chat.waitForText("notes__count5 and 3 more\n");
});

test("the first change of a session is named, also if the lists were stored by an earlier one", async () => {
  const { server } = notesServer();
  const first = await openTestChat({ servers: { notes: server } });
  await first.ready("notes");
  await first.leave();
  const second = await openTestChat({ servers: { notes: server }, home: first.home });
  await second.waitForText("notes is connected");
  await second.ready("notes");
  server.prompts.delete("daily");
  await second.waitForText("notes has changed: removed: notes:daily\n");
});

test("log messages of the level and above are shown, with their logger", async () => {
  const chat = await openTestChat({ servers: { notes: notesServer().server } });
  await chat.ready("notes");
  await chat.type("/call log");
  await chat.waitForText("logged");
  expect(await chat.text()).toContain("[warning] notes disk: low space\n");
  expect(await chat.text()).toContain('[error] notes: {"code":7}\n');
  expect(await chat.text()).not.toContain("a detail");
});

test("--log-level shows less and more", async () => {
  const less = await openTestChat({ servers: { notes: notesServer().server }, argv: ["--log-level", "error"] });
  await less.ready("notes");
  await less.type("/call log");
  await less.waitForText("[error]");
  expect(await less.text()).not.toContain("low space");
  const more = await openTestChat({ servers: { notes: notesServer().server }, argv: ["--log-level", "info"] });
  await more.ready("notes");
  await more.type("/call log");
  await more.waitForText("[info] notes: a detail\n");
});

test.each(Object.values(revisions))(
  "an attached resource that has changed is sent with the next message, on %s",
  async (revision) => {
    const notes = notesServer();
    const chat = await openTestChat({ servers: { notes: { target: notes.server, revision } } });
    await chat.ready("notes");
    await chat.type("Read @notes:note://today");
    await chat.idle();
    notes.today = "Buy bread.";
    notes.server.resources.updated("note://today");
    await chat.waitForText("notes:note://today has changed. Its new content is sent with the next message.");
    await chat.type("Now?");
    await chat.waitForText("Buy bread.");
  },
);

test("the change of a resource that is not attached is not shown", async () => {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server } });
  await chat.ready("notes");
  await chat.type("Read @notes:note://today");
  await chat.type("/detach @notes:note://today");
  await chat.waitForText("Detached.");
  notes.server.resources.updated("note://today");
  await chat.type("Now?");
  await chat.waitForText("[user]\nNow?");
  expect(await chat.text()).not.toContain("has changed");
});

test("a notice does not disturb the text that is typed", async () => {
  const { server } = notesServer();
  const chat = await openTestChat({ servers: { notes: server } });
  await chat.ready("notes");
  chat.press("half a tex");
  await chat.waitForQuestion("> half a tex");
  server.prompts.delete("daily");
  await chat.waitForText("notes has changed: removed: notes:daily\n");
  chat.press("t");
  await chat.waitForQuestion("> half a text");
  chat.press(keys.enter);
  await chat.waitForText("[user]\nhalf a text");
});

test("a changed definition is used only after its review, and the change is named", async () => {
  const server = createServer({
    name: "notes",
    version: "1.0.0",
    prompts: { plan: prompt({ get: () => "old" }) },
    resources: { today: resource("note://today", { read: () => "text" }) },
  });
  const chat = await openTestChat({ servers: { notes: server } });
  await chat.ready("notes");
  server.prompts.set("plan", prompt({ description: "Changed.", get: () => "new" }));
  await chat.waitForQuestion("Use them?");
  chat.press(keys.ctrlC);
  await chat.expectRefusal("/notes:plan", "There is no command or prompt /notes:plan.");
});

test("a server that is turned off and on again has not changed", async () => {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server } });
  await chat.ready("notes");
  await chat.type("/servers off notes");
  await chat.waitForText("notes  off");
  await chat.type("/servers on notes");
  await chat.waitForText("notes  ready");
  await chat.ready("notes");
  expect(await chat.text()).not.toContain("has changed");
  notes.server.prompts.delete("plan");
  notes.server.prompts.delete("deploy");
  await chat.waitForText("notes has changed: removed: notes:deploy");
});
