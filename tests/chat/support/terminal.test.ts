import { describe, expect, onTestFinished, test } from "vitest";
import { isRunning } from "./process-tree.mjs";
import { rawControls } from "./raw-controls.ts";
import { type Terminal, openTerminal } from "./terminal.ts";

/** Runs a text as a program of Node in a terminal. */
function run(code: string, options: { columns?: number; rows?: number; env?: Record<string, string> } = {}): Terminal {
  return openTerminal({ command: [process.execPath, "--input-type=module", "--eval", code], ...options });
}

/** Shows each read of the program as JSON, until it reads `q`. */
const showReads = `
  process.stdin.setRawMode(true);
  process.stdin.setEncoding("utf8").on("data", (text) => {
    console.log(JSON.stringify(text).replace("\x7f", "DEL"));
    if (text === "q") process.exit(3);
  });
  console.log("ready");
`;

describe("the screen", () => {
  test("has the visible lines, and the history also those above", async () => {
    const lines = Array.from({ length: 10 }, (_, index) => `line ${index}`);
    const terminal = run(`console.log(${JSON.stringify(lines.join("  \n"))})`, { rows: 5 });
    expect(await terminal.exit).toEqual({ code: 0, signal: undefined });
    expect(terminal.screen()).toBe("line 6\nline 7\nline 8\nline 9");
    expect(terminal.history()).toBe(lines.join("\n"));
    expect(terminal.cursor()).toEqual({ column: 0, row: 4, line: "" });
  });

  test("shows what remains after sequences that erase", async () => {
    const terminal = run(`process.stdout.write("progress 1\\r\\x1b[2Kdone")`);
    await terminal.exit;
    expect(terminal.screen()).toBe("done");
    expect(terminal.cursor()).toEqual({ column: 4, row: 0, line: "done" });
    expect(terminal.raw()).toBe("progress 1\r\u001b[2Kdone");
  });

  test.each([
    ["a letter", "a", 1],
    ["a letter with an accent of its own", "e\u0301", 1],
    ["a CJK character", "漢", 2],
    ["an emoji", "🙂", 2],
    ["a family of emoji", "👨‍👩‍👧", 2],
    ["an emoji with a skin tone", "👍🏽", 2],
  ])("has the width of %s", async (_, text, width) => {
    const terminal = run(`process.stdout.write(${JSON.stringify(text)})`);
    await terminal.exit;
    expect(terminal.screen()).toBe(text);
    expect(terminal.cursor().column).toBe(width);
  });

  test("follows a change of the size, of which the program is notified", async () => {
    const terminal = run(`
      const show = () => console.log(process.stdout.columns + " x " + process.stdout.rows);
      process.stdout.on("resize", show);
      process.stdin.resume();
      show();
    `);
    await terminal.waitFor("80 x 24");
    terminal.resize(60, 10);
    await terminal.waitFor("60 x 10");
  });
});

describe("keys", () => {
  test("arrive as the bytes that xterm sends", async () => {
    const terminal = run(showReads);
    await terminal.waitFor("ready");
    for (const [key, bytes] of [
      ["up", "\u001b[A"],
      ["ctrl-c", "\u0003"],
      ["enter", "\r"],
      ["tab", "\t"],
      ["shift-tab", "\u001b[Z"],
      ["escape", "\u001b"],
      ["ctrl-left", "\u001b[1;5D"],
      ["alt-enter", "\u001b\r"],
      ["alt-b", "\u001bb"],
      ["page-down", "\u001b[6~"],
      ["backspace", "\u007f"],
      ["ctrl-space", "\0"],
    ] as const) {
      terminal.key(key);
      await terminal.waitFor(JSON.stringify(bytes).replace("\u007f", "DEL"));
    }
    expect(() => terminal.key("ctrl-nothing")).toThrow('The key "ctrl-nothing" is unknown');
  });

  test("follow the mode of the cursor keys", async () => {
    const terminal = run(`process.stdout.write("\\x1b[?1h");${showReads}`);
    await terminal.waitFor("ready");
    terminal.key("up");
    await terminal.waitFor(JSON.stringify("\u001bOA"));
  });

  test("arrive one by one if a person types, and at once if they are pressed", async () => {
    const terminal = run(showReads);
    await terminal.waitFor("ready");
    await terminal.type("né🙂");
    await terminal.waitFor("🙂");
    terminal.press("at once");
    await terminal.waitFor('"at once"');
    expect(terminal.screen()).toBe('ready\n"n"\n"é"\n"🙂"\n"at once"');
  });

  test("of a large paste arrive completely", async () => {
    const terminal = run(`
      process.stdin.setRawMode(true);
      let size = 0;
      process.stdin.on("data", (bytes) => {
        size += bytes.length;
        if (size === 200_000) console.log("complete");
      });
      console.log("ready");
    `);
    await terminal.waitFor("ready");
    terminal.press("x".repeat(200_000));
    await terminal.waitFor("complete");
  });
});

describe("a paste", () => {
  test("has no markers if the program has not enabled them", async () => {
    const terminal = run(showReads);
    await terminal.waitFor("ready");
    terminal.paste("a\r\nb\nc");
    await terminal.waitFor(String.raw`"a\rb\rc"`);
  });

  test("has markers if the program has enabled them, and cannot end itself", async () => {
    const terminal = run(`process.stdout.write("\\x1b[?2004h");${showReads}`);
    await terminal.waitFor("ready");
    terminal.paste("a\nb\u001b[201~c");
    await terminal.waitFor(String.raw`"\u001b[200~a\rb␛[201~c\u001b[201~"`);
  });
});

test("answers the request for the position of the cursor", async () => {
  const terminal = run(`${showReads} process.stdout.write("\\x1b[6n");`);
  await terminal.waitFor(String.raw`"\u001b[2;1R"`);
});

describe("a wait", () => {
  test("ends when a text, a pattern or a condition is on the screen, and when it is gone", async () => {
    const terminal = run(`${showReads} process.stdin.on("data", () => console.clear());`);
    expect(await terminal.waitFor("ready")).toContain("ready");
    await terminal.waitFor(/^re.dy$/m);
    await terminal.waitFor((its) => its.cursor().row === 1);
    terminal.press("x");
    await terminal.waitForGone("ready");
  });

  test("for the cursor ends when the program shows it in the line", async () => {
    const terminal = run(`
      ${showReads}
      const shows = (text) => process.stdout.write(text);
      shows("\\x1b[?25lname:  ");
      process.stdin.on("data", () => shows("\\x1b[?25h\\rname:  "));
    `);
    await terminal.waitFor("name:");
    await expect(terminal.waitForCursor("name:", { timeout: 1 })).rejects.toThrow("did not appear at a visible cursor");
    terminal.press("x");
    await terminal.waitForCursor("name:");
    await terminal.waitForCursor(/^name:$/);
    await expect(terminal.waitForCursor(/^name$/, { timeout: 1 })).rejects.toThrow("did not appear");
  });

  test("fails with the screen at its time limit", async () => {
    const terminal = run(showReads);
    await terminal.waitFor("ready");
    await expect(terminal.waitFor("never", { timeout: 1 })).rejects.toThrow(
      'The text "never" did not appear within 0.001 s.\nThe screen of 80 × 24, with the cursor at line 2, column 1:\n│ready',
    );
    await expect(terminal.waitForGone("ready", { timeout: 1 })).rejects.toThrow("did not disappear");
  });

  test("fails when the program ends", async () => {
    const terminal = run(showReads);
    await terminal.waitFor("ready");
    const failure = expect(terminal.waitFor("never")).rejects.toThrow(
      "before the program ended.\nThe program has ended.",
    );
    terminal.press("q");
    await failure;
    expect(await terminal.exit).toEqual({ code: 3, signal: undefined });
    expect(() => terminal.press("x")).toThrow("The program has ended");
  });

  test("fails with the error of its condition", async () => {
    const terminal = run(showReads);
    const wrong = (): boolean => {
      throw new Error("wrong condition");
    };
    await expect(terminal.waitFor(wrong)).rejects.toThrow("wrong condition");
  });
});

describe("closing", () => {
  test("hangs up the program", async () => {
    const terminal = run(showReads);
    await terminal.waitFor("ready");
    await terminal.close();
    expect(await terminal.exit).toEqual({ code: undefined, signal: "SIGHUP" });
  });

  test("ends also processes of other groups, which ignore signals", async () => {
    const child = `process.on("SIGTERM", () => {}); process.on("SIGHUP", () => {}); setInterval(() => {}, 1000); console.log("started");`;
    const terminal = run(`
      import { spawn } from "node:child_process";
      spawn(process.execPath, ["--eval", ${JSON.stringify(child)}], { detached: true, stdio: "inherit" });
    `);
    await terminal.waitFor("started");
    const processes = terminal.processes();
    expect(processes.map(isRunning)).toEqual([true]);
    await terminal.close();
    expect(processes.map(isRunning)).toEqual([false]);
  });

  test("is followed by the end of processes that outlived the program, when the test is finished", async () => {
    let orphan = 0;
    onTestFinished(() => expect(isRunning(orphan)).toBe(false));
    const terminal = run(`
      import { spawn } from "node:child_process";
      const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
      child.unref();
      console.log(child.pid);
    `);
    await terminal.exit;
    orphan = Number(terminal.screen());
    expect(isRunning(orphan)).toBe(true);
  });

  test("is done when a test is finished", async () => {
    let terminal: Terminal | undefined;
    // Hooks run in the reverse order.
    onTestFinished(() => expect(isRunning(terminal?.pid ?? 0)).toBe(false));
    terminal = run(showReads);
    await terminal.waitFor("ready");
  });
});

test("gives a program folders and an environment of its own", async () => {
  const names = "[Object.keys(process.env).sort().join(), process.cwd() === process.env.HOME + '/work']";
  const terminal = run(`console.log(JSON.stringify(${names}))`, { env: { EXTRA: "1" }, columns: 200 });
  await terminal.exit;
  expect(JSON.parse(terminal.screen())).toEqual([
    "EXTRA,HOME,LANG,PATH,PWD,TERM,TMPDIR,XDG_CACHE_HOME,XDG_CONFIG_HOME,XDG_DATA_HOME,XDG_STATE_HOME",
    true,
  ]);
});

test("starts the built command, whose questions a person can answer", async () => {
  const server = `
    import { createServer, tool } from "mcparley/server";
    import { serveStdio } from "mcparley/stdio";
    const schema = { type: "object", properties: { guests: { type: "integer" } }, required: ["guests"] };
    const book = tool({ call: async (_, ctx) => (await ctx.elicit({ message: "How many?", schema })).guests + " guests" });
    await serveStdio(createServer({ name: "inn", version: "1.0.0", tools: { book } }));
  `;
  const words = ["call", "book", "--", process.execPath, "--input-type=module", "--eval", server];
  const terminal = openTerminal({ args: words, cwd: import.meta.dirname });
  await terminal.waitFor("guests (whole number, required)");
  await terminal.waitForCursor("  >");
  await terminal.type("4");
  terminal.key("enter");
  await terminal.waitForCursor(/\[s\]end/);
  await terminal.type("s");
  terminal.key("enter");
  expect(await terminal.exit).toEqual({ code: 0, signal: undefined });
  expect(terminal.screen()).toMatch(/\n4 guests$/);
  expect(rawControls(terminal.raw())).toEqual([]);
});

describe("rawControls", () => {
  test.each([
    "plain text\r\n\ttab",
    "\u001b[1mbold\u001b[22m \u001b[31mred\u001b[39m",
    "\r\u001b[2K\u001b[3A\u001b[1G\u001b[0J\u001b[12;3H",
    "\u001b[?25l\u001b[?2004h\u001b[?2026h\u001b[?2026l",
    "👨‍👩‍👧 é 漢",
  ])("finds nothing in %j", (raw) => {
    expect(rawControls(raw)).toEqual([]);
  });

  test.each([
    ["a colour that the command does not use", "a\u001b[35mb", ["\\x1b[35m"]],
    ["a mode", "\u001b[?1049h", ["\\x1b[?1049h"]],
    ["the clipboard", "\u001b]52;c;aGk=\u0007", ["\\x1b]52;c;aGk=\\x07"]],
    ["a title with the other end", "\u001b]0;title\u001b\\x", ["\\x1b]0;title\\x1b\\"]],
    ["an unfinished string", "\u001bPq", ["\\x1bPq"]],
    ["C1 characters", "\u009b31m and \u009d0;t\u009c and \u0085", ["\\x9b31m", "\\x9d0;t\\x9c", "\\x85"]],
    ["a reset", "\u001bc", ["\\x1bc"]],
    ["a bell, a backspace and a null", "\u0007a\b\0", ["\\x07", "\\x08", "\\x00"]],
    ["bidirectional and invisible characters", "ok\na\u202eb\nc\u200bd", ["a\\u{202e}b", "c\\u{200b}d"]],
  ])("finds %s", (_, raw, found) => {
    expect(rawControls(raw)).toEqual(found);
  });

  test("does not find a sequence that the test expects", () => {
    expect(rawControls("\u001b_Gf=100;AAAA\u001b\\", { also: [/^._G/] })).toEqual([]);
  });
});
