import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startNotes } from "../host/sign-in/stage.ts";
import { targetOf } from "./support/chat.ts";
import { failWith, hold, openModelEndpoint, say, toolCall } from "./support/model-endpoint.ts";
import { type ModelScript } from "./support/scripted-endpoint.mjs";
import { environmentOf, newHome, openTerminal, program } from "./support/terminal.ts";
import { hostileText, stdioTestServer } from "./support/test-server.ts";

interface Script {
  readonly script: ModelScript;
  readonly server?: ReturnType<typeof stdioTestServer> | null;
  readonly home?: string;
}

/** Starts `mcparley chat --prompt` without a terminal. */
async function start(args: readonly string[], { script, server = stdioTestServer(), home = newHome() }: Script) {
  const endpoint = await openModelEndpoint(script);
  const words = ["chat", "--model", "small", "--base-url", endpoint.url, ...args, ...targetOf(server)];
  const child = spawn(process.execPath, [program, ...words], {
    env: environmentOf(home),
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { child, endpoint, result: ended.then(([stdout, stderr, [code]]) => ({ stdout, stderr, code })) };
}

const run = async (args: readonly string[], script: Script) => (await start(args, script)).result;

test("prints the answer, and notes about the calls on stderr", async () => {
  const server = stdioTestServer();
  const script = [say("I look. ", toolCall("server__echo", { text: "a" })), say("It is ", "a.")];
  const { stdout, stderr, code } = await run(["--prompt", "What is it?", "--allow", "echo"], { script, server });
  expect(stdout).toBe("I look. \n\nIt is a.\n");
  expect(stderr).toContain('call: server__echo of server {"text":"a"}');
  expect(code).toBe(0);
  expect(server.events()).toContainEqual({ event: "echo", text: "a" });
});

test("names the command that signs in to a server that requires it", async () => {
  const notes = await startNotes();
  onTestFinished(notes.close);
  const { stderr, code } = await run([notes.url, "--prompt", "What is due?"], {
    script: [say("Nothing.")],
    server: null,
  });
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(`requires a sign-in. Sign in: mcparley login ${notes.url}`);
  expect(code).toBe(0);
});

test("prints one JSON document", async () => {
  const script = [say("I look. ", toolCall("server__echo", { text: "a" })), say("It is a.")];
  const { stdout, code } = await run(["--prompt", "What is it?", "--json", "--allow", "server:echo"], { script });
  expect(JSON.parse(stdout)).toEqual({
    answer: "It is a.",
    reason: "answered",
    calls: [
      { name: "server__echo", server: "server", tool: "echo", arguments: { text: "a" }, status: "result", text: "a" },
    ],
    usage: {
      inputTokens: 200,
      outputTokens: 40,
      origins: [{ model: expect.stringMatching(/small$/), inputTokens: 200, outputTokens: 40 }],
    },
    steps: 2,
    model: expect.stringMatching(/small$/),
    unavailable: [],
    conversation: expect.stringMatching(/^[a-z\d]{10}$/),
  });
  expect(code).toBe(0);
});

test("denies a call without a rule, and exits with 7", async () => {
  const server = stdioTestServer();
  const script = [say(toolCall("server__echo", { text: "a" })), say("I may not.")];
  const { stdout, stderr, code } = await run(["--prompt", "Echo"], { script, server });
  expect(stdout).toBe("I may not.\n");
  expect(stderr).toContain("denied");
  expect(code).toBe(7);
  expect(server.events().map(({ event }) => event)).toEqual(["started"]);
});

test("declines the questions of servers, because nobody can be asked", async () => {
  const server = stdioTestServer();
  const script = [say(toolCall("server__ask_form")), say("No table.")];
  const { stdout, code } = await run(["--prompt", "Book", "--allow", "*"], { script, server });
  expect(stdout).toBe("No table.\n");
  // The call failed without its answer.
  expect(code).toBe(5);
  expect(server.events().map(({ event }) => event)).not.toContain("answered");
});

test("attaches the resources that the prompt names", async () => {
  const { child, endpoint, result } = await start(["--prompt", "Read @server:note://today"], {
    script: [say("Milk.")],
  });
  expect((await result).stdout).toBe("Milk.\n");
  expect(JSON.stringify(endpoint.requests[0]?.messages)).toContain("Buy milk today.");
  expect(child.exitCode).toBe(0);
});

test("repeats a request that is limited or failed, and shows it on stderr", async () => {
  const limited = { status: 429, message: "Slow down.", headers: { "retry-after": "1" } };
  const { endpoint, result } = await start(["--prompt", "Hi"], { script: [limited, say("Hello.")], server: null });
  const { stdout, stderr, code } = await result;
  expect({ stdout, code }).toEqual({ stdout: "Hello.\n", code: 0 });
  expect(stderr).toContain("The model endpoint answered 429; try 2 of 4 in 1 s");
  expect(endpoint.requests[1]?.messages).toEqual(endpoint.requests[0]?.messages);
});

test("stops at Ctrl-C while it waits to repeat a request", async () => {
  const limited = { status: 503, message: "Restarting.", headers: { "retry-after": "90" } };
  const { child, endpoint, result } = await start(["--prompt", "Hi"], { script: () => limited, server: null });
  child.stderr.setEncoding("utf8").once("data", () => child.kill("SIGINT"));
  expect((await result).code).toBe(130);
  expect(endpoint.requests).toHaveLength(1);
});

test.each([
  [401, 3],
  [400, 2],
])("exits for the HTTP status %d of the endpoint with %d", async (status, expected) => {
  const { stdout, stderr, code } = await run(["--prompt", "Hi", "--json"], { script: () => failWith(status, "No.") });
  expect(JSON.parse(stdout)).toMatchObject({
    reason: "error",
    error: { message: expect.stringContaining(String(status)) },
  });
  expect(stderr).not.toContain("    at ");
  expect(code).toBe(expected);
});

test.each([
  ["--prompt without a model", ["chat", "--prompt", "Hi"], "--prompt needs a model."],
  ["--json without --prompt", ["chat", "--json"], "--json needs --prompt"],
  ["an empty prompt", ["chat", "--prompt", " ", "--model", "ollama/x"], "--prompt is empty."],
  ["an unknown conversation", ["chat", "--resume", "abcdefghjk"], 'no stored conversation "abcdefghjk"'],
])("refuses %s with exit code 1", async (_, args, reason) => {
  const terminal = openTerminal({ args, columns: 120 });
  expect((await terminal.exit).code).toBe(1);
  expect(terminal.screen()).toContain(reason);
});

test("stops at the end of --timeout with exit code 6", async () => {
  const server = stdioTestServer();
  const script = [say(toolCall("server__slow", { interval: 20 })), say("never")];
  const { stdout, code } = await run(["--prompt", "Work", "--allow", "slow", "--timeout", "5s", "--json"], {
    script,
    server,
  });
  expect(JSON.parse(stdout)).toMatchObject({ reason: "time", calls: [{ status: "cancelled" }] });
  expect(code).toBe(6);
  expect(server.events()).toContainEqual({ event: "cancelled" });
});

test("stops at Ctrl-C with exit code 130, and cancels the request to the model", async () => {
  const { child, endpoint, result } = await start(["--prompt", "Hi"], { script: [say("The start", hold().held)] });
  const request = await endpoint.received(1);
  child.kill("SIGINT");
  await request.disconnected;
  expect((await result).code).toBe(130);
});

test("escapes the answer on a terminal, and leaves it unchanged in a pipe", async () => {
  const { stdout } = await run(["--prompt", "Attack"], { script: [say(hostileText)], server: null });
  expect(stdout).toBe(`${hostileText}\n`);
  const endpoint = await openModelEndpoint([say(hostileText)]);
  const args = ["chat", "--model", "small", "--base-url", endpoint.url, "--prompt", "Attack"];
  const terminal = openTerminal({ args });
  expect((await terminal.exit).code).toBe(0);
  expect(terminal.raw()).not.toContain("\u001b[2J");
  expect(terminal.screen()).toContain(String.raw`\x1b[2J`);
});

test("continues a conversation with --resume", async () => {
  const home = newHome();
  const first = await run(["--prompt", "My name is Ada.", "--json"], { home, script: [say("Hello, Ada.")] });
  const { conversation } = JSON.parse(first.stdout);
  const { endpoint, result } = await start(["--prompt", "Who am I?", "--resume", conversation, "--json"], {
    home,
    script: [say("Ada.")],
  });
  expect(JSON.parse((await result).stdout)).toMatchObject({ answer: "Ada.", conversation });
  expect(endpoint.requests[0]?.messages.slice(-3)).toEqual([
    { role: "user", content: "My name is Ada." },
    { role: "assistant", content: "Hello, Ada." },
    { role: "user", content: "Who am I?" },
  ]);
});
