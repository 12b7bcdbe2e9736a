import { expect, onTestFinished, test } from "vitest";
import { Dismissed } from "../questions/prompter.ts";
import { type FakeIo, fakeIo } from "../../commands/testing/fake-io.ts";
import { manualClock } from "../testing/manual-clock.ts";
import { PlainTerminal } from "./plain-terminal.ts";
import type { ChatTerminal } from "./terminal.ts";

interface Opened {
  readonly io: FakeIo;
  readonly terminal: ChatTerminal;
  /** Ends the wait for the lines of a paste. */
  readonly settle: () => void;
  /** The number of Ctrl-C. */
  readonly interrupts: () => number;
}

function open(options: { terminal?: boolean; stdin?: string } = { terminal: true }): Opened {
  const io = fakeIo({ ...options, env: { TERM: "dumb" } });
  const settles: (() => void)[] = [];
  let interrupts = 0;
  const terminal = new PlainTerminal(
    io,
    { onInterrupt: () => (interrupts += 1) },
    () => new Promise((resolve) => void settles.push(resolve)),
  );
  onTestFinished(() => terminal.close());
  return { io, terminal, settle: () => settles.shift()?.(), interrupts: () => interrupts };
}

/** Resolves when the lines that were pushed have been read. */
function linesRead(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

test("asks at stderr, and returns a line", async () => {
  const { io, terminal } = open();
  const answer = terminal.ask("Name? ");
  io.stdin.push("Ann\n");
  expect(await answer).toBe("Ann");
  expect(io.err()).toBe("Name? ");
  expect(io.out()).toBe("");
});

test("a long question is broken at spaces", async () => {
  const { io, terminal } = open();
  const answer = terminal.ask(`${"word ".repeat(20)}? `);
  io.stdin.push("Ann\n");
  await answer;
  expect(io.err()).toBe(`${"word ".repeat(15)}word\n${"word ".repeat(4)}? `);
});

test("a paste of several lines is sent only after Enter", async () => {
  const { io, terminal, settle } = open();
  const answer = terminal.ask("> ", { isMultiline: true });
  io.stdin.push("one\ntwo\nthree\n");
  await linesRead();
  settle();
  await io.seen('3 lines were pasted. Press Enter to send them, or type "no" to discard them. ');
  io.stdin.push("\n");
  expect(await answer).toBe("one\ntwo\nthree");
});

test("a paste that the user discards is asked for again", async () => {
  const { io, terminal, settle } = open();
  const answer = terminal.ask("> ", { isMultiline: true });
  io.stdin.push("one\ntwo\n");
  await linesRead();
  settle();
  await io.seen("2 lines were pasted.");
  io.stdin.push("no\n");
  await linesRead();
  io.stdin.push("typed\n");
  await linesRead();
  settle();
  expect(await answer).toBe("typed");
  expect(io.err().split("> ")).toHaveLength(3);
});

test("the lines of a pipe are separate answers", async () => {
  const { io, terminal } = open({ stdin: "one\ntwo\n" });
  expect(await terminal.ask("> ", { isMultiline: true })).toBe("one");
  expect(await terminal.ask("> ", { isMultiline: true })).toBe("two");
  await expect(terminal.ask("> ")).rejects.toThrow(Dismissed);
  expect(terminal.hasEnded).toBe(true);
  expect(io.err()).toBe("");
});

test("a question is answered before the input that was open, which then continues", async () => {
  const { io, terminal } = open();
  const message = terminal.ask("> ");
  const answer = terminal.ask("Allow? ");
  io.stdin.push("no\n");
  expect(await answer).toBe("no");
  io.stdin.push("text\n");
  expect(await message).toBe("text");
  expect(io.err()).toBe("> Allow? > ");
});

test("a message is asked for only when an open question is answered", async () => {
  const { io, terminal, settle } = open();
  const answer = terminal.ask("Allow? ");
  const message = terminal.ask("> ", { hasHistory: true, isMultiline: true });
  const controller = new AbortController();
  const withdrawn = terminal.ask("> ", { hasHistory: true }, controller.signal);
  controller.abort();
  await expect(withdrawn).rejects.toThrow(Dismissed);
  expect(io.err()).toBe("Allow? ");
  io.stdin.push("no\n");
  expect(await answer).toBe("no");
  await io.seen("Allow? > ");
  io.stdin.push("text\n");
  await linesRead();
  settle();
  expect(await message).toBe("text");
});

test("a question that is withdrawn takes no line", async () => {
  const { io, terminal } = open();
  const message = terminal.ask("> ");
  const controller = new AbortController();
  const answer = terminal.ask("Allow? ", {}, controller.signal);
  controller.abort();
  await expect(answer).rejects.toThrow(Dismissed);
  await expect(terminal.ask("Late? ", {}, controller.signal)).rejects.toThrow(Dismissed);
  io.stdin.push("text\n");
  expect(await message).toBe("text");
});

test("the end of the input dismisses all questions", async () => {
  const { io, terminal } = open();
  const answers = [terminal.ask("> "), terminal.ask("Allow? ")];
  io.stdin.push(null);
  for (const answer of answers) await expect(answer).rejects.toThrow(Dismissed);
});

test("a status line is printed once, until it changes", () => {
  const { io, terminal } = open();
  terminal.status(["a: running"]);
  terminal.status(["a: running", "b: running"]);
  terminal.status(["b: half"]);
  terminal.status([]);
  terminal.status(["b: half"]);
  expect(io.err()).toBe("a: running\nb: running\nb: half\nb: half\n");
});

test("text that arrives in parts ends with a line break before other text", () => {
  const { io, terminal } = open();
  terminal.write("Hel");
  terminal.write("");
  terminal.write("lo");
  terminal.print("next");
  terminal.write("done\n");
  terminal.endText();
  expect(io.out()).toBe("Hello\nnext\ndone\n");
});

test("notes go to stderr, and other text to stdout without changes if it is no terminal", () => {
  const { io, terminal } = open({ terminal: false });
  terminal.note("a server is connected");
  terminal.print("tab\there");
  expect(io.err()).toBe("a server is connected\n");
  expect(io.out()).toBe("tab\there\n");
});

test("has no colours, images, menus or typed text", () => {
  const { io, terminal } = open();
  expect(terminal.view.style.red("text")).toBe("text");
  expect(terminal.view.width).toBe(80);
  expect(terminal.image(new Uint8Array([1]), "image/png")).toBe(false);
  expect([terminal.isRich, terminal.isTyping, terminal.clearInput()]).toEqual([false, false, false]);
  terminal.refresh();
  expect(io.out()).toBe("");
});

test("calls the listener with each Ctrl-C until it is closed", () => {
  const { io, terminal, interrupts } = open();
  io.pressCtrlC();
  io.pressCtrlC();
  terminal.close();
  io.pressCtrlC();
  expect(interrupts()).toBe(2);
});

/** Opens a terminal with a clock that the test moves. */
function openWithClock() {
  const clock = manualClock();
  const io = fakeIo({ terminal: true, env: { TERM: "dumb" }, after: clock.schedule });
  const modes: boolean[] = [];
  Object.assign(io.stdin, { isTTY: true, setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  let interrupts = 0;
  const terminal = new PlainTerminal(io, { onInterrupt: () => (interrupts += 1) }, () => Promise.resolve());
  onTestFinished(() => terminal.close());
  const isOpen = async (answer: Promise<string>): Promise<boolean> =>
    Promise.race([answer.then(() => false), linesRead().then(() => true)]);
  return { io, clock, terminal, modes, isOpen, interrupts: () => interrupts };
}

const message = { hasHistory: true, isMultiline: true } as const;

test("a key before a question or within 500 ms does not answer it, and is kept for the next message", async () => {
  const { io, clock, terminal, modes, isOpen } = openWithClock();
  io.stdin.push("typed before\n");
  await linesRead();
  const answer = terminal.ask("Allow? ");
  expect(modes).toEqual([true]);
  io.stdin.push("y\r");
  clock.advance(499);
  io.stdin.push("!\u007f?\n");
  expect(await isOpen(answer)).toBe(true);
  clock.advance(1);
  expect(modes).toEqual([true, false]);
  expect(io.err()).toBe('Allow? \nYour text "typed beforey?" is kept for the next message.\nAllow? ');
  io.stdin.push("no\n");
  expect(await answer).toBe("no");
  const next = terminal.ask("> ", message);
  await io.seen('Press Enter to send "typed beforey?", or type another message.\n> ');
  io.stdin.push("\n");
  expect(await next).toBe("typed beforey?");
  const last = terminal.ask("> ", message);
  io.stdin.push("\n");
  expect(await last).toBe("");
});

test("another message replaces the text that was kept", async () => {
  const { io, clock, terminal } = openWithClock();
  const first = terminal.ask("> ", message);
  await io.seen("> ");
  const answer = terminal.ask("Allow? ");
  io.stdin.push("y");
  await linesRead();
  clock.advance(500);
  io.stdin.push("no\n");
  expect(await answer).toBe("no");
  await io.seen('Press Enter to send "y", or type another message.\n> ');
  io.stdin.push("other\n");
  expect(await first).toBe("other");
  const next = terminal.ask("> ", message);
  io.stdin.push("\n");
  expect(await next).toBe("");
});

test("the question about a paste takes no line of the paste that arrives late", async () => {
  const { io, clock, terminal, isOpen } = openWithClock();
  const answer = terminal.ask("> ", message);
  io.stdin.push("one\ntwo\n");
  await io.seen("2 lines were pasted.");
  io.stdin.push("\n");
  expect(await isOpen(answer)).toBe(true);
  clock.advance(500);
  io.stdin.push("\n");
  expect(await answer).toBe("one\ntwo");
});

test("Ctrl-C works while a question takes no keys, and a withdrawn question restores the terminal", async () => {
  const { io, clock, terminal, modes, interrupts } = openWithClock();
  const first = terminal.ask("> ", message);
  await io.seen("> ");
  const controller = new AbortController();
  const answer = terminal.ask("Allow? ", {}, controller.signal);
  io.stdin.push("\u0003");
  await linesRead();
  expect(interrupts()).toBe(1);
  controller.abort();
  await expect(answer).rejects.toThrow(Dismissed);
  expect([modes, clock.pending()]).toEqual([[true, false], 0]);
  io.stdin.push("text\n");
  expect(await first).toBe("text");
});

test("the lines of a pipe are read at once", async () => {
  const clock = manualClock();
  const io = fakeIo({ stdin: "one\ntwo\n", after: clock.schedule });
  const terminal = new PlainTerminal(io, { onInterrupt: () => {} });
  expect([await terminal.ask("1? "), await terminal.ask("2? ")]).toEqual(["one", "two"]);
  expect(clock.pending()).toBe(0);
  terminal.close();
});
