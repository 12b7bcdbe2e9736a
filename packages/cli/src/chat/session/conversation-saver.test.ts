import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callStep, scriptedModel, textParts, textStep } from "../../../../host/src/testing/scripted-model.ts";
import { UsageError } from "../../terminal/io.ts";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { keys } from "../../terminal/testing/emulated-terminal.ts";
import { notesServer } from "../testing/notes-server.ts";
import { openTestChat } from "../testing/open-test-chat.ts";

const chatsOf = (home: string): string => join(home, ".local", "state", "mcparley", "chats");

/** Returns the files of the stored conversations. */
function storedFiles(home: string): string[] {
  return readdirSync(chatsOf(home))
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(chatsOf(home), name));
}

/** Returns the id that the end of a chat names. */
async function idOf(chat: { text(): Promise<string> }): Promise<string> {
  const [, id = ""] = /Continue this conversation with: mcparley chat --resume (\w+)/.exec(await chat.text()) ?? [];
  return id;
}

test("stores each turn in a private file, and continues it by its id", async () => {
  const first = await openTestChat({ model: scriptedModel([textStep("Blue.")]), targets: ["notes"] });
  await first.type("Name a colour.");
  await first.waitForText("Blue.");
  await first.leave();
  const id = await idOf(first);
  const [file = "", ...others] = storedFiles(first.home);
  expect(others).toEqual([]);
  expect(file).toContain(id);
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    title: "Name a colour.",
    model: "test/scripted",
    targets: ["notes"],
  });
  const model = scriptedModel([textStep("Green.")]);
  const second = await openTestChat({ model, home: first.home, argv: ["--resume", id.slice(0, 5)] });
  await second.waitForText("Continued: Name a colour. (2 messages)\n[assistant]\nBlue.");
  await second.type("Another one.");
  await second.waitForText("Green.");
  await second.leave();
  expect(await idOf(second)).toBe(id);
  expect(storedFiles(first.home)).toEqual([file]);
  expect(JSON.stringify(model.requests[0]?.prompt)).toMatch(/Name a colour.*Blue.*Another one/);
});

test("approvals of the session are not restored", async () => {
  const search = callStep([{ name: "notes__search", input: { query: "x" } }]);
  const notes = notesServer();
  const first = await openTestChat({
    servers: { notes: notes.server },
    model: scriptedModel([search, textStep("Found it.")]),
  });
  await first.ready("notes");
  await first.type("Go");
  await first.answer("Call it?", "s");
  await first.waitForText("Found it.");
  await first.leave();
  const second = await openTestChat({
    servers: { notes: notes.server },
    model: scriptedModel([search, textStep("Again.")]),
    home: first.home,
    argv: ["--resume", "last"],
  });
  await second.ready("notes");
  await second.type("Go");
  await second.waitForQuestion("Call it?");
  expect(notes.calls).toEqual(["search x"]);
});

test("a chat without messages stores nothing", async () => {
  const chat = await openTestChat();
  await chat.type("/help");
  await chat.leave();
  expect(() => storedFiles(chat.home)).toThrow("ENOENT");
  expect(await idOf(chat)).toBe("");
});

test("a message without an answer is not stored, and earlier turns are", async () => {
  const failed = new Error("Down.");
  const first = await openTestChat({ model: scriptedModel([failed]) });
  await first.type("Name a colour.");
  await first.waitForText("failed: Down.");
  await first.waitForQuestion("> Name a colour.");
  first.press(keys.ctrlC);
  await first.leave();
  expect(storedFiles(first.home)).toEqual([]);
  expect(await idOf(first)).toBe("");
  const second = await openTestChat({ home: first.home, model: scriptedModel([textStep("Blue."), failed]) });
  await second.type("Name a colour.");
  await second.waitForText("Blue.");
  await second.type("And a number.");
  await second.waitForText("failed: Down.");
  await second.waitForQuestion("> And a number.");
  second.press(keys.ctrlC);
  await second.leave();
  const stored = JSON.parse(readFileSync(storedFiles(first.home)[0] ?? "", "utf8")) as {
    conversation: { messages: { role: string }[] };
  };
  expect(stored.conversation.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("a message without an answer is stored if the chat is ended", async () => {
  const model = scriptedModel([() => new Promise<never>(() => {})]);
  const chat = await openTestChat({ model });
  await chat.type("Name a colour.");
  await chat.waitForText("Waiting for the model (Ctrl-C stops)");
  chat.terminate();
  expect(await chat.exit).toBe(0);
  expect(readFileSync(storedFiles(chat.home)[0] ?? "", "utf8")).toContain("Name a colour.");
});

test("--no-history writes nothing", async () => {
  const chat = await openTestChat({ model: scriptedModel([textStep("Blue.")]), argv: ["--no-history"] });
  await chat.type("Name a colour.");
  await chat.waitForText("Blue.");
  await chat.leave();
  expect(await idOf(chat)).toBe("");
  expect(readdirSync(chat.home, { recursive: true }).filter((name) => String(name).endsWith(".json"))).toEqual([]);
});

test("a turn that the end of the chat interrupts is stored", async () => {
  const chat = await openTestChat({ model: scriptedModel([[...textParts("Half of it"), "hang"]]) });
  await chat.type("Name a colour.");
  await chat.waitForText("Half of it");
  for (let press = 1; press <= 3; press++) chat.press(keys.ctrlC);
  expect(await chat.exit).toBe(0);
  expect(readFileSync(storedFiles(chat.home)[0] ?? "", "utf8")).toContain("Half of it");
});

test("a stored conversation that is not valid is refused, and not changed", async () => {
  const home = await temporaryFolder();
  const first = await openTestChat({ home, model: scriptedModel([textStep("Blue.")]) });
  await first.type("Name a colour.");
  await first.waitForText("Blue.");
  await first.leave();
  const [file = ""] = storedFiles(home);
  const broken = readFileSync(file, "utf8").replace('"role":"assistant"', '"role":"system"');
  writeFileSync(file, broken);
  const second = await openTestChat({ home, argv: ["--resume", "last"] });
  await expect(second.exit).rejects.toThrow(UsageError);
  await expect(second.exit).rejects.toThrow(/cannot be continued/);
  expect(readFileSync(file, "utf8")).toBe(broken);
  expect(second.screen.raw().endsWith("\u001b[?2004l")).toBe(true);
});

test("an attached resource is followed again in the continued conversation", async () => {
  const notes = notesServer();
  const first = await openTestChat({ servers: { notes: notes.server } });
  await first.ready("notes");
  await first.type("Read @notes:note://today");
  await first.leave();
  notes.today = "Buy bread.";
  const second = await openTestChat({
    servers: { notes: notes.server },
    home: first.home,
    argv: ["--resume", "last"],
  });
  await second.ready("notes");
  await second.type("Now?");
  await second.waitForText("Buy bread.");
});

test("a conversation that cannot be stored is reported, and goes on", async () => {
  const home = await temporaryFolder({ ".local/state/mcparley/chats": "a file" });
  const chat = await openTestChat({ home, model: scriptedModel([textStep("Blue."), textStep("Green.")]) });
  await chat.type("Name a colour.");
  await chat.waitForText("Blue.");
  await chat.waitForText(join(".local", "state", "mcparley", "chats"));
  await chat.type("Another one.");
  await chat.waitForText("Green.");
});
