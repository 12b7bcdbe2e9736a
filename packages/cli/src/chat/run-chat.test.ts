import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { apiKeys } from "mcparley/auth";
import { listen } from "mcparley/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../terminal/exit-codes.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../commands/testing/fake-io.ts";
import { temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { runChat } from "./run-chat.ts";
import { notesServer } from "./testing/notes-server.ts";

interface Ended {
  readonly code: number;
  readonly io: FakeIo;
  readonly home: string;
}

/** Runs `mcparley chat` in an empty home folder, and returns its outcome. */
async function chat(argv: readonly string[], options: FakeOptions & { home?: string } = {}): Promise<Ended> {
  const home = options.home ?? (await temporaryFolder());
  const io = fakeIo({ stdin: "", ...options, cwd: home, env: { TERM: "dumb", ...options.env, HOME: home } });
  const code = await runChat(argv, { ...io, onTerminate: () => () => {} });
  return { code, io, home };
}

/** Listens as an endpoint of models that answers each request with a text. */
async function endpoint(text: string): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (choice: object): void => {
        const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] };
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      };
      send({ index: 0, delta: { role: "assistant", content: text }, finish_reason: null });
      send({ index: 0, delta: {}, finish_reason: "stop" });
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

test("--help describes the command, and starts nothing", async () => {
  const { code, io } = await chat(["--help", "--resume", "last"]);
  expect(code).toBe(exitCodes.ok);
  expect(io.out()).toContain("mcparley chat [TARGET ...]");
  expect(io.out()).toContain("--no-history");
});

test.each([
  [["--json"], "--json needs --prompt, because a chat has no single result."],
  [["--prompt", ""], "--prompt is empty."],
  [["--prompt", "  "], "--prompt is empty."],
  [["--timeout", "5"], "--timeout needs --prompt. A chat has no time limit."],
  [["--allow="], "A pattern of --allow is empty."],
  [["--allow", "notes:"], "A pattern of --allow is empty."],
  [["--prompt", "Hello"], "--prompt needs a model."],
  [["--root", "missing"], "missing does not exist."],
  [["--model", "qwen3"], '"qwen3" names no provider and model.'],
  [["--base-url", "http://127.0.0.1:1/v1"], "--base-url belongs to a model, and --model is missing."],
  [["--resume", "last"], "There is no stored conversation."],
  [["--sample", "x"], "mcparley chat has no option --sample."],
  [["--lines", "--prompt", "x"], "--lines and --prompt exclude each other."],
  [["--modl", "x"], "There is no option --modl."],
  [["unknown-server"], "unknown-server"],
])("%j is refused", async (argv, message) => {
  const { code, io, home } = await chat(argv);
  expect(code).toBe(exitCodes.usage);
  expect(`${io.err()}${io.out()}`).toContain(message);
  expect(home).not.toBe("");
});

test("an error with --json is one JSON document", async () => {
  const { code, io } = await chat(["--json"]);
  expect(code).toBe(exitCodes.usage);
  expect(JSON.parse(io.out())).toMatchObject({
    error: { message: expect.stringContaining("--json needs --prompt") as string },
  });
});

test("--json after -- belongs to the server", async () => {
  const { io } = await chat(["--timeout", "5", "--", "server", "--json"]);
  expect(io.out()).toBe("");
  expect(io.err()).toContain("--timeout needs --prompt.");
});

/** Starts a server that requires a sign-in, and its authorization server at the same origin. Returns the URL. */
async function startProtected(): Promise<string> {
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const documents: Record<string, object> = {
      "/.well-known/oauth-protected-resource": { resource: `${origin}/mcp`, authorization_servers: [origin] },
      "/.well-known/oauth-authorization-server": {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      },
    };
    const document = documents[request.url ?? ""];
    if (document) return response.setHeader("content-type", "application/json").end(JSON.stringify(document));
    const metadata = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`;
    return response.writeHead(request.url === "/mcp" ? 401 : 404, { "www-authenticate": metadata }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

test("--prompt names the command that signs in, with the options of the sign-in", async () => {
  const { url } = await endpoint("Blue.");
  const target = await startProtected();
  const model = ["--model", "small", "--base-url", url];
  const { io } = await chat([...model, "--dpop", "--no-offline", "--trust", target, "--prompt", "Name a colour."]);
  expect(io.err()).toContain(`Sign in: mcparley login ${target} --trust --no-offline --dpop`);
});

test("--prompt advises no sign-in at a server that accepts only a token or a key", async () => {
  const { url } = await endpoint("Blue.");
  const auth = apiKeys([{ key: "key-0123456789abcdef", subject: "alice" }]);
  const notes = await listen(notesServer().server, { auth, port: 0 });
  onTestFinished(() => notes.close());
  const { io } = await chat(["--model", "small", "--base-url", url, notes.url, "--prompt", "Name a colour."]);
  expect(io.err()).toContain('Send it in a header. Such as --header "Authorization: Bearer TOKEN"');
  expect(io.err()).not.toContain("login");
});

test("--prompt names the cause if a pattern of --allow matches a tool that the server may hide", async () => {
  const { url } = await endpoint("Blue.");
  const notes = await listen(notesServer().server, { port: 0 });
  onTestFinished(() => notes.close());
  const run = (pattern: string) =>
    chat(["--model", "m", "--base-url", url, notes.url, "--prompt", "Name a colour.", "--allow", pattern]);
  const { io } = await run("translate");
  expect(io.err()).toContain('--allow "translate" matches no tool.');
  expect(io.err()).toContain("A server can hide tools that need a model or answers of a user");
  expect((await run("search")).io.err()).not.toContain("hide");
});

test("--prompt prints the answer, and stores the conversation", async () => {
  const { url } = await endpoint("Blue.");
  const model = ["--model", "m", "--base-url", url];
  const { code, io, home } = await chat([...model, "--prompt", "Name a colour."]);
  expect(io.err()).not.toContain("mcparley:");
  expect(code).toBe(exitCodes.ok);
  expect(io.out()).toBe("Blue.\n");
  const second = await chat([...model, "--resume", "last", "--prompt", "Again."], { home });
  expect(second.code).toBe(exitCodes.ok);
  const third = await chat([...model, "--resume", "last", "--prompt", "Once more.", "--json", "--no-history"], {
    home,
  });
  const document = JSON.parse(third.io.out()) as Record<string, unknown>;
  expect(document).toMatchObject({ answer: "Blue." });
});

test("--system and the continued messages are sent", async () => {
  const { url, bodies } = await endpoint("Blue.");
  const words = ["--model", "m", "--base-url", url, "--system", "Be brief.", "--prompt"];
  const { home } = await chat([...words, "Name a colour."]);
  await chat([...words, "Again.", "--resume", "last"], { home });
  expect(bodies[0]).toContain("Be brief.");
  expect(bodies[1]).toMatch(/Name a colour.*Blue\..*Again\./);
});

test("--prompt attaches resources, and refuses a template, whose variables nobody can be asked for", async () => {
  const { url, bodies } = await endpoint("Blue.");
  const notes = await listen(notesServer().server, { port: 0 });
  onTestFinished(() => notes.close());
  const prompt = async (text: string): Promise<Ended> =>
    chat([notes.url, "--model", "m", "--base-url", url, "--prompt", text]);
  const read = await prompt(`Read @local-${notes.port}:note://today`);
  expect(read.code).toBe(exitCodes.ok);
  expect(bodies[0]).toContain("Buy milk.");
  const template = await prompt(`Read @local-${notes.port}:runbook://{team}/{service}`);
  expect(template.code).toBe(exitCodes.usage);
  expect(template.io.err()).toContain("is a template.");
  const broken = await prompt(`Read @local-${notes.port}:note://broken`);
  expect(broken.code).not.toBe(exitCodes.ok);
  expect(broken.io.err()).toContain("The disk is full.");
  expect(bodies).toHaveLength(1);
});

test("without a model and servers, the lines of a pipe are read with --lines", async () => {
  const { code, io } = await chat(["--lines"], { stdin: "/servers\ntext\n" });
  expect(code).toBe(exitCodes.ok);
  expect(io.out()).toContain("There are no servers.");
  expect(io.out()).toContain("[user]\ntext\n");
});

test("--no-history stores nothing", async () => {
  const { io, home } = await chat(["--no-history"], { stdin: "text\n" });
  expect(io.out()).toContain("[user]\ntext\n");
  expect(io.err()).not.toContain("--resume");
  expect((await chat(["--resume", "last"], { home })).io.err()).toContain("There is no stored conversation.");
});

test("--resume takes the servers that were stored with the conversation", async () => {
  const config = JSON.stringify({ mcpServers: { wiki: { url: "http://127.0.0.1:9/mcp" } } });
  const home = await temporaryFolder({ "mcp.json": config, "elsewhere/readme.md": "" });
  await chat(["wiki", "--trust"], { stdin: "text\n", home });
  const resumed = await chat(["--resume", "last", "--trust"], { stdin: "/servers\n", home });
  expect(resumed.io.out()).toContain("wiki  ");
  const other = await chat(["--resume", "last", "--trust", "http://127.0.0.1:9/other"], { stdin: "", home });
  expect(other.code).toBe(exitCodes.ok);
});

test("the roots of --root are named without --prompt as well", async () => {
  const home = await temporaryFolder({ "src/a.ts": "" });
  const { io } = await chat(["--root", "src"], { stdin: "/roots\n", home });
  expect(io.out()).toContain(`src  ${pathToFileURL(join(home, "src")).href}`);
});

/** Returns the messages of the user in a request. */
function userMessages(body: string | undefined): string[] {
  const { messages } = JSON.parse(body ?? "{}") as { messages: { role: string; content: string }[] };
  return messages.filter(({ role }) => role === "user").map(({ content }) => content);
}

const fence = "```";

describe("the text of a pipe", () => {
  test("is a part of the message of --prompt, and is not searched for mentions", async () => {
    const { url, bodies } = await endpoint("Blue.");
    const code = "@decorator\r\nclass A {} // mail a@b.c\r\n";
    const result = await chat(["-m", "m", "--base-url", url, "-p", "Explain this."], { stdin: code });
    expect(result.code).toBe(exitCodes.ok);
    expect(userMessages(bodies[0])).toEqual([
      `Explain this.\n\nText of stdin:\n${fence}\n@decorator\nclass A {} // mail a@b.c\n${fence}`,
    ]);
  });

  test.each(["-", "@-", " - "])("is the message of -p %j", async (prompt) => {
    const { url, bodies } = await endpoint("Blue.");
    const { code, io } = await chat(["-m", "m", "--base-url", url, "-p", prompt, "--json"], {
      stdin: "Name\na colour.\n",
    });
    expect(code).toBe(exitCodes.ok);
    expect(userMessages(bodies[0])).toEqual(["Name\na colour."]);
    expect(JSON.parse(io.out())).toMatchObject({ answer: "Blue.", reason: "answered" });
  });

  test.each(["", " \n"])("is missing for -p - if it is %j", async (stdin) => {
    const { url, bodies } = await endpoint("Blue.");
    const { code, io } = await chat(["-m", "m", "--base-url", url, "-p", "-", "--json"], { stdin });
    expect(code).toBe(exitCodes.usage);
    expect(JSON.parse(io.out())).toMatchObject({ error: { code: "usage", message: "Stdin is empty." } });
    expect(bodies).toEqual([]);
  });

  test("is named once by @-", async () => {
    const { url, bodies } = await endpoint("Blue.");
    const home = await temporaryFolder({ "a.md": "one\n" });
    await chat(["-m", "m", "--base-url", url, "-p", "Compare @- with @a.md."], { stdin: "two", home });
    expect(userMessages(bodies[0])).toEqual([
      `Compare @- with @a.md.\n\nText of stdin:\n${fence}\ntwo\n${fence}\n\nText of the file a.md:\n${fence}\none\n${fence}`,
    ]);
  });

  test("is one message without --prompt, and several with --lines", async () => {
    const { url, bodies } = await endpoint("Blue.");
    const model = ["-m", "m", "--base-url", url];
    const stdin = "Name a colour.\n\n@decorator and a number.\n";
    const { code, io } = await chat(model, { stdin });
    expect(code).toBe(exitCodes.ok);
    expect(bodies.map(userMessages)).toEqual([[stdin.trimEnd()]]);
    expect(io.out()).toContain("Blue.");
    await chat([...model, "--lines"], { stdin: "Name a colour.\n/roots\nAgain.\n" });
    expect(bodies.slice(1).map((body) => userMessages(body).at(-1))).toEqual(["Name a colour.", "Again."]);
  });

  test("of one line without --prompt is read as typed text", async () => {
    const { io } = await chat([], { stdin: "/servers\n" });
    expect(io.out()).toContain("There are no servers.");
  });

  test("of several lines without --prompt is refused if it begins with a command", async () => {
    const { code, io } = await chat([], { stdin: "/servers\n/roots\n" });
    expect(code).toBe(exitCodes.usage);
    expect(io.err()).toContain("A pipe of several lines is one message, and /servers is a command.");
    expect(io.err()).toContain("Add --lines.");
  });

  test("that is empty without --prompt sends nothing, and says so", async () => {
    const { url, bodies } = await endpoint("Blue.");
    const { code, io } = await chat(["-m", "m", "--base-url", url], { stdin: "" });
    expect(code).toBe(exitCodes.ok);
    expect(io.err()).toContain("stdin is empty, so nothing was sent.");
    expect(bodies).toEqual([]);
  });

  test("that never ends is left by Ctrl-C with 130, and by --timeout with 6", async () => {
    const { url, bodies } = await endpoint("Blue.");
    const home = await temporaryFolder();
    const start = (argv: readonly string[]) => {
      const io = fakeIo({ cwd: home, env: { TERM: "dumb", HOME: home } });
      const exit = runChat(["-m", "m", "--base-url", url, ...argv], { ...io, onTerminate: () => () => {} });
      return { io, exit };
    };
    for (const argv of [["-p", "Explain this."], ["-p", "-"], []]) {
      const { io, exit } = start(argv);
      io.stdin.once("data", () => io.pressCtrlC());
      io.stdin.push("a");
      expect(await exit).toBe(exitCodes.interrupted);
    }
    const { io, exit } = start(["-p", "Explain this.", "--timeout", "20ms"]);
    expect(await exit).toBe(exitCodes.timeout);
    expect(io.err()).toContain("stdin did not end within 0.02 s.");
    expect(bodies).toEqual([]);
  });
});

test("--prompt @FILE is the text of the file, and an unknown mention is refused before anything is sent", async () => {
  const { url, bodies } = await endpoint("Blue.");
  const home = await temporaryFolder({ "question.md": "Name a colour.\n" });
  const prompt = async (text: string): Promise<Ended> => chat(["-m", "m", "--base-url", url, "-p", text], { home });
  expect((await prompt("@question.md")).code).toBe(exitCodes.ok);
  expect(userMessages(bodies[0])).toEqual(["Name a colour."]);
  const missing = await prompt("Explain @missing.md");
  expect(missing.code).toBe(exitCodes.usage);
  expect(missing.io.err()).toContain('"@missing.md" names no resource of a server, and no file.');
  expect(missing.io.err()).toContain("\\@missing.md");
  expect(bodies).toHaveLength(1);
});

test("a message that fails leaves no trace, and the reason of each repetition is shown", async () => {
  const home = await temporaryFolder();
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(429, { "retry-after-ms": "1" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const { code, io } = await chat(["-m", "m", "--base-url", url, "-p", "Hello", "--json"], { home });
  expect(code).toBe(2);
  expect(JSON.parse(io.out())).toMatchObject({
    reason: "error",
    conversation: null,
    error: { message: expect.stringContaining("The request was sent 4 times.") as string },
  });
  expect(io.err().match(/The model endpoint answered 429; try \d of 4 in 1 s/g)).toHaveLength(3);
  expect((await chat(["--resume", "last"], { home })).io.err()).toContain("There is no stored conversation.");
});
