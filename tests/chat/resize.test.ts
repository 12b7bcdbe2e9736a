import { expect, test } from "vitest";
import { type Chat, openChat } from "./support/chat.ts";
import { hold, say, toolCall } from "./support/model-endpoint.ts";
import { type ModelText } from "./support/scripted-endpoint.mjs";
import { type Terminal } from "./support/terminal.ts";

const sizes = [
  [60, 24],
  [20, 24],
  [100, 12],
  [160, 40],
  [80, 24],
] as const;

/** Returns the text of the conversation in one line, so that it is the same at each width. */
function flat(terminal: Terminal): string {
  return terminal.history().replaceAll(/\s+/g, "");
}

/** Changes the size, and waits until the program has drawn again. */
async function resize(terminal: Terminal, [columns, rows]: readonly [number, number]): Promise<void> {
  const length = terminal.raw().length;
  terminal.resize(columns, rows);
  await terminal.waitFor(() => terminal.raw().length > length);
}

/** Starts a chat with a conversation, and returns its text without white space. */
async function chatWithText(...script: ModelText[]): Promise<Chat & { before: string[] }> {
  const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
  const chat = await openChat({
    args: ["--allow", "slow"],
    columns: 80,
    rows: 24,
    script: [say(words), ...script],
  });
  await chat.send("Say many words");
  await chat.terminal.waitFor("100 tokens in, 20 out");
  await chat.idle();
  return { ...chat, before: ["Saymanywords", words.replaceAll(" ", ""), "100tokensin,20out"] };
}

/** Expects each part of the conversation once, in its order. */
function expectIntact(terminal: Terminal, parts: readonly string[]): void {
  const text = flat(terminal);
  expect(parts.map((part) => text.split(part).length - 1)).toEqual(parts.map(() => 1));
  expect(parts.map((part) => text.indexOf(part))).toEqual(
    parts.map((part) => text.indexOf(part)).toSorted((one, other) => one - other),
  );
}

test("keeps the conversation while the user types", async () => {
  const { terminal, before } = await chatWithText();
  await terminal.type("a text of some words that is longer than a narrow window has columns");
  for (const size of sizes) {
    await resize(terminal, size);
    await terminal.waitFor(() => flat(terminal).endsWith("thananarrowwindowhascolumns"));
    expectIntact(terminal, [...before, ">atextofsomewords"]);
  }
  terminal.key("ctrl-u");
  await terminal.waitForCursor(/^>$/);
});

test("keeps the conversation while a menu is open, and the selected row", async () => {
  const { terminal, before } = await chatWithText();
  await terminal.type("/");
  await terminal.waitFor(/^\* \/help/m);
  terminal.key("down");
  await terminal.waitFor(/^\* \/servers/m);
  for (const size of sizes) {
    await resize(terminal, size);
    await terminal.waitFor(/^\* \/servers/m);
    expectIntact(terminal, before);
    expect(terminal.screen().match(/^\* /gm)).toHaveLength(1);
  }
  terminal.key("tab");
  await terminal.waitFor("> /servers");
});

test("keeps the conversation while an answer arrives", async () => {
  const { held, release } = hold();
  const second = hold();
  const text = "The beginning of a long answer that needs several rows in a narrow window";
  const chat = await openChat({
    columns: 80,
    rows: 24,
    script: [say("First."), say(text, held, " and more", second.held, " at last")],
  });
  const { terminal, send } = chat;
  await send("One");
  await terminal.waitFor("First.");
  await send("Two");
  await terminal.waitFor("narrow window");
  for (const size of sizes.slice(0, 3)) {
    await resize(terminal, size);
    await terminal.waitFor(/window\s*$/);
  }
  release();
  await terminal.waitFor(/and more\s*$/);
  for (const size of sizes.slice(3)) await resize(terminal, size);
  second.release();
  await terminal.waitFor(/at last/);
  await chat.idle();
  expectIntact(terminal, ["First.", "Two", text.replaceAll(" ", ""), "andmoreatlast"]);
});

test("keeps the conversation and the question while a question is open", async () => {
  const chat = await openChat({
    columns: 80,
    rows: 40,
    script: [say("First."), say(toolCall("server__echo", { text: "a text in a call" })), say("Done.")],
  });
  const { terminal, send } = chat;
  await send("One");
  await terminal.waitFor("First.");
  await send("Two");
  await terminal.waitFor("[v]iew?");
  for (const size of sizes) {
    await resize(terminal, size);
    await terminal.waitFor(() => flat(terminal).endsWith("[v]iew?"));
    expectIntact(terminal, ["First.", "Themodelwantstocallthetool", "Callit?"]);
  }
  await chat.answer("[v]iew?", "y");
  await terminal.waitFor("Done.");
});

/** Returns the step that the status shows. */
function stepOf(terminal: Terminal): string | undefined {
  return /^server__slow: (\d+)/m.exec(terminal.screen())?.[1];
}

test("keeps the conversation while a call reports its progress", async () => {
  const { terminal, send, before } = await chatWithText(say(toolCall("server__slow", { interval: 20 })));
  await send("Work");
  await terminal.waitFor(/step \d+ \(Ctrl-C/);
  for (const size of sizes) {
    await resize(terminal, size);
    const step = stepOf(terminal);
    await terminal.waitFor(() => stepOf(terminal) !== step);
    expectIntact(terminal, before);
  }
  expect(terminal.history().match(/^server__slow: \d+/gm)).toHaveLength(1);
});

test("can be used in a window of 20 columns", async () => {
  const { terminal, send, answer } = await openChat({
    columns: 20,
    rows: 40,
    waits: false,
    script: [say(toolCall("server__echo", { text: "a" })), say("It is done, and here is a long answer.")],
  });
  await send("Echo it");
  await terminal.waitFor(() => flat(terminal).endsWith("[v]iew?"));
  expect(flat(terminal)).toContain('Themodelwantstocallthetool"echo"oftheserver"server".');
  await answer("[v]iew?", "y");
  await terminal.waitFor(() => flat(terminal).includes("Itisdone,andhereisalonganswer."));
  expect(
    terminal
      .history()
      .split("\n")
      .every((line) => line.length <= 20),
  ).toBe(true);
  await terminal.type("/serv");
  await terminal.waitFor(/^\* \/servers/m);
});
