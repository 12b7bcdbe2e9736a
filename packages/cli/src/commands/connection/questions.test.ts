import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createServer, tool } from "mcparley/server";
import { runClientCommand } from "../run.ts";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { exampleServer } from "../testing/example-server.ts";
import { type FakeOptions, fakeIo, runWith } from "../testing/fake-io.ts";

const server = exampleServer();
const url = "http://127.0.0.1:1/mcp";

function book(answers: string[], options: FakeOptions = {}, more = ""): ReturnType<typeof runWith> {
  const line = `call ${url} book${more}`;
  return runWith({ server, terminal: true, answers, env: { NO_COLOR: "1" }, ...options }, line);
}

test("a question of a configured server names its entry, at the terminal and in the note of an answer", async () => {
  const cwd = await temporaryFolder();
  writeFileSync(join(cwd, "mcp.json"), '{"mcpServers":{"travel":{"command":"node","args":["s.mjs"]}}}');
  const options = { server, cwd, env: { HOME: cwd, NO_COLOR: "1" } };
  const asked = await runWith({ ...options, terminal: true, answers: ["/decline"] }, "call travel book --trust");
  expect(asked.io.err()).toContain('travel ("Example") asks in tools/call "book":');
  const line = "call travel book --trust --answer meal=v --send-answers";
  expect((await runWith(options, line)).io.err()).toContain(' of travel ("Example") with ');
  expect((await runWith(options, "call travel book --trust")).io.err()).toContain('travel ("Example")');
});

describe("forms at the terminal", () => {
  test("are asked field by field, shown as a whole, and sent if the user agrees", async () => {
    const { code, io } = await book(["", "1", "ada@example.com", "s"]);
    expect(code).toBe(0);
    expect(JSON.parse(io.out())).toEqual({ seats: 2, meal: "v", email: "ada@example.com" });
    const asked = io.err();
    expect(asked).toContain('memory:example ("Example") asks in tools/call "book":');
    expect(asked).toContain("Seats (whole number from 1 to 4, optional)\n  [Enter: 2] > ");
    expect(asked).toContain("Meal (number of a choice, required)\n  1. Vegan (v)\n  2. None (n)\n  > ");
    expect(asked).toContain(
      "email (e-mail address, such as ada@example.com, optional)\n  For the ticket\n  [Enter: skip] > ",
    );
    expect(asked).toContain("Your answer:\n  Seats: 2\n  Meal: Vegan\n  email: ada@example.com");
  });

  test("cannot control the terminal", async () => {
    const { io } = await book(["/decline"]);
    expect(io.err()).toContain("Which \\x1b[2J\\x1b]0;owned\\x07\\x1b[31mred seats?");
    expect(io.err()).not.toContain("\u001b[2J");
  });

  test("are asked again after invalid input", async () => {
    const { code, io } = await book(["9", "3", "", "vegetables", "2", "ada", "", "send"]);
    expect(code).toBe(0);
    expect(JSON.parse(io.out())).toEqual({ seats: 3, meal: "n" });
    for (const text of [
      "The answer must be a whole number from 1 to 4.",
      "This field is required.",
      "The answer must be a number from 1 to 2.",
      "must be a valid e-mail",
    ]) {
      expect(io.err()).toContain(text);
    }
  });

  test("are not sent by Enter alone, because the review requires a letter", async () => {
    const { code, io } = await book(["", "1", "", "", " ", "/", "d"]);
    expect(code).not.toBe(0);
    expect(io.out()).toBe("");
    expect(io.unusedAnswers).toEqual([]);
    expect(io.err().match(/\[s\]end, \[e\]dit/g)).toHaveLength(4);
  });

  test("can be edited before they are sent", async () => {
    const { io } = await book(["", "1", "", "e", "4", "", "", "s"]);
    expect(JSON.parse(io.out())).toEqual({ seats: 4, meal: "v" });
  });

  test.each([
    ["/decline in a field", ["/decline"]],
    ["/cancel in a field", ["", "/cancel"]],
    ["decline at the end", ["", "1", "", "d"]],
    ["cancel at the end", ["", "1", "", "what?", "c"]],
    ["the end of the input", ["", "^D"]],
  ])("are not sent after %s", async (_how, answers) => {
    const { code, io } = await book(answers);
    expect(code).not.toBe(0);
    expect(io.out()).toBe("");
    expect(io.unusedAnswers).toEqual([]);
  });

  test("are ended by Ctrl-C, together with the call", async () => {
    const io = fakeIo({ server, terminal: true });
    const done = runClientCommand("call", [url, "book"], io);
    await io.seen("[Enter: 2]");
    io.pressCtrlC();
    expect(await done).toBe(130);
  });

  test("are filled in by --answer, and these fields are not asked", async () => {
    const { io } = await book(["", "", "s"], {}, " --answer meal=Vegan");
    expect(JSON.parse(io.out())).toEqual({ seats: 2, meal: "v" });
    expect(io.err()).not.toContain("1. Vegan");
  });

  test("are sent without a question with --send-answers, if the answer is complete", async () => {
    const { io } = await book([], {}, " --answer meal=v --send-answers");
    expect(JSON.parse(io.out())).toEqual({ seats: 2, meal: "v" });
  });
});

describe("without a terminal", () => {
  test.each([
    [{ terminal: false }, ""],
    [{ terminal: true }, " --no-input"],
    [{ terminal: false }, " --send-answers"],
  ])("declines questions (%j%s)", async (options, more) => {
    const { code, io } = await book([], options, more);
    expect(code).not.toBe(0);
    expect(io.err()).toContain("Declined");
    expect(io.err()).toContain("--answer meal=...");
  });

  test("answers with --answer", async () => {
    const { code, io } = await book([], { terminal: false }, " --answer meal=2");
    expect(code).toBe(0);
    expect(JSON.parse(io.out())).toEqual({ meal: "n" });
  });

  test("reports an answer that no question asked for", async () => {
    const { io } = await book([], { terminal: false }, " --answer meal=2 --answer mael=v");
    expect(io.err()).toContain("--answer mael=... was not used, because no question asked for it.");
  });

  test("reports an invalid answer and sends nothing", async () => {
    const { code, io } = await book([], { terminal: false }, " --answer meal=v --answer seats=9");
    expect(code).not.toBe(0);
    expect(io.err()).toContain("--answer seats=9: The answer must be a whole number from 1 to 4.");
  });

  test("declines URLs, also with --send-answers and --answer", async () => {
    const { code, io } = await runWith({ server }, `call ${url} visit --send-answers --answer a=b`);
    expect(code).not.toBe(0);
    expect(io.launched).toEqual([]);
  });
});

test("a form that asks for a password has a remark", async () => {
  const schema = { type: "object", properties: { password: { type: "string" } } } as const;
  const unlock = tool({
    call: async (_input, ctx) => JSON.stringify(await ctx.elicit({ message: "Unlock?", schema })),
  });
  const vault = createServer({ name: "vault", version: "1.0.0", tools: { unlock } });
  const { io } = await runWith({ server: vault, terminal: true, answers: ["/decline"] }, `call ${url} unlock`);
  expect(io.err()).toContain('! The field "password" seems to ask for a secret.');
});

describe("a form of a tool that continues without an answer", () => {
  const schema = {
    type: "object",
    properties: {
      seatClass: { type: "string", enum: ["economy", "business"] },
      seats: { type: "integer", minimum: 1, maximum: 4 },
      note: { type: "string" },
    },
    required: ["seatClass", "seats", "note"],
  } as const;
  const fly = tool({
    call: async (_input, ctx) => {
      try {
        const { seatClass } = await ctx.elicit({ message: "Which class?", schema });
        return `Booked ${seatClass}.`;
      } catch {
        return "Nothing was booked.";
      }
    },
  });
  const flights = createServer({ name: "flights", version: "1.0.0", tools: { fly } });
  const call = (answers: string, terminal: string[] = []): ReturnType<typeof runWith> =>
    runWith({ server: flights, terminal: terminal.length > 0, answers: terminal }, `call ${url} fly${answers}`);

  test("names the choices and exits with 7 if an answer of the command line is none of them", async () => {
    const { code, io } = await call(" --answer seatClass=first --answer seats=1 --answer note=x");
    expect(code).toBe(7);
    expect(io.out()).toBe("Nothing was booked.\n");
    expect(io.err()).toContain(
      '--answer seatClass=first: "first" is not a choice. The choices are: economy, business.\n',
    );
    expect(io.err()).toMatch(/Declined a question of .* in tools\/call "fly", because an --answer is not valid:\n/);
  });

  const words = [
    "  │ Which class?\n",
    "  seatClass: economy, business (required)\n",
    "  seats: whole number from 1 to 4 (required)\n",
    "  note: text (required)\n",
  ].join("");

  test.each([
    ["", "--answer seatClass=... --answer seats=... --answer note=..."],
    [" --answer seats=1", "--answer seatClass=... --answer note=..."],
    [" --answer seats=1 --answer note=x --send-answers", "--answer seatClass=..."],
  ])("shows the question, names what is missing, and exits with 7 after%s", async (answers, options) => {
    const { code, io } = await call(answers);
    expect(code).toBe(7);
    expect(io.out()).toBe("Nothing was booked.\n");
    expect(io.err()).toContain(`because there is no terminal to ask at:\n${words}Answer it with ${options}\n`);
    const document = JSON.parse((await call(`${answers} --json`)).io.out()) as { error: { questions: object[] } };
    expect(document.error).toMatchObject({
      code: "unanswered",
      exitCode: 7,
      hint: `Run the command again with ${options}, or at a terminal, where it asks you.`,
      result: { content: [{ type: "text", text: "Nothing was booked." }] },
      questions: [{ options: options.split(/ (?=--)/) }],
    });
  });

  test("exits with 0 if the user corrects the answer at the terminal", async () => {
    const { code, io } = await call(" --answer seatClass=first --answer seats=1 --answer note=x", ["2", "s"]);
    expect(code).toBe(0);
    expect(io.out()).toBe("Booked business.\n");
  });
});

const everything = {
  message: "Details?",
  schema: {
    type: "object",
    properties: {
      text: { type: "string", title: "A text", description: "Any text", minLength: 1, maxLength: 9, default: "x" },
      email: { type: "string", format: "email" },
      count: { type: "integer", minimum: 1, maximum: 4, default: 2 },
      share: { type: "number" },
      sure: { type: "boolean", default: true },
      meal: { type: "string", enum: ["v", "n"], default: "v" },
    },
    required: ["count", "sure"],
  },
} as const;

describe.each(["2025-06-18", "2025-11-25", "2026-07-28"])("a question that nobody answers, on %s", (revision) => {
  // 2025-06-18 has no defaults of texts, numbers and choices. The server writes them into the descriptions.
  const hasDefaults = revision !== "2025-06-18";
  const initial = (value: string | number): object =>
    hasDefaults ? { default: value } : { description: expect.stringContaining(`Default: ${value}.`) };
  const contents: unknown[] = [];
  const asking = createServer({
    name: "asking",
    version: "1.0.0",
    onError: () => {},
    tools: {
      one: tool({ call: async (_input, ctx) => JSON.stringify(await ctx.elicit(everything)) }),
      two: tool({
        call: async (_input, ctx) => {
          const schema = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } }) as const;
          const first = await ctx.elicit({ message: "First?", schema: schema("first") });
          const second = await ctx.elicit({ message: "Second?", schema: schema("second") });
          contents.push(first, second);
          return "both";
        },
      }),
      agree: tool({
        call: async (_input, ctx) => {
          await ctx.elicit({ message: "Delete all?", schema: { type: "object", properties: {} } });
          return "deleted";
        },
      }),
    },
  });
  const run = async (line: string) => {
    const { code, io } = await runWith({ server: asking }, `call ${url} ${line} --revision ${revision}`);
    const document = io.out().startsWith("{") ? (JSON.parse(io.out()) as { error?: Record<string, unknown> }) : {};
    return { code, io, error: document.error };
  };

  test("is in the document of --json with its fields, types, choices and defaults", async () => {
    const { code, error } = await run("one --json");
    expect(code).toBe(7);
    expect(error).toMatchObject({ code: "unanswered", exitCode: 7, cause: { exitCode: 5 } });
    expect(error?.questions).toEqual([
      {
        mode: "form",
        message: "Details?",
        server: "asking",
        during: 'tools/call "one"',
        reason: "there is no terminal to ask at",
        fields: [
          {
            name: "text",
            title: "A text",
            description: "Any text",
            required: false,
            type: "text",
            minLength: 1,
            maxLength: 9,
            ...initial("x"),
          },
          { name: "email", title: "email", required: false, type: "text", format: "email" },
          { name: "count", title: "count", required: true, type: "integer", minimum: 1, maximum: 4, ...initial(2) },
          { name: "share", title: "share", required: false, type: "number" },
          { name: "sure", title: "sure", required: true, type: "boolean", default: true },
          {
            name: "meal",
            title: "meal",
            required: false,
            type: "choice",
            choices: ["v", "n"].map((value) => ({ value, title: value })),
            ...initial("v"),
          },
        ],
        missing: ["count", "sure"],
        problems: [],
        options: ["--answer count=...", "--answer sure=..."],
      },
    ]);
  });

  test("has the failure of the tool on stderr, and its defaults are no answers", async () => {
    const { code, io } = await run("one --answer count=3");
    expect(code).toBe(7);
    expect(io.out()).toBe("");
    const text = hasDefaults ? 'default "x"; A text; Any text' : "A text; Any text Default: x.";
    expect(io.err()).toContain(`text: text, from 1 to 9 characters (optional; ${text})`);
    expect(io.err()).toContain("sure: yes or no (required; default true)");
    expect(io.err()).toContain("Answer it with --answer sure=...\n");
    expect(io.err()).toContain("The tool failed:");
  });

  test("is answered by the answers of the command line, and with --send-answers by the defaults too", async () => {
    const answered = await run("one --answer count=3 --answer sure=no");
    expect(answered.code).toBe(0);
    expect(answered.io.err()).toContain("with count, sure.");
    const defaults = await run("one --send-answers");
    expect(defaults.code).toBe(hasDefaults ? 0 : 7);
    const content = { count: 2, sure: true, text: "x", meal: "v" };
    if (hasDefaults) expect(JSON.parse(defaults.io.out())).toMatchObject(content);
  });

  test("can be one of several", async () => {
    const { code, error } = await run("two --answer first=1 --json");
    expect(code).toBe(7);
    expect(error?.questions).toMatchObject([{ message: "Second?", options: ["--answer second=..."] }]);
    expect((await run("two --answer first=1 --answer second=2")).code).toBe(0);
    expect(contents.slice(-2)).toEqual([{ first: "1" }, { second: "2" }]);
  });

  test("is not answered by --send-answers if it has no fields", async () => {
    const { code, io } = await run("agree --send-answers");
    expect(code).toBe(7);
    expect(io.err()).toContain("asks for a yes or a no");
    expect((await run("agree --json")).error).toMatchObject({
      hint: "Run the command at a terminal, where it asks you.",
    });
  });
});

test("a page that nobody visits is in the document of --json, and on stderr", async () => {
  const { code, io } = await runWith({ server }, `call ${url} visit --json`);
  expect(code).toBe(7);
  const { error } = JSON.parse(io.out()) as { error: Record<string, unknown> };
  const pageUrl = "https://sign.example/in?a=1&b=2";
  expect(error.questions).toMatchObject([{ mode: "url", message: "Sign in, please.", url: pageUrl }]);
  expect(io.err()).toContain(`  ${pageUrl}\n`);
});

describe("URLs", () => {
  const visit = (answers: string[], options: FakeOptions = {}): ReturnType<typeof runWith> =>
    runWith({ server, terminal: true, answers, ...options }, `call ${url} visit`);

  test("are shown with their host, and opened without a shell if the user agrees", async () => {
    const { code, io } = await visit(["", "y"]);
    expect(code).toBe(0);
    expect(io.err()).toContain("https://\u001b[7msign.example\u001b[27m/in?a=1&b=2");
    expect(io.launched).toEqual([["xdg-open", "https://sign.example/in?a=1&b=2"]]);
  });

  test.each([
    ["darwin", ["open"]],
    ["win32", ["rundll32", "url.dll,FileProtocolHandler"]],
  ] as const)("are opened on %s also", async (platform, command) => {
    const { io } = await visit(["y"], { platform });
    expect(io.launched).toEqual([[...command, "https://sign.example/in?a=1&b=2"]]);
  });

  test("can be opened by the user", async () => {
    const { code, io } = await visit(["m"]);
    expect(code).toBe(0);
    expect(io.launched).toEqual([]);
  });

  test.each([["n"], ["c"]])("are not opened on %s", async (answer) => {
    const { code, io } = await visit([answer]);
    expect(code).not.toBe(0);
    expect(io.launched).toEqual([]);
  });
});
