import { describe, expect, onTestFinished, test } from "vitest";
import { fakeIo } from "../../commands/testing/fake-io.ts";
import { manualClock } from "../testing/manual-clock.ts";
import { type AskOptions, Dismissed, openPrompter } from "./prompter.ts";

describe("openPrompter", () => {
  test("answers the following questions with the lines of a pipe", async () => {
    const io = fakeIo({ stdin: "one\ntwo\nthree\n" });
    const prompter = openPrompter(io, new AbortController().signal, () => {});
    const answers: string[] = [];
    answers.push(await prompter.ask("1? "), await prompter.ask("2? "), await prompter.ask("3? "));
    expect(answers).toEqual(["one", "two", "three"]);
    prompter.close();
  });

  test("dismisses a question when the input ends", async () => {
    const prompter = openPrompter(fakeIo({ stdin: "" }), new AbortController().signal, () => {});
    await expect(prompter.ask("? ")).rejects.toThrow(Dismissed);
    await expect(prompter.ask("? ")).rejects.toThrow(Dismissed);
  });

  test("dismisses a question when the signal aborts", async () => {
    const withdrawn = new AbortController();
    const prompter = openPrompter(fakeIo(), withdrawn.signal, () => {});
    const answer = prompter.ask("? ");
    withdrawn.abort();
    await expect(answer).rejects.toThrow(Dismissed);
  });

  test("asks nothing after the signal has aborted", async () => {
    const prompter = openPrompter(fakeIo({ stdin: "yes\n" }), AbortSignal.abort(), () => {});
    await expect(prompter.ask("? ")).rejects.toThrow(Dismissed);
  });
});

test.each([
  [40, 'The tool "wipe" may make destructive\nchanges. Call it? [y]es or [n]o? '],
  [56, 'The tool "wipe" may make destructive changes. Call it?\n[y]es or [n]o? '],
  [80, 'The tool "wipe" may make destructive changes. Call it? [y]es or [n]o? '],
])("a question is broken at spaces in %i columns", async (columns, rows) => {
  const io = fakeIo({ terminal: true });
  Object.assign(io.stdin, { isTTY: true, setRawMode: () => {} });
  const prompter = openPrompter({ ...io, columns: () => columns }, new AbortController().signal, () => {});
  onTestFinished(() => prompter.close());
  prompter.ask('The tool "wipe" may make destructive changes. Call it? [y]es or [n]o? ').catch(() => {});
  await io.seen("[n]o? ");
  expect(io.err()).toContain(rows);
});

/** Returns a terminal in which nothing is typed, with a clock that the test moves. */
function openTerminal() {
  const clock = manualClock();
  const io = fakeIo({ terminal: true, after: clock.schedule });
  const modes: boolean[] = [];
  Object.assign(io.stdin, { isTTY: true, setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  const interrupts: string[] = [];
  const signal = new AbortController();
  const prompter = openPrompter(io, signal.signal, () => interrupts.push("Ctrl-C"));
  onTestFinished(() => prompter.close());
  const ask = (prompt: string, options?: AskOptions): { answer: Promise<string>; state(): Promise<string> } => {
    const answer = prompter.ask(prompt, options);
    answer.catch(() => {});
    const open = new Promise<string>((resolve) => setImmediate(() => resolve("open")));
    return { answer, state: () => Promise.race([answer.catch(() => "dismissed"), open]) };
  };
  return { clock, io, modes, interrupts, signal, prompter, ask };
}

const ignored = "Keys typed before the question, or within half a second after it, were ignored.";

describe("openPrompter at a terminal", () => {
  test("ignores keys before a question and for 500 ms after it, and says so", async () => {
    const { io, clock, ask } = openTerminal();
    io.stdin.write("y\r");
    const question = ask("Open it? ");
    io.stdin.write("y\r");
    clock.advance(499);
    io.stdin.write("y\r");
    expect(await question.state()).toBe("open");
    expect(io.err()).not.toContain(ignored);
    clock.advance(1);
    expect(io.err()).toContain(`\n${ignored}\n`);
    io.stdin.write("n\r");
    expect(await question.answer).toBe("n");
  });

  test("protects each question of a dialog, and reports ignored keys once", async () => {
    const { io, clock, ask } = openTerminal();
    const first = ask("1? ");
    clock.advance(500);
    io.stdin.write("one\r\r");
    expect(await first.answer).toBe("one");
    const second = ask("2? ");
    io.stdin.write("two\r");
    clock.advance(500);
    expect(await second.state()).toBe("open");
    io.stdin.write("2\r");
    expect(await second.answer).toBe("2");
    const third = ask("3? ");
    clock.advance(500);
    io.stdin.write("3\r");
    expect(await third.answer).toBe("3");
    expect(io.err().split(ignored)).toHaveLength(2);
  });

  test.each([
    ["Ctrl-D", "\u0004"],
    ["Enter", "\r"],
    ["a paste", "\u001b[200~y\r\u001b[201~"],
    ["a paste without markers", "y\ry\r"],
  ])("ignores %s within 500 ms", async (_, key) => {
    const { io, clock, ask } = openTerminal();
    const question = ask("Open it? ");
    io.stdin.write(key);
    clock.advance(500);
    expect(await question.state()).toBe("open");
    io.stdin.write("n\r");
    expect(await question.answer).toBe("n");
  });

  test("a paste does not answer by itself, and becomes one line", async () => {
    const { io, clock, ask } = openTerminal();
    const question = ask("URL: ");
    clock.advance(500);
    io.stdin.write("\u001b[200~one\r two\r\u001b[201~");
    expect(await question.state()).toBe("open");
    io.stdin.write("\r");
    expect(await question.answer).toBe("one two");
  });

  test("Ctrl-C interrupts at once, before a question, within 500 ms and after", () => {
    const { io, clock, interrupts, ask } = openTerminal();
    io.stdin.write("\u0003");
    expect(interrupts).toHaveLength(1);
    ask("Open it? ");
    io.stdin.write("\u0003");
    expect(interrupts).toHaveLength(2);
    clock.advance(500);
    io.stdin.write("\u0003");
    expect(interrupts).toHaveLength(3);
  });

  test("keeps the initial text of a question, and edits it", async () => {
    const { io, clock, ask } = openTerminal();
    const question = ask("Name: ", { initial: "Ada" });
    io.stdin.write("x");
    clock.advance(500);
    io.stdin.write("\u007f");
    io.stdin.write("am\r");
    expect(await question.answer).toBe("Adam");
  });

  test("hides the cursor until keys answer, and restores the terminal", async () => {
    const { io, clock, modes, prompter, ask } = openTerminal();
    const question = ask("Open it? ");
    const visible = (): boolean => io.err().lastIndexOf("\u001b[?25h") > io.err().lastIndexOf("\u001b[?25l");
    expect([visible(), modes]).toEqual([false, [true]]);
    clock.advance(499);
    expect(visible()).toBe(false);
    clock.advance(1);
    expect(visible()).toBe(true);
    const next = ask("Next? ");
    prompter.close();
    for (const { answer } of [question, next]) await expect(answer).rejects.toThrow(Dismissed);
    expect([visible(), modes, clock.pending()]).toEqual([true, [true, false], 0]);
    expect(io.err().endsWith("\u001b[?2004l")).toBe(true);
    expect(io.stdin.isPaused()).toBe(true);
    io.stdin.write("late\r");
  });

  test("dismisses a question when it is withdrawn or the terminal ends", async () => {
    const withdrawn = openTerminal();
    const first = withdrawn.ask("1? ");
    withdrawn.signal.abort();
    await expect(first.answer).rejects.toThrow(Dismissed);
    const ended = openTerminal();
    const second = ended.ask("2? ");
    ended.io.stdin.push(null);
    await expect(second.answer).rejects.toThrow(Dismissed);
  });
});
