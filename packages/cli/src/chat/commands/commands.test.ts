import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { notesServer } from "../testing/notes-server.ts";
import { type TestChat, openTestChat } from "../testing/open-test-chat.ts";
import { chatCommands } from "./commands.ts";

async function openNotes(argv: readonly string[] = []): Promise<TestChat & { notes: ReturnType<typeof notesServer> }> {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server }, argv });
  await chat.ready("notes");
  return { ...chat, notes };
}

/** Runs a command, and returns the lines that it printed. */
async function outputOf(chat: TestChat, line: string): Promise<string> {
  await chat.type(line);
  await chat.idle();
  const text = await chat.text();
  return text.slice(text.lastIndexOf(`> ${line}\n`) + line.length + 3, text.lastIndexOf("\nno model"));
}

test("/help shows each command and the keys", async () => {
  const chat = await openTestChat();
  const shown = await outputOf(chat, "/help");
  for (const [name, { usage = "", summary }] of chatCommands) {
    expect(shown).toContain(`/${name} ${usage}`.trim());
    expect(shown).toContain(summary);
  }
  expect(shown).toContain(
    "Ctrl-C                            cancel the call, then the answer; twice at an empty input: leave",
  );
});

test("/help is readable in a narrow terminal", async () => {
  const chat = await openTestChat({ columns: 50, rows: 100 });
  const shown = await outputOf(chat, "/help");
  expect(shown.split("\n").every((line) => line.length <= 50)).toBe(true);
  expect(shown).toContain("\n/why [NUMBER|tools]               show what the\n");
});

test("/tools shows the tools of each server, and /tools TOOL the definition for the model", async () => {
  const chat = await openNotes();
  const all = await outputOf(chat, "/tools");
  expect(all).toContain("  notes__search [read-only]  Searches the notes.\n");
  const one = await outputOf(chat, "/tools notes__search");
  expect(one).toContain("Tools (1)");
  expect(one).toContain("Server notes. The definition for the model:");
  expect(one).toContain('"description": "[MCP server \\"notes\\"] Searches the notes."');
  await chat.expectRefusal("/tools notes__serch", 'There is no tool "notes__serch"');
  expect(await chat.text()).toContain('Did you mean "notes__search"?');
});

test("/prompts and /resources show the names to type", async () => {
  const chat = await openNotes();
  expect(await outputOf(chat, "/prompts")).toContain("/notes:summarize\n    Summarizes a page.\n    - page (required)");
  const resources = await outputOf(chat, "/resources");
  expect(resources).toContain("@notes:note://today [today, text/plain]\n    The note of today");
  expect(resources).toContain("@notes:runbook://{team}/{service}");
});

test("lists without entries name the command that shows the servers", async () => {
  const chat = await openTestChat();
  for (const list of ["/tools", "/prompts", "/resources"]) {
    expect(await outputOf(chat, list)).toBe("The servers offer none. /servers shows their state.");
  }
  expect(await outputOf(chat, "/servers")).toContain("There are no servers.");
});

test("/attached and /detach show and end the updates of a resource", async () => {
  const chat = await openNotes();
  expect(await outputOf(chat, "/attached")).toContain("No resource is attached.");
  await chat.type("Read @notes:note://today");
  expect(await outputOf(chat, "/attached")).toBe("@notes:note://today  follows its changes");
  chat.notes.server.resources.updated("note://today");
  await chat.waitForText("has changed");
  expect(await outputOf(chat, "/attached")).toBe("@notes:note://today  changed, read with the next message");
  expect(await outputOf(chat, "/detach @notes:note://today")).toContain("Detached.");
  expect(await outputOf(chat, "/attached")).toContain("No resource is attached.");
  await chat.expectRefusal("/detach @notes:note://today", "@notes:note://today is not attached.");
  await chat.expectRefusal("/detach today", "Which resource?");
});

test("/roots changes the folders that servers receive", async () => {
  const chat = await openNotes();
  mkdirSync(join(chat.home, "src"));
  expect(await outputOf(chat, "/roots")).toContain("No folder is shared with servers.");
  expect(await outputOf(chat, "/roots add src")).toBe(`src  ${pathToFileURL(join(chat.home, "src")).href}`);
  expect(await outputOf(chat, "/roots add src")).toBe(`src  ${pathToFileURL(join(chat.home, "src")).href}`);
  expect(await outputOf(chat, "/call folders")).toContain(pathToFileURL(join(chat.home, "src")).href);
  await chat.expectRefusal("/roots add lib", "lib does not exist.");
  await chat.expectRefusal("/roots remove .", ". is not a root.");
  await chat.expectRefusal("/roots share src", "/roots accepts add DIR or remove DIR.");
  await chat.expectRefusal("/roots add", "/roots accepts add DIR or remove DIR.");
  expect(await outputOf(chat, "/roots remove src")).toContain("No folder is shared with servers.");
});

test("/roots starts with the folders of --root", async () => {
  const chat = await openNotes(["--root", "."]);
  expect(await outputOf(chat, "/roots")).toContain(pathToFileURL(chat.home).href);
  expect(await outputOf(chat, "/call folders")).toContain(pathToFileURL(chat.home).href);
});

test("/save writes Markdown or JSON, and replaces a file only with --overwrite", async () => {
  const chat = await openNotes();
  await chat.type("My question");
  const line = await outputOf(chat, "/save chat.md");
  expect(line).toContain("chat.md");
  const file = join(chat.home, "chat.md");
  expect(readFileSync(file, "utf8")).toContain("My question");
  await chat.expectRefusal("/save chat.md", "Choose another name, or add --overwrite.");
  await outputOf(chat, "/save chat.md --overwrite");
  await outputOf(chat, '/save "my chat.json"');
  const saved = JSON.parse(readFileSync(join(chat.home, "my chat.json"), "utf8")) as { messages: unknown[] };
  expect(JSON.stringify(saved)).toContain("My question");
  await chat.expectRefusal("/save", "/save needs one file.");
  await chat.expectRefusal("/save a.md b.md", "/save needs one file.");
  await chat.expectRefusal('/save "a', "has no end.");
});

test("/new starts an empty conversation with another id", async () => {
  const chat = await openNotes();
  await chat.type("First");
  expect(await outputOf(chat, "/new")).toBe("A new conversation.");
  expect(await outputOf(chat, "/why")).not.toContain("First");
  await chat.type("Second");
  expect(await chat.leave()).toBe(0);
  expect((await chat.text()).match(/--resume \w+/g)).toHaveLength(1);
});

test("/quit leaves, also with words after it", async () => {
  const chat = await openNotes();
  await chat.type("/quit now");
  expect(await chat.exit).toBe(0);
});

test("/help has each text below its command in a very narrow terminal", async () => {
  const chat = await openTestChat({ columns: 40 });
  await chat.type("/help");
  await chat.waitForText("leave, or close a question");
  const text = await chat.text();
  expect(text).toContain("/save FILE [--overwrite]\n    write the conversation to a file:\n    .json, or Markdown\n");
});
