import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createServer, tool } from "mcparley/server";
import { afterAll, describe, expect, test, vi } from "vitest";
import { exampleServer } from "./testing/example-server.ts";
import { fakeIo, runWith } from "./testing/fake-io.ts";
import { runClientCommand } from "./run.ts";

const server = exampleServer();
const folder = mkdtempSync(join(tmpdir(), "mcparley-cli-"));
const url = "http://127.0.0.1:1/mcp";

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("list", () => {
  test("shows all lists, with the arguments of tools and prompts", async () => {
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

  test("prints one JSON document with --json, and only the requested kind", async () => {
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

  test("uses colours only on a terminal without NO_COLOR", async () => {
    const bold = "\u001b[1mTools";
    expect((await runWith({ server, terminal: true }, `list ${url}`)).io.out()).toContain(bold);
    expect((await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `list ${url}`)).io.out()).not.toContain(
      "\u001b",
    );
    expect((await runWith({ server }, `list ${url}`)).io.out()).not.toContain("\u001b");
  });

  test("refuses an unknown kind and suggests a known one", async () => {
    const { code, io } = await runWith({ server }, `list ${url} tool`);
    expect(code).toBe(1);
    expect(io.err()).toContain('"tool" is not a kind of list.\n  Did you mean "tools"?');
    expect(io.targets).toEqual([]);
  });
});

describe("prompt", () => {
  test("prints one message unchanged, and several with their roles", async () => {
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
  test("prints text unchanged", async () => {
    expect((await runWith({ server }, `read ${url} note://a`)).io.out()).toBe("text\n");
    expect((await runWith({ server }, `read ${url} note://b`)).io.out()).toBe("note b");
  });

  test("writes binary data to a pipe or a file, and never to a terminal", async () => {
    const bytes = [0, 255, 27];
    expect([...(await runWith({ server }, `read ${url} note://raw`)).io.bytes()]).toEqual(bytes);
    const shown = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, `read ${url} note://raw`);
    expect(shown.io.out()).toBe("[resource note://raw application/octet-stream, 3 bytes: --output FILE saves it]\n");
    await runWith({ server, cwd: folder, terminal: true }, `read ${url} note://raw --output raw.bin`);
    expect([...readFileSync(join(folder, "raw.bin"))]).toEqual(bytes);
  });

  test("refuses an unknown URI and suggests a known one", async () => {
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

  test("refuses a reference that is neither a prompt nor a URI template", async () => {
    const { code, io } = await runWith({ server }, `complete ${url} review language p`);
    expect(code).toBe(1);
    expect(io.err()).toContain("For the prompt write prompt:review");
  });
});

describe("watch", () => {
  test("prints changes as they occur until Ctrl-C, as lines of JSON with --json", async () => {
    const own = exampleServer();
    const io = fakeIo({ server: own });
    const done = runClientCommand("watch", [url, "--json"], io);
    await io.seen("Watching the lists of tools, prompts, resources.");
    own.tools.delete("fail");
    await io.seen('"kind":"tools"');
    io.pressCtrlC();
    expect(await done).toBe(130);
    const difference = { added: [], removed: ["fail"], changed: [] };
    expect(JSON.parse(io.out())).toEqual({ at: expect.any(String), kind: "tools", ...difference });
  });

  test("prints the notifications of one change once, with the names that differ", async () => {
    const own = exampleServer();
    const runs: (() => void)[] = [];
    let cancelled = 0;
    const io = fakeIo({
      server: own,
      after: (_ms, run) => {
        runs.push(run);
        return () => void cancelled++;
      },
    });
    const done = runClientCommand("watch", [url], io);
    await io.seen("Watching");
    own.tools.delete("fail");
    own.tools.set("add", tool({ description: "Another", call: () => "" }));
    own.tools.set("extra", tool({ call: () => "" }));
    own.tools.set("more", tool({ call: () => "" }));
    own.prompts.delete("talk");
    await vi.waitFor(() => expect(runs).toHaveLength(2));
    for (const run of runs.splice(0)) run();
    await io.seen("prompts changed");
    expect(io.out()).toMatch(
      /^\S+ tools changed: added extra, more; removed fail; changed add\n\S+ prompts changed: removed talk\n$/,
    );
    own.tools.delete("more");
    await vi.waitFor(() => expect(runs).toHaveLength(1));
    runs[0]?.();
    await io.seen("removed more");
    expect(io.out()).toMatch(/ tools changed: removed more\n$/);
    own.tools.delete("extra");
    await vi.waitFor(() => expect(runs).toHaveLength(2));
    io.pressCtrlC();
    expect(await done).toBe(130);
    expect(cancelled).toBe(1);
  });

  test("prints a change of a list that could not be read at the start without names", async () => {
    let isHidden = true;
    const guarded = createServer({
      name: "guarded",
      version: "1",
      onError: () => {},
      tools: { a: tool({ call: () => "" }) },
    });
    guarded.use((call, next) => {
      if (call.method === "tools/list" && isHidden) throw new Error("Not yet.");
      return next();
    });
    const io = fakeIo({ server: guarded });
    const done = runClientCommand("watch", [url], io);
    await io.seen("Watching");
    isHidden = false;
    guarded.tools.delete("a");
    await io.seen("tools changed");
    io.pressCtrlC();
    expect(await done).toBe(130);
    expect(io.out()).toMatch(/ tools changed\n$/);
  });

  test("ends with the error of a change that cannot be printed", async () => {
    const own = exampleServer();
    const stdout = new Writable({ write: (_chunk, _encoding, callback) => callback(new Error("The disk is full.")) });
    stdout.on("error", () => {});
    const io = fakeIo({ server: own, stdout });
    const done = runClientCommand("watch", [url], io);
    await io.seen("Watching");
    own.tools.delete("fail");
    expect(await done).not.toBe(0);
    expect(io.err()).toContain("The disk is full.");
    expect(io.err()).not.toContain("The server ended the subscription.");
  });

  test("prints an error as one line with --json", async () => {
    const { code, io } = await runWith({ server }, `watch ${url} --json --timeout never`);
    expect(code).toBe(1);
    expect(io.out().trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(io.out()).error.code).toBe("usage");
  });

  test("refuses to watch a server without change notifications", async () => {
    const silent = createServer({ name: "silent", version: "1" });
    const { code, io } = await runWith({ server: silent }, `watch ${url}`);
    expect(code).toBe(2);
    expect(io.err()).toContain("does not notify clients of changed lists");
  });

  test("prints the updates of the given URIs", async () => {
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
