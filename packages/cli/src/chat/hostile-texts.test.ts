import { expect, test } from "vitest";
import { type ScriptedStep, callStep, scriptedModel, textStep } from "../../../host/src/testing/scripted-model.ts";
import { keys } from "../terminal/testing/emulated-terminal.ts";
import { type ScriptedServer, scriptedServer } from "../../../host/src/supervision/testing/scripted-server.ts";
import { hostile, hostilePeer, unsafeIn } from "./testing/hostile-peer.ts";
import { type TestChat, openPlainTestChat, openTestChat } from "./testing/open-test-chat.ts";

const hostileServer = (): ScriptedServer => scriptedServer(hostilePeer);

async function open(steps?: readonly ScriptedStep[], argv: readonly string[] = []): Promise<TestChat> {
  const model = steps && scriptedModel(steps);
  const chat = await openTestChat({ servers: { bad: hostileServer() }, model, argv, columns: 400, rows: 100 });
  await chat.ready("bad");
  return chat;
}

/** The visible form of the start of `hostile`. */
const visible = String.raw`evil\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m\x1b[31m`;

/** Expects that an output contains hostile texts, in their visible form only. */
async function expectSafe(chat: TestChat): Promise<void> {
  expect(await chat.text()).toContain(visible);
  expect(unsafeIn(chat.screen.raw())).toBeUndefined();
}

test("the check finds each kind of character", () => {
  for (const part of hostile.match(/[^ -~]/g) ?? []) expect(unsafeIn(`before${part}after`)).toBeDefined();
  expect(
    unsafeIn("\u001b[?2026h\u001b[?25l\r\u001b[2A\u001b[Jtext\r\u001b[3C\u001b[?25h\u001b[?2026l"),
  ).toBeUndefined();
  expect(unsafeIn("\u001b[31mred")).toBeDefined();
});

test("lists and definitions", async () => {
  const chat = await open();
  for (const command of ["/tools", "/tools bad__run", "/prompts", "/resources", "/servers", "/why tools", "/why"]) {
    await chat.type(command);
    await chat.idle();
  }
  await expectSafe(chat);
});

test("the menus of commands, tools and resources", async () => {
  const chat = await open();
  for (const typed of ["/bad:", "@", "/tools ", "/call "]) {
    chat.press(typed);
    await chat.seen("evil");
    chat.press(keys.down + keys.down);
    chat.press(keys.ctrlC);
    await chat.idle();
  }
  expect(unsafeIn(chat.screen.raw())).toBeUndefined();
});

test("a resource whose URI has control characters is not offered, because it would act as keys", async () => {
  const chat = await open();
  chat.press("text @");
  await chat.seen("bad:evil://plain");
  expect((await chat.screen.lines()).filter((line) => line.includes("bad:evil://evil"))).toEqual([]);
  chat.press(keys.tab);
  await chat.asked("> text @bad:evil://plain");
  expect(unsafeIn(chat.screen.raw())).toBeUndefined();
});

test("contents of resources and prompts, and their titles", async () => {
  const chat = await open();
  await chat.type("Read @bad:evil://plain");
  await chat.seen("[user]\nRead");
  await chat.type("/bad:plan");
  await chat.answer("(required):", "Monday");
  await chat.idle();
  await expectSafe(chat);
});

test("completion values with control characters are not offered, and others are shown in their visible form", async () => {
  const chat = await open();
  await chat.type("Read @bad:evil://{id}");
  await chat.asked("id (required):");
  await chat.seen("  plain");
  expect((await chat.screen.lines()).filter((line) => line.includes("31mred"))).toEqual([]);
  chat.press(keys.down);
  chat.press(keys.enter);
  await chat.asked(String.raw`id (required): \u{202e}idib`);
  chat.press(keys.enter);
  await chat.seen("[user]");
  await chat.type("/attached");
  await chat.idle();
  await expectSafe(chat);
});

test("results, errors, progress and log messages of a call by the user", async () => {
  const chat = await open();
  await chat.type("/call bad__run {}");
  await chat.seen("[user]");
  await chat.type("/call bad__fail {}");
  await chat.seen("The tool returned this error:");
  await chat.type("/why 3");
  await chat.idle();
  expect(await chat.text()).toContain(`[error] bad ${visible}`);
  await expectSafe(chat);
});

test("the arguments of a tool that are asked for", async () => {
  const chat = await open();
  await chat.type("/call bad__run");
  await chat.seen("Arguments of bad__run");
  chat.press(keys.enter);
  await chat.seen("The result is:");
  await chat.idle();
  await expectSafe(chat);
});

test("the question for a call, everything that it shows, and the result", async () => {
  const call = callStep([{ name: "bad__run", input: { [`key ${hostile}`]: hostile } }]);
  const chat = await open([call, textStep(`The model says ${hostile}`)]);
  await chat.type("Go");
  await chat.answer("Call it?", "v");
  await chat.answer("Call it?", "e");
  await chat.seen("Edit the JSON.");
  chat.press(keys.enter);
  await chat.answer("Call it?", "y");
  await chat.seen("The model says");
  await chat.seen("10 out");
  await expectSafe(chat);
});

test("the name of a tool that the model made up, and a failure of the model", async () => {
  const chat = await open([callStep([{ name: hostile, input: hostile }]), new Error(hostile)]);
  await chat.type("Go");
  await chat.seen("failed: ");
  await chat.idle();
  await expectSafe(chat);
});

test("the reason why a server cannot be connected", async () => {
  const attach = () => Promise.reject(new Error(hostile));
  const chat = await openTestChat({ servers: { bad: { attach } }, columns: 400 });
  await chat.seen("bad failed: ");
  await chat.type("/servers");
  await chat.idle();
  await expectSafe(chat);
});

test("changed definitions in a review", async () => {
  const chat = await open();
  await chat.leave();
  const other = hostileServer();
  const next = await openTestChat({ servers: { bad: other }, home: chat.home, columns: 400 });
  await next.ready("bad");
  await next.type("/tools");
  await next.idle();
  await expectSafe(next);
});

test("the output of a dumb terminal", async () => {
  const chat = await openPlainTestChat({ servers: { bad: hostileServer() }, terminal: true });
  // The definitions can be used a moment after the connection.
  while (!chat.io.out().includes("Tools (")) {
    const before = chat.io.out();
    chat.io.stdin.push("/tools\n");
    while (chat.io.out() === before) await new Promise(setImmediate);
  }
  for (const [line, last] of [
    ["/prompts", "Prompts ("],
    ["/resources", "Resource templates ("],
    ["/call bad__run {}", "The result is:"],
    ["Read @bad:evil://plain", "[user]\nRead"],
    ["/why 2", "The user called"],
  ] as const) {
    chat.io.stdin.push(`${line}\n`);
    await chat.io.seen(last);
  }
  chat.io.stdin.push(null);
  await chat.exit;
  expect(chat.io.out()).toContain(visible);
  expect(unsafeIn(`${chat.io.out()}${chat.io.err()}`)).toBeUndefined();
});

test("the output of a pipe, which is no terminal", async () => {
  const chat = await openPlainTestChat({
    servers: { bad: hostileServer() },
    stdin:
      "/tools\n/prompts\n/resources\n/call bad__run {}\n/call bad__fail {}\nRead @bad:evil://plain\n/why\n/why 2\n",
  });
  await chat.exit;
  expect(chat.io.out()).toContain(visible);
  expect(unsafeIn(`${chat.io.out()}${chat.io.err()}`)).toBeUndefined();
});
