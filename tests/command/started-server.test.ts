import { describe, expect, test } from "vitest";
import { type Finished, startCommand } from "./run-command.ts";
import { serverSource } from "./server-source.ts";

interface Given {
  options?: string[];
  env?: Record<string, string>;
}

function callStarted(source: string, { options = [], env = {} }: Given = {}): Promise<Finished> {
  const words = ["call", "work", ...options, "--", process.execPath, "server.cjs"];
  return startCommand(words, { files: { "server.cjs": source }, env }).finished;
}

const ok = 'answer(id, { result: { content: [{ type: "text", text: "done" }] } });';
const internal = 'answer(id, { error: { code: -32603, message: "Internal error" } });';
const fails = serverSource({
  start: 'process.stderr.write("ready\\n");',
  onCall: `process.stderr.write("Error: \\u001b[2Jno such note\\n    at work:3\\nAPI_TOKEN=hunter2\\n"); ${internal}`,
});

describe("the stderr of a started server", () => {
  test("is shown after a failure, without secrets and escape sequences", async () => {
    const { code, err } = await callStarted(fails);
    expect(code).toBe(2);
    expect(err).toBe(
      "mcparley: The server answered tools/call with -32603: Internal error\n" +
        "  The end of the server's stderr:\n" +
        "    ready\n    Error: \\x1b[2Jno such note\n        at work:3\n    API_TOKEN=[redacted]\n" +
        "  More: mcparley help -32603\n",
    );
  });

  test("is part of the error document of --json", async () => {
    const { out, err } = await callStarted(fails, { options: ["--json"] });
    expect(JSON.parse(out)).toMatchObject({
      error: { code: -32603, exitCode: 2, stderr: expect.stringContaining("no such note") },
    });
    expect(err).toBe("");
  });

  test("is shown once, as it arrives, with --verbose", async () => {
    const { err } = await callStarted(fails, { options: ["-v"] });
    expect(err).toContain("server: ready\n");
    expect(err.match(/no such note/g)).toHaveLength(1);
  });

  test("is not shown after a success", async () => {
    const source = serverSource({ onCall: `process.stderr.write("fine\\n"); ${ok}` });
    expect(await callStarted(source)).toEqual({ code: 0, out: "done\n", err: "" });
  });

  test("is shown once if the server exits", async () => {
    const { code, err } = await callStarted('process.stderr.write("no licence\\n"); process.exit(3);');
    expect(code).toBe(4);
    expect(err).toContain("exited with code 3.");
    expect(err.match(/no licence/g)).toHaveLength(1);
  });
});

describe("the environment of a started server", () => {
  const start = 'if (!process.env.NOTES_KEY) { console.error("NOTES_KEY is not set"); process.exit(1); }';
  const source = serverSource({ start, onCall: ok });
  const env = { NOTES_KEY: "k1-canary", OTHER: "o" };

  test.each([["--env NOTES_KEY"], ["--env-all"]])("has the variables of the shell with %s", async (option) => {
    expect(await callStarted(source, { env, options: option.split(" ") })).toMatchObject({ code: 0, out: "done\n" });
  });

  test("is named in the hint of a failure if the server lacks a variable of the shell", async () => {
    const { code, err } = await callStarted(source, { env });
    expect(code).toBe(4);
    expect(err).toContain("The server does not receive NOTES_KEY of this shell. Add --env NOTES_KEY.");
    expect(err).not.toContain("k1-canary");
  });

  test("is explained if the server exits for another reason", async () => {
    const { err } = await callStarted("process.exit(1);", { env });
    expect(err).toContain("Pass others with --env NAME, or all with --env-all.");
  });
});

describe("a server that prints to stdout", () => {
  test("causes one warning at its first line, and is still used", async () => {
    const start = 'console.log("Listening on \\u001b[2J3000"); console.log("Ready");';
    const { code, out, err } = await callStarted(serverSource({ start, onCall: ok }));
    expect(code).toBe(0);
    expect(out).toBe("done\n");
    expect(err).toMatch(/^The server printed to stdout\. A line is not JSON: .* logs belong on stderr\.\n$/);
  });

  test("causes the warning long before the timeout", async () => {
    // Ends with its input, so that one interrupt is enough. A second one may arrive when the command no longer listens to it.
    const source = 'console.log("Listening on 3000"); process.stdin.resume();';
    const words = ["list", "--timeout", "1h", "--", process.execPath, "server.cjs"];
    const { seen, interrupt, finished } = startCommand(words, { files: { "server.cjs": source } });
    await seen('The server printed to stdout. A line is not JSON: "Listening on 3000".');
    interrupt();
    expect((await finished).code).toBe(130);
  });
});

test("--timeout ends the command, although the server neither answers nor ends with its input", async () => {
  // Ends by itself after the test, because it ignores the signal of the command.
  const source = 'process.on("SIGTERM", () => {}); setTimeout(() => {}, 20_000);';
  const words = ["list", "--json", "--timeout", "500ms", "--", process.execPath, "server.cjs"];
  const { code, out } = await startCommand(words, { files: { "server.cjs": source } }).finished;
  expect(code).toBe(6);
  expect(JSON.parse(out)).toMatchObject({
    error: { code: "timeout", message: "The command did not finish within 0.5 s." },
  });
});
