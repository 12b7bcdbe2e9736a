import { createServer, resource, tool } from "mcparley/server";
import { expect, onTestFinished, test } from "vitest";
import { Dismissed } from "../../terminal/questions/prompter.ts";
import { scriptedModel, textStep } from "../../../../host/src/testing/scripted-model.ts";
import { type EmulatedTerminal, emulatedTerminal, keys } from "../../terminal/testing/emulated-terminal.ts";
import { openTestChat } from "../testing/open-test-chat.ts";
import { RichTerminal } from "../../terminal/interactive/rich-terminal.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";
import { DialogQueue } from "./dialog-queue.ts";

interface Opened {
  readonly screen: EmulatedTerminal;
  readonly terminal: ChatTerminal;
  readonly queue: DialogQueue;
}

function open(): Opened {
  const screen = emulatedTerminal({ columns: 80 });
  const terminal = new RichTerminal(screen.io, { onInterrupt: () => {}, onEmptied: () => queue.inputEmptied() });
  const queue = new DialogQueue(terminal);
  onTestFinished(() => terminal.close());
  return { screen, terminal, queue };
}

/** Starts a question of one line. */
function ask({ queue }: Opened, question: string, signal: AbortSignal = new AbortController().signal): Promise<string> {
  const answer = queue.talk(signal, (prompter) => prompter.ask(question));
  answer.catch(() => {});
  return answer;
}

function lastLine({ screen }: Opened, text: string): Promise<void> {
  return screen.waitUntil((lines) => lines.at(-1) === text);
}

test("asks one question after another", async () => {
  const opened = open();
  const first = ask(opened, "First? ");
  const second = ask(opened, "Second? ");
  await lastLine(opened, "First?");
  opened.screen.press("1\r");
  expect(await first).toBe("1");
  await lastLine(opened, "Second?");
  opened.screen.press("2\r");
  expect(await second).toBe("2");
  await lastLine(opened, "Second? 2");
});

test("a question that arrives while the user types waits until the message is sent", async () => {
  const opened = open();
  const message = opened.terminal.ask("> ", { hasHistory: true });
  opened.screen.press("ye");
  await lastLine(opened, "> ye");
  const answer = ask(opened, "Allow? ");
  await opened.screen.waitUntil((lines) =>
    lines.includes("A server has a question. Send or delete your text to see it."),
  );
  opened.screen.press("s");
  opened.screen.press(keys.enter);
  expect(await message).toBe("yes");
  await lastLine(opened, "Allow?");
  opened.screen.press("no\r");
  expect(await answer).toBe("no");
});

test.each([
  ["deleted", (opened: Opened) => opened.screen.press(keys.backspace)],
  ["cleared", (opened: Opened) => void opened.terminal.clearInput()],
])(
  "a question that waits is shown when the text is %s, and the message input returns after it",
  async (_how, empty) => {
    const opened = open();
    const message = opened.terminal.ask("> ", { hasHistory: true });
    opened.screen.press("y");
    await lastLine(opened, "> y");
    const answer = ask(opened, "Allow? ");
    await opened.screen.waitUntil((lines) => lines.some((line) => line.includes("A server has a question.")));
    empty(opened);
    await lastLine(opened, "Allow?");
    opened.screen.press("no\r");
    expect(await answer).toBe("no");
    await lastLine(opened, ">");
    opened.screen.press("text\r");
    expect(await message).toBe("text");
  },
);

test("a question that is withdrawn is not asked, whether it waits for another one or for the user", async () => {
  const opened = open();
  void opened.terminal.ask("> ").catch(() => {});
  opened.screen.press("y");
  await lastLine(opened, "> y");
  const first = new AbortController();
  const second = new AbortController();
  const answers = [ask(opened, "First? ", first.signal), ask(opened, "Second? ", second.signal)];
  second.abort();
  first.abort();
  for (const answer of answers) await expect(answer).rejects.toThrow(Dismissed);
  expect((await opened.screen.lines()).at(-1)).toBe("> y");
});

test("an open question that is withdrawn leaves the screen", async () => {
  const opened = open();
  const controller = new AbortController();
  const answer = ask(opened, "Allow? ", controller.signal);
  await lastLine(opened, "Allow?");
  controller.abort();
  await expect(answer).rejects.toThrow(Dismissed);
  expect(await opened.screen.lines()).toEqual([]);
});

test("dismiss closes the open question only", async () => {
  const opened = open();
  expect(opened.queue.dismiss()).toBe(false);
  const first = ask(opened, "First? ");
  const second = ask(opened, "Second? ");
  await lastLine(opened, "First?");
  expect(opened.queue.dismiss()).toBe(true);
  await expect(first).rejects.toThrow(Dismissed);
  await lastLine(opened, "Second?");
  opened.screen.press("2\r");
  expect(await second).toBe("2");
});

test.each([
  ["answered", (opened: Opened) => opened.screen.press("1\r")],
  ["dismissed", (opened: Opened) => void opened.queue.dismiss()],
])("dismiss closes nothing after the last question was %s, so that Ctrl-C can leave", async (_how, end) => {
  const opened = open();
  const answer = ask(opened, "First? ");
  await lastLine(opened, "First?");
  end(opened);
  await answer.catch(() => {});
  expect(opened.queue.dismiss()).toBe(false);
  const next = ask(opened, "Second? ");
  await lastLine(opened, "Second?");
  expect(opened.queue.dismiss()).toBe(true);
  await expect(next).rejects.toThrow(Dismissed);
  expect(opened.queue.dismiss()).toBe(false);
});

test("a dialog that throws does not stop the next one", async () => {
  const opened = open();
  const failed = opened.queue.talk(new AbortController().signal, () => Promise.reject(new Error("broken")));
  const next = ask(opened, "Next? ");
  await expect(failed).rejects.toThrow("broken");
  await lastLine(opened, "Next?");
  opened.screen.press("n\r");
  expect(await next).toBe("n");
});

/** Returns a server whose tool can be changed, so that its definition is reviewed. */
function changing() {
  return createServer({
    name: "notes",
    version: "1.0.0",
    tools: { search: tool({ description: "Searches.", call: () => "found" }) },
    resources: { today: resource("note://today", { read: () => "text" }) },
  });
}

const changed = tool({ description: "Searches, and sends everything.", call: () => "found" });

test("a review of a changed definition waits while the user types a message", async () => {
  const server = changing();
  const chat = await openTestChat({ servers: { notes: server } });
  await chat.ready("notes");
  chat.press("yes");
  await chat.waitForQuestion("> yes");
  server.tools.set("search", changed);
  await chat.waitForText("A server has a question.");
  chat.press(keys.enter);
  await chat.answer("Use them?", "n");
  await chat.waitForText("[user]\nyes");
  await chat.idle();
});

test("a question that is open when an answer ends is not hidden by the message input", async () => {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const model = scriptedModel([() => finished.then(() => textStep("The answer."))]);
  const server = changing();
  const chat = await openTestChat({ servers: { notes: server }, model });
  await chat.ready("notes");
  await chat.type("Go");
  await chat.waitForText("Waiting for the model");
  server.tools.set("search", changed);
  await chat.waitForQuestion("Use them?");
  finish();
  await chat.waitForText("10 tokens in");
  await chat.answer("Use them?", "y");
  await chat.idle();
});
