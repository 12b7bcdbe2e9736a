import { Writable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { Dismissed } from "../questions/prompter.ts";
import { type EmulatedTerminal, emulatedTerminal, keys } from "../testing/emulated-terminal.ts";
import { manualClock } from "../testing/manual-clock.ts";
import { RichTerminal } from "./rich-terminal.ts";
import type { ChatTerminal, InputOptions } from "./terminal.ts";

interface Opened {
  readonly screen: EmulatedTerminal;
  readonly terminal: ChatTerminal;
  readonly onInterrupt: ReturnType<typeof vi.fn>;
}

function open(size: { columns?: number; rows?: number } = {}): Opened {
  const screen = emulatedTerminal(size);
  const onInterrupt = vi.fn();
  const terminal = new RichTerminal(screen.io, { onInterrupt });
  onTestFinished(() => terminal.close());
  return { screen, terminal, onInterrupt };
}

/** Starts a question, and returns its answer. */
function ask({ terminal }: Opened, options: InputOptions = {}, signal?: AbortSignal): Promise<string> {
  const answer = terminal.ask("> ", options, signal);
  answer.catch(() => {});
  return answer;
}

test("shows the question, and returns the typed text", async () => {
  const opened = open();
  const answer = ask(opened);
  opened.screen.press("hello");
  expect(await opened.screen.lines()).toEqual(["> hello"]);
  expect(await opened.screen.cursor()).toEqual({ row: 0, column: 7 });
  opened.screen.press(keys.enter);
  expect(await answer).toBe("hello");
  expect(await opened.screen.lines()).toEqual(["> hello"]);
});

test("prints above an open input", async () => {
  const opened = open();
  void ask(opened);
  opened.screen.press("hel");
  opened.terminal.print("a notice\nof two lines");
  opened.screen.press("lo");
  expect(await opened.screen.lines()).toEqual(["a notice", "of two lines", "> hello"]);
  expect(await opened.screen.cursor()).toEqual({ row: 2, column: 7 });
});

test("wraps an input that is wider than the terminal", async () => {
  const opened = open({ columns: 10 });
  void ask(opened);
  opened.screen.press("abcdefghijkl");
  expect(await opened.screen.lines()).toEqual(["> abcdefgh", "  ijkl"]);
  opened.terminal.print("note");
  expect(await opened.screen.lines()).toEqual(["note", "> abcdefgh", "  ijkl"]);
});

test("places the cursor after wide characters", async () => {
  const opened = open();
  void ask(opened);
  opened.screen.press("日本");
  expect(await opened.screen.lines()).toEqual(["> 日本"]);
  expect(await opened.screen.cursor()).toEqual({ row: 0, column: 6 });
});

test("moves and edits within the text", async () => {
  const opened = open();
  const answer = ask(opened);
  opened.screen.press("helo");
  opened.screen.press(keys.left);
  opened.screen.press("l");
  expect(await opened.screen.cursor()).toEqual({ row: 0, column: 6 });
  opened.screen.press(keys.enter);
  expect(await answer).toBe("hello");
});

test("offers earlier texts by the arrow keys", async () => {
  const opened = open();
  const first = ask(opened, { hasHistory: true });
  opened.screen.press("one");
  opened.screen.press(keys.enter);
  await first;
  const second = ask(opened, { hasHistory: true });
  opened.screen.press(keys.up);
  opened.screen.press(keys.enter);
  expect(await second).toBe("one");
});

test("a paste of several lines does not submit", async () => {
  const opened = open();
  const answer = ask(opened, { isMultiline: true });
  opened.screen.press("\u001b[200~one\rtwo\rthree\u001b[201~");
  expect(await opened.screen.lines()).toEqual(["> one", "  two", "  three"]);
  opened.screen.press(keys.enter);
  expect(await answer).toBe("one\ntwo\nthree");
});

test("a paste of several lines without the markers of a terminal does not submit", async () => {
  const opened = open();
  const answer = ask(opened, { isMultiline: true });
  opened.screen.press("one\rtwo\r");
  expect(await opened.screen.lines()).toEqual(["> one", "  two"]);
  opened.screen.press(keys.enter);
  expect(await answer).toBe("one\ntwo");
});

test("Enter and the next keys in one chunk are no paste", async () => {
  const opened = open();
  const first = ask(opened, { hasHistory: true, isMultiline: true });
  opened.screen.press("one");
  opened.screen.press("\rtwo");
  expect(await first).toBe("one");
  const second = ask(opened, { hasHistory: true, isMultiline: true });
  opened.screen.press(keys.enter);
  expect(await second).toBe("two");
});

test("a paste into a question of one line becomes one line", async () => {
  const opened = open();
  const answer = ask(opened);
  opened.screen.press("\u001b[200~one\ntwo\u001b[201~");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("one two");
});

test("a paste inserts no control characters", async () => {
  const opened = open();
  const answer = ask(opened, { isMultiline: true });
  opened.screen.press("\u001b[200~a\u001b[31mb\u0007c\u001b[201~");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("abc");
});

test("Alt-Enter, Ctrl-J and a backslash insert a line break", async () => {
  const opened = open();
  const answer = ask(opened, { isMultiline: true });
  opened.screen.press("a");
  opened.screen.press(keys.altEnter);
  opened.screen.press("b");
  opened.screen.press("\n");
  opened.screen.press("c\\");
  opened.screen.press(keys.enter);
  opened.screen.press("d");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("a\nb\nc\nd");
});

test("the arrow keys move between the lines of a text", async () => {
  const opened = open();
  const answer = ask(opened, { isMultiline: true });
  opened.screen.press("\u001b[200~first\nsecond\u001b[201~");
  opened.screen.press(keys.up);
  opened.screen.press("X");
  expect(await opened.screen.lines()).toEqual(["> firstX", "  second"]);
  opened.screen.press(keys.down);
  opened.screen.press("Y");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("firstX\nsecondY");
});

const fruits: InputOptions = {
  suggest: (before) => ({
    entries: ["apple", "banana", "cherry"]
      .filter((name) => name.startsWith(before))
      .map((value) => ({ value, detail: `a ${value}` })),
    replaces: before.length,
  }),
};

test("shows a menu, whose entry is chosen by the arrow keys and Enter", async () => {
  const opened = open();
  const answer = ask(opened, fruits);
  expect(await opened.screen.lines()).toEqual(["  apple   a apple", "  banana  a banana", "  cherry  a cherry", ">"]);
  opened.screen.press(keys.down);
  opened.screen.press(keys.down);
  expect((await opened.screen.lines())[1]).toBe("* banana  a banana");
  opened.screen.press(keys.enter);
  expect((await opened.screen.lines()).at(-1)).toBe("> banana");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("banana");
});

test("Tab inserts the first entry of the menu", async () => {
  const opened = open();
  const answer = ask(opened, fruits);
  opened.screen.press("ch");
  opened.screen.press(keys.tab);
  opened.screen.press(keys.enter);
  expect(await answer).toBe("cherry");
});

test("Enter submits the typed text if no entry is selected", async () => {
  const opened = open();
  const answer = ask(opened, fruits);
  opened.screen.press("b");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("b");
});

test("drops the entries for an earlier text", async () => {
  const opened = open();
  const resolvers: ((values: string[]) => void)[] = [];
  void ask(opened, {
    suggest: async (before) => ({
      entries: (await new Promise<string[]>((resolve) => resolvers.push(resolve))).map((value) => ({ value })),
      replaces: before.length,
    }),
  });
  opened.screen.press("a");
  resolvers[1]?.(["second"]);
  await vi.waitFor(async () => expect(await opened.screen.lines()).toEqual(["  second", "> a"]));
  resolvers[0]?.(["first"]);
  expect(await opened.screen.lines()).toEqual(["  second", "> a"]);
});

test("a menu that fails is empty", async () => {
  const opened = open();
  const answer = ask(opened, { suggest: () => Promise.reject(new Error("no completion")) });
  opened.screen.press("a");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("a");
});

test("asks a second question in place of the first, which continues with its text", async () => {
  const opened = open();
  const first = ask(opened);
  opened.screen.press("mess");
  const second = opened.terminal.ask("Allow? ");
  opened.screen.press("yes");
  expect(await opened.screen.lines()).toEqual(["Allow? yes"]);
  opened.screen.press(keys.enter);
  expect(await second).toBe("yes");
  opened.screen.press("age");
  opened.screen.press(keys.enter);
  expect(await first).toBe("message");
});

test("an open question stays in front of a message input that is opened later", async () => {
  const opened = open();
  const question = opened.terminal.ask("Allow? ");
  const message = ask(opened, { hasHistory: true });
  opened.screen.press("y");
  expect(await opened.screen.lines()).toEqual(["Allow? y"]);
  opened.screen.press(keys.enter);
  expect(await question).toBe("y");
  opened.screen.press("hello");
  opened.screen.press(keys.enter);
  expect(await message).toBe("hello");
});

test("keeps the keys that are pressed while nothing is asked for the next message, and not for a question", async () => {
  const opened = open();
  opened.screen.press("y");
  opened.screen.press(keys.enter);
  opened.screen.press("es");
  expect(await opened.screen.lines()).toEqual(["> yes"]);
  const answer = opened.terminal.ask("Allow? ");
  expect(await opened.screen.lines()).toEqual(["Allow?", "> yes"]);
  expect(await opened.screen.cursor()).toEqual({ row: 0, column: 7 });
  opened.screen.press("no");
  opened.screen.press(keys.enter);
  expect(await answer).toBe("no");
  const message = ask(opened, { hasHistory: true });
  opened.screen.press(keys.enter);
  expect(await message).toBe("yes");
});

test("draws again after the terminal became narrower and wider", async () => {
  const opened = open({ columns: 30 });
  void ask(opened, { hint: () => "a hint above the input" });
  opened.screen.press("a text of several words");
  opened.terminal.print("above");
  await opened.screen.resize(14, 12);
  expect(await opened.screen.lines()).toEqual(["above", "a hint above…", "> a text of se", "  veral words"]);
  await opened.screen.resize(40, 12);
  expect(await opened.screen.lines()).toEqual(["above", "a hint above the input", "> a text of several words"]);
});

test("shows the end of an input that is higher than the terminal", async () => {
  const opened = open({ rows: 12 });
  void ask(opened, { isMultiline: true });
  const text = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n");
  opened.screen.press(`\u001b[200~${text}\u001b[201~`);
  expect(await opened.screen.lines()).toEqual(["  line 46", "  line 47", "  line 48", "  line 49"]);
});

test("shows a text that arrives in parts, and prints after it", async () => {
  const opened = open({ columns: 20 });
  opened.terminal.status(["working"]);
  opened.terminal.write("Hello ");
  expect(await opened.screen.lines()).toEqual(["Hello", "working"]);
  opened.terminal.write("world, this is long\nand n");
  expect(await opened.screen.lines()).toEqual(["Hello world, this is", "long", "and n", "working"]);
  opened.terminal.write("ew");
  opened.terminal.print("done");
  opened.terminal.status([]);
  expect((await opened.screen.lines()).slice(-2)).toEqual(["and new", "done"]);
});

test("text cannot control the terminal, although it is printed without escaping", async () => {
  const opened = open();
  opened.terminal.print("a\u001b]52;c;aGk=\u0007b\u001b[2Jc");
  opened.terminal.status(["s\u001b[5;5Hs"]);
  expect(opened.screen.raw()).not.toContain("\u001b]52");
  expect(opened.screen.raw()).not.toContain("\u001b[2J");
  expect(opened.screen.raw()).not.toContain("\u001b[5;5H");
});

test("an aborted signal withdraws the question", async () => {
  const opened = open();
  const controller = new AbortController();
  const answer = ask(opened, {}, controller.signal);
  controller.abort();
  await expect(answer).rejects.toThrow(Dismissed);
  expect(await opened.screen.lines()).toEqual([]);
});

test("Ctrl-C interrupts, and Ctrl-D dismisses an empty input", async () => {
  const opened = open();
  const answer = ask(opened);
  opened.screen.press("x");
  opened.screen.press(keys.ctrlD);
  opened.screen.press(keys.ctrlC);
  expect(opened.onInterrupt).toHaveBeenCalledTimes(1);
  expect(opened.terminal.clearInput()).toBe(true);
  expect(opened.terminal.clearInput()).toBe(false);
  opened.screen.press(keys.ctrlD);
  await expect(answer).rejects.toThrow(Dismissed);
});

test("Ctrl-C works within a paste whose end was lost", () => {
  const opened = open();
  void ask(opened);
  opened.screen.press("\u001b[200~text");
  opened.screen.press(keys.ctrlC);
  expect(opened.onInterrupt).toHaveBeenCalledTimes(1);
});

test("restores the terminal when it is closed", async () => {
  const { screen, terminal } = open();
  const answer = terminal.ask("> ");
  answer.catch(() => {});
  terminal.close();
  await expect(answer).rejects.toThrow(Dismissed);
  expect(screen.raw().endsWith("\u001b[?2004l")).toBe(true);
  expect(await screen.lines()).toEqual([]);
});

/** Opens a terminal with a clock that the test moves. */
function openWithClock(): Opened & { readonly clock: ReturnType<typeof manualClock> } {
  const clock = manualClock();
  const screen = emulatedTerminal({ schedule: clock.schedule });
  const onInterrupt = vi.fn();
  const terminal = new RichTerminal(screen.io, { onInterrupt });
  onTestFinished(() => terminal.close());
  return { screen, terminal, onInterrupt, clock };
}

/** Returns whether the cursor is shown. */
function isCursorVisible({ screen }: Opened): boolean {
  return screen.raw().lastIndexOf("\u001b[?25h") > screen.raw().lastIndexOf("\u001b[?25l");
}

test("a key within 500 ms after a question was drawn does not answer it, and is kept for the next message", async () => {
  const opened = openWithClock();
  const { screen, clock } = opened;
  const message = ask(opened, { hasHistory: true, isMultiline: true });
  screen.press("please ");
  const answer = opened.terminal.ask("Allow? ");
  screen.press("s");
  screen.press("\r");
  clock.advance(499);
  screen.press("\u001b[200~ y\u001b[201~");
  screen.press("\r");
  expect(await screen.lines()).toEqual(["Allow?", "> please s y"]);
  expect(isCursorVisible(opened)).toBe(false);
  clock.advance(1);
  expect(isCursorVisible(opened)).toBe(true);
  screen.press("no");
  expect(await screen.lines()).toEqual(["Allow? no", "> please s y"]);
  screen.press("\r");
  expect(await answer).toBe("no");
  expect(await screen.lines()).toEqual(["Allow? no", "> please s y"]);
  screen.press("!\r");
  expect(await message).toBe("please s y!");
});

test("a message takes keys at once", async () => {
  const opened = openWithClock();
  const message = ask(opened, { hasHistory: true });
  expect(isCursorVisible(opened)).toBe(true);
  opened.screen.press("text\r");
  expect(await message).toBe("text");
  expect(opened.clock.pending()).toBe(0);
});

test("each question of a dialog takes no key of the one before", async () => {
  const opened = openWithClock();
  const { screen, clock } = opened;
  const first = opened.terminal.ask("First? ");
  clock.advance(500);
  screen.press("1\r");
  screen.press("\r");
  expect(await first).toBe("1");
  const second = opened.terminal.ask("Second? ");
  screen.press("n\r");
  clock.advance(499);
  screen.press(keys.ctrlD);
  expect((await screen.lines()).slice(-2)).toEqual(["Second?", "> n"]);
  clock.advance(1);
  screen.press("2\r");
  expect(await second).toBe("2");
});

test("a question that is shown again takes no key at first", async () => {
  const opened = openWithClock();
  const { screen, clock } = opened;
  const first = opened.terminal.ask("First? ");
  clock.advance(500);
  screen.press("y");
  const controller = new AbortController();
  const second = opened.terminal.ask("Second? ", {}, controller.signal);
  second.catch(() => {});
  clock.advance(500);
  controller.abort();
  await expect(second).rejects.toThrow(Dismissed);
  screen.press("\r");
  expect(await screen.lines()).toEqual(["First? y"]);
  clock.advance(500);
  screen.press("es\r");
  expect(await first).toBe("yes");
});

test("a menu of a question takes no key within 500 ms", async () => {
  const opened = openWithClock();
  const { screen, clock } = opened;
  const answer = ask(opened, fruits);
  for (const key of [keys.down, keys.tab, keys.enter]) screen.press(key);
  expect(await screen.lines()).toEqual(["  apple   a apple", "  banana  a banana", "  cherry  a cherry", ">"]);
  clock.advance(500);
  for (const key of [keys.down, keys.enter, keys.enter]) screen.press(key);
  expect(await answer).toBe("apple");
});

test("Ctrl-C works within 500 ms, and other output does not prolong the time", async () => {
  const opened = openWithClock();
  const { screen, terminal, clock } = opened;
  const answer = terminal.ask("Allow? ");
  answer.catch(() => {});
  screen.press(keys.ctrlC);
  expect(opened.onInterrupt).toHaveBeenCalledTimes(1);
  clock.advance(400);
  terminal.print("a notice");
  terminal.status(["working"]);
  clock.advance(100);
  screen.press("y\r");
  expect(await answer).toBe("y");
});

test("a key does not answer while the output is delayed", async () => {
  const clock = manualClock();
  const screen = emulatedTerminal();
  const waiting: (() => void)[] = [];
  const stdout = new Writable({ write: (_chunk, _encoding, done) => void waiting.push(done) });
  const terminal = new RichTerminal({ ...screen.io, stdout, schedule: clock.schedule }, { onInterrupt: () => {} });
  onTestFinished(() => terminal.close());
  const answer = terminal.ask("Allow? ");
  let isAnswered = false;
  void answer.then(() => (isAnswered = true));
  clock.advance(60_000);
  screen.press("y\r");
  await new Promise(setImmediate);
  expect(isAnswered).toBe(false);
  while (clock.pending() === 0) {
    waiting.splice(0).forEach((done) => done());
    await new Promise(setImmediate);
  }
  clock.advance(499);
  screen.press("y\r");
  await new Promise(setImmediate);
  expect(isAnswered).toBe(false);
  clock.advance(1);
  screen.press("n\r");
  expect(await answer).toBe("n");
});

test("a closed terminal has no timer of a question", async () => {
  const opened = openWithClock();
  const answer = opened.terminal.ask("Allow? ");
  opened.terminal.close();
  await expect(answer).rejects.toThrow(Dismissed);
  expect(opened.clock.pending()).toBe(0);
});
