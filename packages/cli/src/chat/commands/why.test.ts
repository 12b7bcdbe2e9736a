import { expect, test } from "vitest";
import { callStep, scriptedModel, textStep } from "../../../../host/src/testing/scripted-model.ts";
import { notesServer } from "../testing/notes-server.ts";
import { type TestChat, openTestChat } from "../testing/open-test-chat.ts";

async function outputOf(chat: TestChat, line: string): Promise<string> {
  await chat.type(line);
  await chat.idle();
  const text = await chat.text();
  const start = text.lastIndexOf(`> ${line}\n`) + line.length + 3;
  return text.slice(start, text.lastIndexOf("\n", text.lastIndexOf(" servers connected - ")));
}

async function openWithModel(): Promise<TestChat> {
  const model = scriptedModel([
    callStep([{ name: "notes__search", input: { query: "x" } }]),
    textStep("It is x."),
    textStep("Again."),
  ]);
  const chat = await openTestChat({
    servers: { notes: notesServer().server },
    model,
    argv: ["--system", "Be brief.", "--allow", "search"],
  });
  await chat.ready("notes");
  return chat;
}

test("is refused before a message was sent", async () => {
  const chat = await openWithModel();
  await chat.expectRefusal("/why", "Nothing was sent to the model yet.");
});

test("shows each part of the last request with an estimate of its tokens, and the total", async () => {
  const chat = await openWithModel();
  await chat.type("What is x?");
  await chat.waitForText("It is x.");
  const shown = await outputOf(chat, "/why");
  expect(shown).toContain("The last request to test/scripted");
  expect(shown).toMatch(/ 1 {2}system {4}\s+~\d+ {2}Be brief\./);
  expect(shown).toMatch(/ 2 {2}user {6}\s+~\d+ {2}What is x\?/);
  expect(shown).toMatch(/ 3 {2}assistant\s+~\d+ {2}notes__search\(\{"query":"x"\}\)/);
  expect(shown).toMatch(/ 4 {2}tool {6}\s+~\d+ {2}notes__search: /);
  expect(shown).toMatch(/tools {5}\s+~\d+ {2}12 definitions/);
  const tokens = [...shown.matchAll(/^ .*?~(\d+)/gm)].map(([, count]) => Number(count));
  const total = tokens.pop();
  expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(total);
  expect(shown).toContain("~ marks an estimate of tokens.");
});

test("/why NUMBER shows a whole part, and /why tools the tokens of each definition", async () => {
  const chat = await openWithModel();
  await chat.type("What is x?");
  await chat.waitForText("It is x.");
  expect(await outputOf(chat, "/why 2")).toBe("What is x?");
  expect(await outputOf(chat, "/why 4")).toContain("Found: x");
  const tools = await outputOf(chat, "/why tools");
  expect(tools).toMatch(/^\s*~\d+ {2}notes__search$/m);
  const tokens = [...tools.matchAll(/~(\d+)/g)].map(([, count]) => Number(count));
  expect(tokens).toHaveLength(12);
  expect(tokens).toEqual(tokens.toSorted((one, other) => other - one));
});

test("refuses a part that the request does not have", async () => {
  const chat = await openWithModel();
  await chat.type("What is x?");
  await chat.waitForText("It is x.");
  for (const word of ["0", "5", "-1", "1.5", "everything"]) {
    await chat.expectRefusal(`/why ${word}`, `The request has no part "${word}".`);
  }
  expect(await chat.text()).toContain("The parts are 1 to 4, and tools.");
});

test("without a model shows what would be sent, and does not change the conversation", async () => {
  const chat = await openTestChat({ servers: { notes: notesServer().server } });
  await chat.ready("notes");
  await chat.type("My text");
  const first = await outputOf(chat, "/why");
  expect(first).toContain("What a model would be sent");
  expect(first).toContain("My text");
  expect(await outputOf(chat, "/why")).toBe(first);
});

test("without a model and without messages shows the system prompt and the tools", async () => {
  const chat = await openTestChat({ argv: ["--system", "Be brief."] });
  const shown = await outputOf(chat, "/why");
  expect(shown).toContain("Be brief.");
  expect(shown).toMatch(/tools {5}\s+~\d+ {2}1 definition$/m);
});

test("without a model shows the new content of an attached resource that has changed", async () => {
  const notes = notesServer();
  const chat = await openTestChat({ servers: { notes: notes.server } });
  await chat.ready("notes");
  await chat.type("Read @notes:note://today");
  await chat.idle();
  notes.today = "Buy bread.";
  notes.server.resources.updated("note://today");
  await chat.waitForText("has changed");
  expect(await outputOf(chat, "/why 6")).toContain("Buy bread.");
});

test("a failed /why is offered again", async () => {
  const chat = await openTestChat();
  await chat.expectRefusal("/why 'x", "has no end.");
});
