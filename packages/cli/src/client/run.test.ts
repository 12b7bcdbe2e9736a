import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { LocalError } from "mcparley";
import { createServer } from "mcparley/server";
import { afterAll, describe, expect, test } from "vitest";
import { clientCommands, runClientCommand } from "./run.ts";
import { cancelled, exampleServer, hostile } from "./testing/example-server.ts";
import { fakeIo, runWith } from "./testing/fake-io.ts";

const server = exampleServer();
const folder = mkdtempSync(join(tmpdir(), "mcparley-run-"));
const url = "http://127.0.0.1:1/mcp";

afterAll(() => {
  rmSync(folder, { recursive: true });
});

// oxlint-disable-next-line no-control-regex -- this is what must not appear
const control = /\u001b\[(?!\d*m|2K)|[\u0000-\u0008\u000b\u000c\u000e-\u001a]/;

describe("list", () => {
  test("shows everything, with the arguments of tools and prompts", async () => {
    const { code, io } = await runWith({ server }, `list ${url}`);
    expect(code).toBe(0);
    expect(io.out()).toContain("Example 1.0.0 at memory:example");
    expect(io.out()).toContain("Use it with care.");
    expect(io.out()).toContain("    - a (integer, required): The first\n    - b (integer, default 1): The second");
    expect(io.out()).toContain("hostile [read-only]");
    expect(io.out()).toContain("    - code (required): The code");
    expect(io.out()).toContain("note://a [a, text/plain, 5 bytes]");
    expect(io.out()).toContain("Resource templates (1)\n  note://{id}");
    expect(io.err()).toBe("");
  });

  test("--json is one document, and one kind is listed alone", async () => {
    const all = JSON.parse((await runWith({ server }, `list ${url} --json`)).io.out());
    expect(Object.keys(all)).toEqual(["server", "revision", "tools", "prompts", "resources", "resourceTemplates"]);
    const prompts = JSON.parse((await runWith({ server }, `list ${url} prompts --json`)).io.out());
    expect(Object.keys(prompts)).toEqual(["prompts"]);
    expect(prompts.prompts.map(({ name }: { name: string }) => name)).toEqual(["review", "talk"]);
  });

  test("fits a terminal of 80 columns", async () => {
    const { io } = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `list ${url}`);
    for (const line of io.out().split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("colours are for terminals without NO_COLOR", async () => {
    const bold = "\u001b[1mTools";
    expect((await runWith({ server, terminal: true }, `list ${url}`)).io.out()).toContain(bold);
    expect((await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `list ${url}`)).io.out()).not.toContain(
      "\u001b",
    );
    expect((await runWith({ server }, `list ${url}`)).io.out()).not.toContain("\u001b");
  });

  test("an unknown kind is refused with the one that was meant", async () => {
    const { code, io } = await runWith({ server }, `list ${url} tool`);
    expect(code).toBe(1);
    expect(io.err()).toContain('"tool" is not a kind of list.\n  Did you mean "tools"?');
    expect(io.targets).toEqual([]);
  });
});

describe("call", () => {
  test("coerces arguments by the schema and prints structured content once", async () => {
    const { code, io } = await runWith({ server }, `call ${url} add a=2 b=3`);
    expect(code).toBe(0);
    expect(JSON.parse(io.out())).toEqual({ sum: 5 });
  });

  test("what is written to be read goes before what is for programs", async () => {
    expect((await runWith({ server }, `call ${url} both`)).io.out()).toBe("Three.\n");
    const shown = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `call ${url} both`);
    expect(shown.io.out()).toBe("Three.\n[there is a structured result as well: --json shows it]\n");
  });

  test("--json gives the whole result", async () => {
    const { io } = await runWith({ server }, `call ${url} add a=2 --json`);
    expect(JSON.parse(io.out())).toMatchObject({ structuredContent: { sum: 3 }, content: [{ type: "text" }] });
  });

  test("a failed tool exits with 5, its text on stderr, or in the document", async () => {
    const plain = await runWith({ server }, `call ${url} fail`);
    expect([plain.code, plain.io.out()]).toEqual([5, ""]);
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
    expect([code, io.out()]).toEqual([1, ""]);
    expect(io.err()).toContain(message);
  });

  test("a usage error is one document with --json", async () => {
    const { code, io } = await runWith({ server }, `call ${url} ad --json`);
    expect(code).toBe(1);
    expect(JSON.parse(io.out())).toEqual({
      error: { code: "usage", message: 'The server has no tool "ad".', hint: 'Did you mean "add"?', exitCode: 1 },
    });
    expect(io.err()).toBe("");
  });

  test("what a server sends cannot steer the terminal, and passes a pipe untouched", async () => {
    const shown = await runWith({ server, terminal: true }, `call ${url} hostile`);
    expect(shown.io.out()).toBe("\\x1b[2J\\x1b]0;owned\\x07\\x1b[31mred\n");
    const piped = await runWith({ server }, `call ${url} hostile`);
    expect(piped.io.out()).toBe(`${hostile}\n`);
    const listed = await runWith({ server, terminal: true }, `list ${url}`);
    expect(listed.io.out()).not.toMatch(control);
  });

  test("progress and log messages go to stderr, plainly where nobody watches", async () => {
    const { io } = await runWith({ server }, `call ${url} work`);
    expect(io.out()).toBe("done\n");
    expect(io.err()).toBe("[warning] warming up\nprogress: 50% (1/2) half done\nprogress: 100% (2/2)\n");
  });

  test("progress is one line on a terminal, and gone in the end", async () => {
    const { io } = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `call ${url} work`);
    expect(io.err()).toContain("\r\u001b[2K50% (1/2) half done");
    expect(io.err().endsWith("\r\u001b[2K")).toBe(true);
  });

  test("--log-level decides which messages are shown", async () => {
    expect((await runWith({ server }, `call ${url} work --log-level debug`)).io.err()).toContain("[debug] not wanted");
    expect((await runWith({ server }, `call ${url} work --log-level error`)).io.err()).not.toContain("warming up");
  });

  test("images are summed up, and saved with --output", async () => {
    const { io } = await runWith({ server }, `call ${url} draw`);
    expect(io.out()).toBe("Here it is.\n[image image/png, 3 bytes: --output FILE saves it]\n[link A <note://a>]\n");
    const saved = await runWith({ server, cwd: folder }, `call ${url} draw -o chart.png`);
    expect(saved.io.out()).toBe("Here it is.\n[link A <note://a>]\n");
    expect(saved.io.err()).toContain("Wrote chart.png (3 bytes, image/png).");
    expect([...readFileSync(join(folder, "chart.png"))]).toEqual([1, 2, 3]);
    const nowhere = await runWith({ server, cwd: folder }, `call ${url} draw -o missing/chart.png`);
    expect(nowhere.code).toBe(1);
  });

  test("a tool that destroys is confirmed at a terminal, unless --yes", async () => {
    const asked = await runWith({ server, terminal: true, answers: ["n"] }, `call ${url} destroy`);
    expect([asked.code, asked.io.out()]).toEqual([7, ""]);
    expect(asked.io.err()).toContain('The tool "destroy" may destroy something. Call it?');
    for (const options of [{ terminal: true, answers: ["y"] }, {}]) {
      expect((await runWith({ server, ...options }, `call ${url} destroy`)).io.out()).toBe("destroyed\n");
    }
    expect((await runWith({ server, terminal: true }, `call ${url} destroy --yes`)).io.out()).toBe("destroyed\n");
  });

  test("arguments come from files and stdin", async () => {
    writeFileSync(join(folder, "n.txt"), "40");
    const { io } = await runWith({ server, cwd: folder, stdin: "2" }, `call ${url} add a=@n.txt b:=@-`);
    expect(JSON.parse(io.out())).toEqual({ sum: 42 });
  });

  test("a model is there only with --sample", async () => {
    const without = await runWith({ server }, `call ${url} think`);
    expect(without.code).toBe(2);
    expect(without.io.err()).toContain("--sample TEXT answers in the place of a model.");
    const { code, io } = await runWith({ server }, ["call", url, "think", "--sample", "canned"]);
    expect([code, io.out()]).toEqual([0, '{"type":"text","text":"canned"}\n']);
  });
});

describe("prompt", () => {
  test("one message is printed as it is, several with their roles", async () => {
    expect((await runWith({ server }, `prompt ${url} review code=x`)).io.out()).toBe("Review this  code: x\n");
    expect((await runWith({ server }, `prompt ${url} talk`)).io.out()).toBe("user:\nHi\n\nassistant:\nHo\n");
  });

  test.each([
    [`prompt ${url} reveiw`, 'Did you mean "review"?'],
    [`prompt ${url} review`, "needs code"],
    [`prompt ${url} review code=a lang=b`, 'no argument "lang"'],
  ])("%s is a usage error", async (line, message) => {
    const { code, io } = await runWith({ server }, line);
    expect(code).toBe(1);
    expect(io.err()).toContain(message);
  });
});

describe("read", () => {
  test("text goes out as it is", async () => {
    expect((await runWith({ server }, `read ${url} note://a`)).io.out()).toBe("text\n");
    expect((await runWith({ server }, `read ${url} note://b`)).io.out()).toBe("note b");
  });

  test("binary data goes to a pipe and to a file, never to a terminal", async () => {
    const bytes = [0, 255, 27];
    expect([...(await runWith({ server }, `read ${url} note://raw`)).io.bytes()]).toEqual(bytes);
    const shown = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `read ${url} note://raw`);
    expect(shown.io.out()).toBe("[resource note://raw application/octet-stream, 3 bytes: --output FILE saves it]\n");
    await runWith({ server, cwd: folder, terminal: true }, `read ${url} note://raw --output raw.bin`);
    expect([...readFileSync(join(folder, "raw.bin"))]).toEqual(bytes);
  });

  test("a URI that does not exist is refused with the one that was meant", async () => {
    const { code, io } = await runWith({ server }, `read ${url} note:/raw`);
    expect(code).toBe(1);
    expect(io.err()).toContain('Did you mean "note://raw"?');
  });
});

describe("complete", () => {
  test("prints the values of an argument and of a variable", async () => {
    expect((await runWith({ server }, `complete ${url} prompt:review language p`)).io.out()).toBe("python\nperl\n");
    expect((await runWith({ server }, ["complete", url, "note://{id}", "id", ""])).io.out()).toBe("a\nb\n");
    const { io } = await runWith({ server }, `complete ${url} prompt:review language p --json`);
    expect(JSON.parse(io.out())).toMatchObject({ values: ["python", "perl"] });
  });

  test("the reference must say what it is", async () => {
    const { code, io } = await runWith({ server }, `complete ${url} review language p`);
    expect(code).toBe(1);
    expect(io.err()).toContain("For the prompt write prompt:review");
  });
});

describe("watch", () => {
  test("prints changes as they come, as lines of JSON with --json, until Ctrl-C", async () => {
    const own = exampleServer();
    const io = fakeIo({ server: own });
    const done = runClientCommand("watch", [url, "--json"], io);
    await io.seen("Watching the lists of tools, prompts, resources.");
    own.tools.delete("fail");
    await io.seen('"kind":"tools"');
    io.pressCtrlC();
    expect(await done).toBe(130);
    expect(JSON.parse(io.out())).toEqual({ at: expect.any(String), kind: "tools" });
  });

  test("--json gives an error as one line, like a change", async () => {
    const { code, io } = await runWith({ server }, `watch ${url} --json --timeout never`);
    expect(code).toBe(1);
    expect(io.out().trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(io.out()).error.code).toBe("usage");
  });

  test("a server that tells of no changes is not watched", async () => {
    const silent = createServer({ name: "silent", version: "1" });
    const { code, io } = await runWith({ server: silent }, `watch ${url}`);
    expect(code).toBe(2);
    expect(io.err()).toContain("does not tell when its lists change");
  });

  test("with URIs, prints the updates of these", async () => {
    const own = exampleServer();
    const io = fakeIo({ server: own });
    const done = runClientCommand("watch", [url, "note://a"], io);
    await io.seen("Watching note://a.");
    own.resources.updated("note://b");
    own.resources.updated("note://a");
    await io.seen("updated note://a");
    io.pressCtrlC();
    expect(await done).toBe(130);
    expect(io.out()).toMatch(/^\d\d:\d\d:\d\d updated note:\/\/a\n$/);
  });
});

describe("Ctrl-C and broken pipes", () => {
  test("the first Ctrl-C cancels the call, and the server is told", async () => {
    cancelled.length = 0;
    const io = fakeIo({ server });
    const done = runClientCommand("call", [url, "wait"], io);
    await io.seen("waiting");
    io.pressCtrlC();
    expect(await done).toBe(130);
    expect(cancelled).toEqual(["wait"]);
    expect(io.err()).toContain("Stopping; Ctrl-C once more ends at once.");
    expect(io.out()).toBe("");
  });

  test("the second Ctrl-C ends at once, though the connection does not", async () => {
    const never = (() => new Promise(() => {})) as unknown as NonNullable<Parameters<typeof fakeIo>[0]>["connect"];
    const io = fakeIo(never ? { connect: never } : {});
    const done = runClientCommand("list", [url], io);
    await new Promise((resolve) => setImmediate(resolve));
    io.pressCtrlC();
    io.pressCtrlC();
    expect(await done).toBe(130);
  });

  test("nobody reading stdout ends the command quietly", async () => {
    const io = fakeIo({ server });
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    });
    expect(await runClientCommand("list", [url], { ...io, stdout })).toBe(0);
    expect(io.err()).toBe("");
  });
});

describe("errors", () => {
  test.each([
    ["unauthorized", 3, '--header "Authorization: Bearer ..."'],
    ["unreachable", 4, ""],
    ["timeout", 6, "--timeout"],
  ] as const)("%s exits with %i", async (reason, exitCode, hint) => {
    const connect = (() => Promise.reject(new LocalError(reason, "It went wrong."))) as never;
    const plain = await runWith({ connect }, `list ${url}`);
    expect(plain.code).toBe(exitCode);
    expect(plain.io.err()).toContain("mcparley: It went wrong.");
    expect(plain.io.err()).toContain(hint);
    const json = await runWith({ connect }, `list ${url} --json`);
    expect(JSON.parse(json.io.out()).error).toMatchObject({ code: reason, exitCode });
  });

  test("an error from a server cannot steer the terminal", async () => {
    const connect = (() => Promise.reject(new LocalError("http", hostile))) as never;
    const { io } = await runWith({ connect, terminal: true }, `list ${url} --verbose`);
    expect(io.err()).not.toMatch(control);
  });

  test("an unknown command is refused with the one that was meant", async () => {
    const { code, io } = await runWith({ server }, "lsit");
    expect(code).toBe(1);
    expect(io.err()).toContain('Did you mean "list"?');
  });
});

describe("help", () => {
  test.each([...clientCommands.keys()])("%s --help fits 80 columns and names options and exit codes", async (name) => {
    const { code, io } = await runWith({ terminal: true }, `${name} --help`);
    expect(code).toBe(0);
    expect(io.out()).toContain(`mcparley ${name} TARGET`);
    expect(io.out()).toContain("--json");
    expect(io.out()).toMatch(/\n {2}130 +ended with Ctrl-C/);
    for (const line of io.out().split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});
