import { LocalError, ProtocolError, ToolError } from "mcparley";
import { describe, expect, test } from "vitest";
import { run } from "../command-line.ts";
import { UsageError } from "../terminal/io.ts";
import { errorNames, errorPage, helpFor, readSections } from "../terminal/error-help.ts";
import { fakeIo, runWith } from "./testing/fake-io.ts";

async function help(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = fakeIo({ terminal: true });
  const code = await run(["help", ...words], { ...io, onTerminate: () => () => {} });
  return { code, out: io.out(), err: io.err() };
}

describe("mcparley help CODE", () => {
  test.each([
    ["ECONNREFUSED", "ECONNREFUSED, nothing is listening there"],
    ["econnrefused", "ECONNREFUSED, nothing is listening there"],
    ["session_expired", "Session does not exist or has expired\n"],
    ["401", "401, A token is required\n"],
    ["exit 5", "exit 5, The tool failed\n"],
    ["-32603", "Internal error, -32603\n"],
    ["spawn npx ENOENT", "ENOENT, spawn ENOENT"],
    ["Session does not exist", "Session does not exist or has expired\n"],
    ["rejected the client certificate", "it requires a client certificate"],
    ["Raise limits.message", "too_large\n"],
  ])("explains %s", async (words, heading) => {
    const { code, out, err } = await help(...words.split(" "));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.startsWith(heading), out).toBe(true);
    expect(out).toMatch(/^What to do:\n\n {0,2}1\. /m);
  });

  test("prefers a command and a topic", async () => {
    expect((await help("call")).out).toMatch(/^mcparley call TARGET TOOL/);
    expect((await help("network")).out).toContain("HTTPS_PROXY");
  });

  test("suggests a similar code, or lists what has help", async () => {
    expect(await help("ECONREFUSED")).toMatchObject({
      code: 1,
      err: expect.stringContaining('Did you mean "ECONNREFUSED"?'),
    });
    expect(await help("zzzzzzzzzzzzzz")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Available, among others: serve, chat"),
    });
  });

  test("explains no error for words that several sections have", () => {
    expect(errorPage("certificate", 80)).toBeUndefined();
    expect(errorPage("", 80)).toBeUndefined();
  });

  test.each(["errors", ...errorNames()])("%s fits 80 columns, without the syntax of links", async (name) => {
    const { code, out } = await help(name);
    expect(code).toBe(0);
    expect(out).not.toMatch(/\]\(|^```/m);
    // A command or a quoted word that is longer is not broken.
    const tooLong = out.split("\n").filter((line) => line.length > 80 && /\s\S+\s/.test(line.slice(0, 80).trim()));
    expect(tooLong).toEqual([]);
  });

  test("errors lists the names of all sections", async () => {
    const out = (await help("errors")).out.replaceAll(/\s+/g, " ");
    expect(errorNames().length).toBeGreaterThan(150);
    expect(errorNames().filter((name) => !out.includes(name))).toEqual([]);
  });
});

test("a section ends at the next heading, and a comment in its code is no heading", () => {
  expect(readSections("# A\n\n### `x`, y\n\nText.\n\n```sh\n# no heading\n```\n\n## B\n\n### z\n\nEnd.\n")).toEqual([
    { names: ["x", "y"], text: "Text.\n\n```sh\n# no heading\n```" },
    { names: ["z"], text: "End." },
  ]);
});

describe("the command that explains an error", () => {
  const cause = Object.assign(new Error("x"), { code: "ENOENT" });
  test.each([
    [new LocalError("unreachable", "x", { data: { code: "ECONNREFUSED" } }), "ECONNREFUSED"],
    [new LocalError("unreachable", "x", { data: { code: "EUNKNOWN" } }), "unreachable"],
    [new LocalError("unreachable", "x", { cause }), "ENOENT"],
    [new LocalError("http", "x", { data: { status: 404 } }), "404"],
    [new LocalError("http", "x", { data: { status: 418 } }), "http"],
    [new LocalError("unauthorized", "x", { data: { status: 401 } }), "unauthorized"],
    [new ProtocolError(-32601, "x"), "-32601"],
  ])("%s: %s", (error, code) => {
    expect(helpFor(error)).toBe(`mcparley help ${code}`);
  });

  test.each([new ToolError("x"), new UsageError("x"), new Error("x"), new ProtocolError(7, "x"), "x"])(
    "is missing for %s",
    (error) => {
      expect(helpFor(error)).toBeUndefined();
    },
  );

  test("is the last line on stderr, and a member of the document with --json", async () => {
    const connect = (() =>
      Promise.reject(new LocalError("unreachable", "No.", { data: { code: "ECONNREFUSED" } }))) as never;
    const plain = await runWith({ connect }, "list http://127.0.0.1:1/mcp");
    expect(plain.io.err()).toBe("mcparley: No.\n  More: mcparley help ECONNREFUSED\n");
    const json = await runWith({ connect }, "list http://127.0.0.1:1/mcp --json");
    expect(json.io.err()).toBe("");
    expect(JSON.parse(json.io.out()).error).toMatchObject({ help: "mcparley help ECONNREFUSED" });
  });
});
