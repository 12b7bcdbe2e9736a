import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { say, toolCall } from "./support/model-endpoint.ts";
import { newHome } from "./support/terminal.ts";
import { httpTestServer, stdioTestServer } from "./support/test-server.ts";

/** Returns the files of a folder with their modes. */
function filesOf(folder: string): { file: string; mode: number; isFolder: boolean }[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => {
    const file = path.join(folder, name);
    const { mode } = statSync(file);
    return { file, mode: mode & 0o777, isFolder: statSync(file).isDirectory() };
  });
}

/** Returns the files of stored conversations. */
function storedChats(home: string): string[] {
  return filesOf(home).flatMap(({ file }) => (/\/[a-z\d]{10}\.json$/.test(file) ? [file] : []));
}

test("continues a conversation with its model and its servers", async () => {
  const server = await httpTestServer();
  const first = await openChat({ server, script: [say("Hello, Ada.")] });
  await first.send("My name is Ada.");
  await first.terminal.waitFor("Hello, Ada.");
  expect(await first.leave()).toBe(0);
  const id = /mcparley chat --resume (\w{10})$/m.exec(first.terminal.screen())?.[1] ?? "";
  const { home } = first.terminal;
  const next = await openChat({ home, server: null, args: ["--resume", id.slice(0, 5)], script: [say("Ada.")] });
  await next.terminal.waitFor("Continued: My name is Ada. (2 messages)");
  expect(next.terminal.screen()).toContain("Hello, Ada.");
  expect(next.terminal.screen()).toContain(`the server local-${new URL(server.url).port}`);
  await next.send("Who am I?");
  await next.terminal.waitFor(/^Ada\.$/m);
  expect(next.requests[0]?.messages.slice(-3)).toEqual([
    { role: "user", content: "My name is Ada." },
    { role: "assistant", content: "Hello, Ada." },
    { role: "user", content: "Who am I?" },
  ]);
  await next.leave();
  expect(storedChats(home)).toHaveLength(1);
});

test("lists the stored conversations if the id is wrong", async () => {
  const chat = await openChat({ script: [say("One.")] });
  await chat.send("The first question");
  await chat.terminal.waitFor(/^One\.$/m);
  await chat.leave();
  const { home } = chat.terminal;
  const { terminal } = await openChat({ home, server: null, args: ["--resume", "wrongid"], waits: false });
  expect((await terminal.exit).code).toBe(1);
  expect(terminal.screen()).toContain("The first question");
  expect(terminal.screen()).toContain("--resume last continues the newest one.");
});

test("writes no conversation with --no-history, and none without messages", async () => {
  const chat = await openChat({ args: ["--no-history"], script: [say("Secret, too.")] });
  await chat.send("This is a secret.");
  await chat.terminal.waitFor("Secret, too.");
  await chat.leave();
  expect(chat.terminal.screen()).not.toContain("--resume");
  expect(storedChats(chat.terminal.home)).toEqual([]);
  const texts = filesOf(chat.terminal.home).filter(({ isFolder }) => !isFolder);
  for (const { file } of texts) expect(readFileSync(file, "utf8")).not.toContain("ecret");
  const empty = await openChat();
  await empty.leave();
  expect(storedChats(empty.terminal.home)).toEqual([]);
});

test("writes files for the user only", async () => {
  const home = newHome();
  const chat = await openChat({ home, script: [say("Hello.")] });
  await chat.send("Hi");
  await chat.terminal.waitFor("Hello.");
  await chat.leave();
  const work = path.join(home, "work");
  const written = filesOf(home).filter(({ file }) => file !== work);
  expect(storedChats(home)).toHaveLength(1);
  expect(written.filter(({ isFolder, mode }) => !isFolder && mode !== 0o600)).toEqual([]);
  const chats = path.dirname(storedChats(home)[0] ?? "");
  expect(statSync(chats).mode & 0o777).toBe(0o700);
});

test("shows and stores no key of the model and no secret of a server", async () => {
  const home = newHome();
  const key = "sk-test-1234567890abcdefghij";
  const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
  const server = stdioTestServer();
  const [command, ...args] = server.command;
  mkdirSync(path.join(home, "work"));
  const config = { mcpServers: { notes: { command, args, env: { TEST_TOKEN: token } } } };
  writeFileSync(path.join(home, "work", "servers.json"), JSON.stringify(config), { mode: 0o600 });
  const chat = await openChat({
    home,
    server: null,
    args: ["notes", "--config", "servers.json", "--api-key-env", "LLM_KEY", "--verbose"],
    env: { LLM_KEY: key },
    waits: false,
    script: [say(toolCall("notes__variable", { name: "TEST_TOKEN" })), say("The end.")],
  });
  const { terminal } = chat;
  await terminal.waitFor("Start it?");
  expect(terminal.screen()).toMatch(/Variable +TEST_TOKEN=\(\d+ characters, not shown\)/);
  await chat.answer("[n]o?", "y");
  await terminal.waitFor("1 of 1 servers connected");
  await chat.send("Tell me");
  await chat.answer("[v]iew?", "y");
  await terminal.waitFor("The end.");
  await chat.send("/why");
  await chat.send("/servers");
  await chat.leave();
  expect(chat.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(JSON.stringify(chat.requests[1]?.messages)).toContain("its value is [redacted]");
  for (const secret of [key, token]) expect(terminal.raw()).not.toContain(secret);
  const stored = filesOf(home).filter(({ file, isFolder }) => !isFolder && !file.endsWith("servers.json"));
  for (const { file } of stored) {
    expect(readFileSync(file, "utf8"), file).not.toContain(key);
    expect(readFileSync(file, "utf8"), file).not.toContain(token);
  }
});

test("does not continue a damaged conversation", async () => {
  const chat = await openChat({ script: [say("Hello.")] });
  await chat.send("Hi");
  await chat.terminal.waitFor("Hello.");
  await chat.leave();
  const { home } = chat.terminal;
  const [file = ""] = storedChats(home);
  writeFileSync(file, readFileSync(file, "utf8").replace('"role":"user"', '"role":"root"'));
  const { terminal } = await openChat({ home, args: ["--resume", "last"], waits: false });
  expect((await terminal.exit).code).toBe(1);
  expect(terminal.screen()).toContain("cannot be continued");
});
