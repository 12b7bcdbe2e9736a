import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ToolError, type ToolResult, createServer, tool, toolResult } from "mcparley/server";
import { exampleServer, hostile } from "./testing/example-server.ts";
import { runClientCommand } from "./run.ts";
import { fakeIo, runWith } from "./testing/fake-io.ts";

const server = exampleServer();
const folder = mkdtempSync(join(tmpdir(), "mcparley-cli-"));
const url = "http://127.0.0.1:1/mcp";

afterAll(() => {
  rmSync(folder, { recursive: true });
});

// oxlint-disable-next-line no-control-regex -- this is what must not appear
const control = /\u001b\[(?!\d*m|2K)|[\u0000-\u0008\u000b\u000c\u000e-\u001a]/;

describe("call", () => {
  test("coerces arguments by the schema and prints structured content once", async () => {
    const { code, io } = await runWith({ server }, `call ${url} add a=2 b=3`);
    expect(code).toBe(0);
    expect(JSON.parse(io.out())).toEqual({ sum: 5 });
  });

  test("prints text of the server in place of structured content that differs", async () => {
    expect((await runWith({ server }, `call ${url} both`)).io.out()).toBe("Three.\n");
    const shown = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `call ${url} both`);
    expect(shown.io.out()).toBe("Three.\n[The result also has structured content: --json shows it.]\n");
  });

  test.each<[string, string[], unknown, string]>([
    ["a text in `result`", ["A long text"], { result: "A long text" }, "A long text\n"],
    ["the items of a list", ["a", "b"], { result: ["a", "b"] }, "a\nb\n"],
    ["a number, beside other text", ["Done.", "5"], { result: 5 }, "Done.\n5\n"],
    ["JSON, beside other text", ["Done.", '{"n":5}'], { n: 5 }, 'Done.\n{\n  "n": 5\n}\n'],
  ])("prints a value once that texts repeat: %s", async (_, texts, structuredContent, printed) => {
    const content = texts.map((one) => ({ type: "text" as const, text: one }));
    const call = (): ToolResult => toolResult({ content, structuredContent });
    const repeating = createServer({ name: "r", version: "1", tools: { t: tool({ call }) } });
    const { io } = await runWith({ server: repeating, terminal: true, env: { NO_COLOR: "1" } }, `call ${url} t`);
    expect(io.out()).toBe(printed);
  });

  test.each([[`call ${url} add a=@-`], [`prompt ${url} code_review code=@-`], [`complete ${url} prompt:p a b c=@-`]])(
    "ends at the first Ctrl-C while it reads stdin: %s",
    async (line) => {
      const io = fakeIo({ server });
      const [name = "", ...argv] = line.split(" ");
      io.stdin.once("newListener", () => queueMicrotask(() => io.pressCtrlC()));
      expect(await runClientCommand(name, argv, io)).toBe(130);
      expect(io.targets).toEqual([]);
    },
  );

  test("prints the whole result with --json", async () => {
    const { io } = await runWith({ server }, `call ${url} add a=2 --json`);
    expect(JSON.parse(io.out())).toMatchObject({ structuredContent: { sum: 3 }, content: [{ type: "text" }] });
  });

  test("exits with 5 if the tool fails, with its text on stderr or in the JSON document", async () => {
    const plain = await runWith({ server }, `call ${url} fail`);
    expect(plain.code).toBe(5);
    expect(plain.io.out()).toBe("");
    expect(plain.io.err()).toContain("The tool failed: The disk is full.");
    const json = await runWith({ server }, `call ${url} fail --json`);
    expect(json.code).toBe(5);
    expect(JSON.parse(json.io.out()).error).toMatchObject({
      code: "tool_error",
      message: "The disk is full.",
      exitCode: 5,
      result: { isError: true },
    });
  });

  test("suggests an earlier revision if the tool cannot send input requests on this one", async () => {
    const ask = tool({
      call: () => {
        throw new ToolError("elicitation via server-initiated requests is unavailable on 2026-07-28 connections.");
      },
    });
    const asking = createServer({ name: "asking", version: "1.0.0", tools: { ask } });
    const modern = await runWith({ server: asking }, `call ${url} ask`);
    expect(modern.code).toBe(5);
    expect(modern.io.out()).toBe("");
    expect(modern.io.err()).toContain("on an earlier revision: --revision 2025-11-25");
    const legacy = await runWith({ server: asking }, `call ${url} ask --revision 2025-11-25`);
    expect(legacy.io.err()).not.toContain("earlier revision");
  });

  test.each([
    [`call ${url} ad a=1`, 'no tool "ad".\n  Did you mean "add"?'],
    [`call ${url} add b=1`, "needs a.\n  Add a=INTEGER"],
    [`call ${url} add a=1 c=2`, 'no argument "c".'],
    [`call ${url}`, "Which tool?"],
    [`call ${url} add a`, '"a" is not an argument.'],
    [`call ${url} add a=@${folder}/missing`, "cannot be read"],
    [`call ${url} add --jso`, "Did you mean --json?"],
    ["call", "TARGET is missing"],
  ])("%s is a usage error", async (line, message) => {
    const { code, io } = await runWith({ server, cwd: folder }, line);
    expect(code).toBe(1);
    expect(io.out()).toBe("");
    expect(io.err()).toContain(message);
  });

  test("prints a usage error as one JSON document with --json", async () => {
    const { code, io } = await runWith({ server }, `call ${url} ad --json`);
    expect(code).toBe(1);
    expect(JSON.parse(io.out())).toEqual({
      error: { code: "usage", message: 'The server has no tool "ad".', hint: 'Did you mean "add"?', exitCode: 1 },
    });
    expect(io.err()).toBe("");
  });

  test("escapes control characters of the server on a terminal, and not in a pipe", async () => {
    const shown = await runWith({ server, terminal: true }, `call ${url} hostile`);
    expect(shown.io.out()).toBe("\\x1b[2J\\x1b]0;owned\\x07\\x1b[31mred\n");
    const piped = await runWith({ server }, `call ${url} hostile`);
    expect(piped.io.out()).toBe(`${hostile}\n`);
    const listed = await runWith({ server, terminal: true }, `list ${url}`);
    expect(listed.io.out()).not.toMatch(control);
  });

  test("writes progress and log messages to stderr, as plain lines without a terminal", async () => {
    const { io } = await runWith({ server }, `call ${url} work`);
    expect(io.out()).toBe("done\n");
    expect(io.err()).toBe("[warning] warming up\nprogress: 50% (1/2) half done\nprogress: 100% (2/2)\n");
  });

  test("shows progress as one line on a terminal, and removes it at the end", async () => {
    const { io } = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `call ${url} work`);
    expect(io.err()).toContain("\r\u001b[2K50% (1/2) half done");
    expect(io.err().endsWith("\r\u001b[2K")).toBe(true);
  });

  test("shows log messages from the level of --log-level", async () => {
    expect((await runWith({ server }, `call ${url} work --log-level debug`)).io.err()).toContain("[debug] not wanted");
    expect((await runWith({ server }, `call ${url} work --log-level error`)).io.err()).not.toContain("warming up");
  });

  test("summarizes images, and saves them with --output", async () => {
    const { io } = await runWith({ server }, `call ${url} draw`);
    expect(io.out()).toBe("Here it is.\n[image image/png, 3 bytes: --output FILE saves it]\n[link A <note://a>]\n");
    const saved = await runWith({ server, cwd: folder }, `call ${url} draw -o chart.png`);
    expect(saved.io.out()).toBe("Here it is.\n[link A <note://a>]\n");
    expect(saved.io.err()).toContain("Wrote chart.png (3 bytes, image/png).");
    expect([...readFileSync(join(folder, "chart.png"))]).toEqual([1, 2, 3]);
    const nowhere = await runWith({ server, cwd: folder }, `call ${url} draw -o missing/chart.png`);
    expect(nowhere.code).toBe(1);
  });

  test("asks for confirmation of a destructive tool at a terminal, unless --allow names it", async () => {
    const asked = await runWith({ server, terminal: true, answers: ["n"] }, `call ${url} destroy`);
    expect(asked.code).toBe(7);
    expect(asked.io.out()).toBe("");
    expect(asked.io.err()).toContain('The tool "destroy" may make destructive changes. Call it?');
    const agreed = await runWith({ server, terminal: true, answers: ["y"] }, `call ${url} destroy`);
    expect(agreed.io.out()).toBe("destroyed\n");
  });

  test.each([
    ["without a terminal", "", false],
    ["with --no-input", " --no-input", true],
    ["with --allow for another tool", " --allow add", false],
  ])("refuses a destructive tool with exit code 7 and the cure %s", async (_how, more, terminal) => {
    const { code, io } = await runWith({ server, terminal }, `call ${url} destroy${more}`);
    expect(code).toBe(7);
    expect(io.out()).toBe("");
    expect(io.err().replaceAll(/\s+/g, " ")).toContain("Allow it with --allow destroy.");
  });

  test.each(["--allow *", "--allow add --allow destroy", "--allow dest*"])(
    "calls a destructive tool with %s",
    async (options) => {
      for (const terminal of [true, false]) {
        const { code, io } = await runWith({ server, terminal }, `call ${url} destroy ${options}`);
        expect(code).toBe(0);
        expect(io.out()).toBe("destroyed\n");
      }
    },
  );

  test("reads arguments from files and stdin", async () => {
    writeFileSync(join(folder, "n.txt"), "40");
    const { io } = await runWith({ server, cwd: folder, stdin: "2" }, `call ${url} add a=@n.txt b:=@-`);
    expect(JSON.parse(io.out())).toEqual({ sum: 42 });
  });

  test("accepts all arguments as a JSON object, as a word, in a file or on stdin", async () => {
    writeFileSync(join(folder, "arguments.json"), '{"a": 40, "b": 2}');
    for (const word of ['{"a": 40, "b": 2}', "@arguments.json", "@-"]) {
      const { io } = await runWith({ server, cwd: folder, stdin: '{"a": 40, "b": 2}' }, ["call", url, "add", word]);
      expect(JSON.parse(io.out())).toEqual({ sum: 42 });
    }
    const unknown = await runWith({ server }, ["call", url, "add", '{"a": 1, "x": 2}']);
    expect(unknown.code).toBe(1);
    expect(unknown.io.err()).toEqual(expect.stringContaining('no argument "x"'));
  });

  test("declares the sampling capability only with --sample", async () => {
    const without = await runWith({ server }, `call ${url} think`);
    expect(without.code).toBe(2);
    expect(without.io.err()).toContain("Answer in place of a model with --sample TEXT.");
    const { code, io } = await runWith({ server }, ["call", url, "think", "--sample", "canned"]);
    expect(code).toBe(0);
    expect(io.out()).toBe('{"type":"text","text":"canned"}\n');
  });
});
