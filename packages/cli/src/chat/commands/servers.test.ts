import { type InProcessServer } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { keys } from "../../terminal/testing/emulated-terminal.ts";
import { notesServer, revisions } from "../testing/notes-server.ts";
import { type TestChat, openTestChat } from "../testing/open-test-chat.ts";

/** Returns a server whose connections fail until `isUp` is true. */
function unreliable(isUp: boolean): InProcessServer & { isUp: boolean } {
  const server = createServer({ name: "files", version: "1.0.0", tools: { list: tool({ call: () => "empty" }) } });
  return {
    isUp,
    async attach(...args) {
      if (!this.isUp) throw new Error("The disk is not mounted.");
      await server.attach(...args);
    },
  };
}

/** Runs a command, and returns the lines that it printed. */
async function outputOf(chat: TestChat, line: string): Promise<string> {
  await chat.type(line);
  await chat.idle();
  const text = await chat.text();
  return text.slice(text.lastIndexOf(`> ${line}\n`) + line.length + 3, text.lastIndexOf("\nno model"));
}

test.each(Object.values(revisions))("shows the state, version and revision of each server, on %s", async (revision) => {
  const chat = await openTestChat({
    servers: { notes: { target: notesServer().server, revision }, files: unreliable(false) },
  });
  await chat.ready("notes");
  await chat.waitForText("files failed: ");
  const shown = await outputOf(chat, "/servers");
  expect(shown).toContain(`notes  ready  notes 1.2.3, revision ${revision}`);
  expect(shown).toContain("  11 tools, 3 prompts, 2 resources, 2 templates");
  expect(shown).toContain("files  failed");
  expect(shown).toContain("The disk is not mounted.");
  expect(shown).toContain("It is tried again later, or now with /servers reconnect.");
});

test("turns a server off and on", async () => {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server } });
  await chat.ready("notes");
  expect(await outputOf(chat, "/servers off notes")).toContain("notes  off");
  expect(await outputOf(chat, "/tools")).toContain("The servers offer none.");
  await chat.expectRefusal("/call search query=x", 'There is no tool "search".');
  expect(await outputOf(chat, "/servers on notes")).toContain("notes  ready");
  await chat.ready("notes");
  await chat.type("/call search query=x");
  await chat.waitForText("Found: x");
  expect(await chat.text()).not.toContain("has changed");
});

test("reconnects a server that has failed", async () => {
  const files = unreliable(false);
  const chat = await openTestChat({ servers: { files } });
  await chat.waitForText("files failed: ");
  await chat.expectRefusal("/servers reconnect files", "The disk is not mounted.");
  files.isUp = true;
  expect(await outputOf(chat, "/servers reconnect files")).toContain("files  ready  files 1.0.0");
  expect(await outputOf(chat, "/servers")).not.toContain("The disk is not mounted.");
  chat.press("/tools files");
  await chat.waitForText("  files__list");
});

test("refuses unknown actions and servers, with the nearest name", async () => {
  const chat = await openTestChat({ servers: { notes: notesServer().server } });
  await chat.ready("notes");
  await chat.expectRefusal("/servers of notes", 'There is no action "of".');
  expect(await chat.text()).toContain('Did you mean "on"?');
  await chat.expectRefusal("/servers off", "/servers off needs the name of one server.");
  expect(await chat.text()).toContain("Such as /servers off notes");
  await chat.expectRefusal("/servers off note", 'There is no server "note".');
  await chat.expectRefusal("/servers off notes files", "/servers off needs the name of one server.");
});

test("refuses to sign in at a server that needs none", async () => {
  const chat = await openTestChat({ servers: { notes: notesServer().server } });
  await chat.ready("notes");
  await chat.type("/servers sign-in notes");
  await chat.waitForText('Server "notes" is not used over HTTP, so it has no sign-in.');
});

test("Ctrl-C stops waiting for a server that does not answer", async () => {
  const hung: InProcessServer = { attach: () => new Promise(() => {}) };
  const chat = await openTestChat({ servers: { hung } });
  await chat.type("/servers reconnect hung");
  await chat.waitForText("reconnect hung (Ctrl-C stops waiting)");
  chat.press(keys.ctrlC);
  await chat.waitForText("Stopped waiting for the server.");
  await chat.idle();
});

test("the menu offers the actions, and then the servers with their state", async () => {
  const chat = await openTestChat({ servers: { notes: notesServer().server } });
  await chat.ready("notes");
  chat.press("/servers r");
  await chat.waitForText("  reconnect");
  chat.press(keys.tab);
  await chat.waitForText("  notes  ready");
  chat.press(keys.tab);
  await chat.waitForQuestion("> /servers reconnect notes");
});

test("connects a server again with another revision, and accepts the names of revisions only", async () => {
  const chat = await openTestChat({ servers: { notes: notesServer().server } });
  await chat.ready("notes");
  await chat.expectRefusal("/servers revision notes", "Which revision?");
  await chat.expectRefusal("/servers revision notes 2025-13-01", "is not a revision of the protocol");
  await chat.type("/servers revision notes 2025-11-25");
  await chat.waitForText("revision 2025-11-25");
  await chat.type("/call search query=x");
  await chat.waitForText("Found: x");
  await chat.type("/servers revision notes auto");
  await chat.waitForText("revision 2026-07-28");
});
