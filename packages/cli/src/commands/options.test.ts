import { describe, expect, test } from "vitest";
import type { UsageError } from "../terminal/io.ts";
import { callCommand } from "./call.ts";
import { yesNotice } from "./connection/options.ts";
import { declaredCommands } from "./all-commands.ts";
import { readCommand } from "./testing/read-command.ts";

/** Reads words with the options of `mcparley call`. */
function readCall(argv: readonly string[]) {
  return readCommand(argv, { name: "call", options: callCommand.options });
}

describe("readOptions", () => {
  test("separates words, options and the command after --", () => {
    const words = readCall([
      "t",
      "--json",
      "tool",
      "a=--b",
      "--timeout",
      "2m",
      "-H",
      "X-A: b: c",
      "--",
      "node",
      "--json",
    ]);
    expect(words.positionals).toEqual(["t", "tool", "a=--b"]);
    expect(words.command).toEqual(["node", "--json"]);
    expect(words.options).toMatchObject({ json: true, timeout: 120_000, header: { "X-A": "b: c" }, yes: false });
  });

  test.each([
    ["30", 30_000],
    ["0.5", 500],
    ["500ms", 500],
    ["1h", 3_600_000],
  ])("reads --timeout %s", (text, timeout) => {
    expect(readCall(["--timeout", text]).options.timeout).toBe(timeout);
  });

  test.each([
    ["500000", 500_000],
    ["500KiB", 512_000],
    ["1.5m", 1_572_864],
    ["512MiB", 536_870_912],
  ])("reads --max-reply %s", (text, maxReply) => {
    expect(readCall(["--max-reply", text]).options.maxReply).toBe(maxReply);
  });

  test.each(["2026-07-28", "2024-11-05", "2024-10-07"])("accepts --revision %s", (version) => {
    expect(readCall(["--revision", version]).options.revision).toBe(version);
  });

  test("collects the values of repeated options", () => {
    const { options } = readCall(["-e", "A=1", "--env", "B=x=y", "--answer", "ok=yes", "--answer=n=1"]);
    expect(options.env).toEqual({ A: "1", B: "x=y" });
    expect(options.answer).toEqual({ ok: "yes", n: "1" });
  });

  test.each([
    [["--jsn"], "There is no option --jsn.", "Did you mean --json?"],
    // An option of this command has precedence over an equally near one of another command.
    [["--josn"], "There is no option --josn.", "Did you mean --json?"],
    [["--orot", "."], "There is no option --orot.", "Did you mean --root?"],
    [["-x"], "There is no option -x.", "--help"],
    [["--output", " "], "The value of --output is empty.", undefined],
    [["--output", "--json"], "--output needs a value", undefined],
    [["--header"], "--header needs a value", undefined],
    [["--json=1"], "--json takes no value", undefined],
    [["--timeout", "soon"], '--timeout "soon" is not a time.', "30 (seconds)"],
    [["--timeout", "0"], "is not a time", undefined],
    [["--max-reply", "much"], '--max-reply "much" is not a size.', "128MiB"],
    [["--max-reply", "0"], "is not a size", undefined],
    [["--max-reply", "513MiB"], "is more than 512MiB", undefined],
    [["--env", "=A"], "--env needs NAME=VALUE.", undefined],
    [["--log-level", "warn"], 'There is no log level "warn".', "warning"],
    [["--revision", "2025-06-19"], '"2025-06-19" is not a revision', "Available: 2026-07-28, "],
    [["--revision", "2020-01-01"], '"2020-01-01" is not a revision', "2025-06-18, 2025-03-26, 2024-11-05"],
  ])("%j is refused", (argv, message, hint) => {
    const wanted = { name: "UsageError", message: expect.stringContaining(message) };
    const withHint = hint === undefined ? wanted : { ...wanted, hint: expect.stringContaining(hint) };
    expect(() => readCall(argv)).toThrow(expect.objectContaining(withHint));
  });

  test("does not repeat an invalid header in the error, because it may contain a token", () => {
    for (const text of ["Bearer secret", "X-A: secret\r\nX-B: c", ": secret"]) {
      expect(() => readCall(["--header", text])).toThrow(
        expect.objectContaining({ message: "--header is not a header." }),
      );
    }
  });
});

test("an option of other commands names all of them", () => {
  const hintOf = (line: string): unknown => {
    try {
      const [name = "", ...words] = line.split(" ");
      return readCommand(words, { name, options: declaredCommands.get(name)!.options });
    } catch (error) {
      return (error as UsageError).hint;
    }
  };
  expect(hintOf("watch --allow x")).toBe("It is an option of mcparley chat, mcparley call.");
  expect(hintOf("logout --no-browser")).toMatch(/mcparley chat, .*mcparley login\.$/);
  expect(hintOf("call --port 1")).toBe("It is an option of mcparley serve.");
  expect(hintOf("whoami --scope x")).toMatch(
    /mcparley login.*mcparley add, mcparley remove|mcparley add.*mcparley login/,
  );
});

test.each([
  [
    "call",
    "--trust to start or contact the server of a file, --allow PATTERN to call its tools, and --send-answers to send complete forms",
  ],
  ["read", "--trust to start or contact the server of a file and --send-answers to send complete forms"],
  ["login", "--trust to start or contact the server of a file"],
])("the notice about --yes of %s names the options that replace it there", (command, options) => {
  const declared = declaredCommands.get(command)!.options;
  expect(yesNotice(declared)).toBe(`--yes will be removed. Use ${options}.`);
  const names = Object.values(declared).map(({ name }) => `--${name}`);
  for (const [option] of options.matchAll(/--[a-z-]+/g)) expect(names).toContain(option);
});

test.each([
  ["client-id", "login"],
  ["client-secret-env", "login"],
  ["redirect-uri", "login"],
  ["scope", "login"],
  ["issuer", "login"],
  ["resource", "login"],
  ["config", "call"],
  ["output", "read"],
  ["proxy", "call"],
])("an empty value of --%s is refused with its name", (name, command) => {
  const { options } = declaredCommands.get(command)!;
  for (const words of [
    ["https://a.example/mcp", `--${name}`, ""],
    ["https://a.example/mcp", `--${name}=`],
  ]) {
    expect(() => readCommand(words, { name: command, options })).toThrow(`The value of --${name} is empty.`);
  }
});
