import type { JsonObject } from "mcparley";
import { type JsonRpcRequest, type ScriptedPeer, modernPeer } from "mcparley/testing";
import { expect, test } from "vitest";
import { type ScriptedStep, callStep, scriptedModel, textStep } from "../../../host/src/testing/scripted-model.ts";
import { keys } from "../terminal/testing/emulated-terminal.ts";
import { type ScriptedServer, scriptedServer } from "../../../host/src/supervision/testing/scripted-server.ts";
import { type TestChat, openPlainTestChat, openTestChat } from "./testing/open-test-chat.ts";

/**
 * A text that tries to clear the screen, write to the clipboard, set colours, remove a line, ring the bell, and reorder what is shown. It
 * contains no sequence that the terminal of a chat without colours writes itself.
 */
const hostile =
  "evil\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b31m\u001b[31m\r\u001b[2Kred\rCR\u0007\u0008\u007f\u202eidib\u2066\u200b\u061c end";

/** Matches each character of `hostile` that must not reach a terminal. */
// oxlint-disable-next-line no-control-regex, no-misleading-character-class -- matches control characters
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;

/** Matches the sequences that a terminal without colours writes itself. */
const own =
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  /\u001b\[\?(?:2026|25|2004)[hl]|\r(?:\u001b\[\d+A)?(?:\u001b\[C\u001b\[J\r\u001b\[K|(?:\u001b\[\d+C)?\u001b\[\?25h)/g;

/** Returns the first unsafe character of an output and the text around it. Undefined if there is none. */
function unsafeIn(raw: string): string | undefined {
  const text = raw.replaceAll(own, "");
  const at = text.search(unsafe);
  return at === -1 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 60), at + 20));
}

const noCache = { ttlMs: 0, cacheScope: "private" };
const text = { type: "text", text: hostile };

/** Returns the side of a server that answers each request with hostile texts. */
function hostilePeer(): ScriptedPeer {
  const peer = modernPeer({
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} },
    answers: {
      "tools/list": () => ({ tools: [toolNamed(`run ${hostile}`), toolNamed("run"), toolNamed("fail")], ...noCache }),
      "prompts/list": () => ({
        prompts: [
          { name: `plan ${hostile}`, description: hostile },
          {
            name: "plan",
            description: hostile,
            arguments: [{ name: `day ${hostile}`, description: hostile, required: true }],
          },
        ],
        ...noCache,
      }),
      "resources/list": () => ({
        resources: [
          { uri: `evil://${hostile}`, name: hostile, title: hostile, description: hostile, mimeType: hostile },
          { uri: "evil://plain", name: "plain", description: hostile },
        ],
        ...noCache,
      }),
      "resources/templates/list": () => ({
        resourceTemplates: [{ uriTemplate: "evil://{id}", name: hostile, description: hostile }],
        ...noCache,
      }),
      "resources/read": () => ({ contents: [{ uri: "evil://plain", mimeType: hostile, text: hostile }], ...noCache }),
      "prompts/get": () => ({ description: hostile, messages: [{ role: "user", content: text }] }),
      "completion/complete": () => ({ completion: { values: [hostile, "\u001b[31mred", "\u202eidib", "plain"] } }),
      "tools/call": (request: JsonRpcRequest) => {
        const { name, _meta } = request.params as { name: string; _meta?: { progressToken?: string | number } };
        const token = _meta?.progressToken;
        if (token !== undefined) {
          peer.notify("notifications/progress", { progressToken: token, progress: 1, total: 2, message: hostile });
        }
        peer.notify("notifications/message", { level: "error", logger: hostile, data: hostile });
        peer.notify("notifications/message", { level: "warning", data: { [hostile]: hostile } });
        return { content: [text], isError: name === "fail" };
      },
    },
  });
  return peer;
}

function toolNamed(name: string): JsonObject {
  return {
    name,
    title: hostile,
    description: `${hostile}\n${hostile}`,
    annotations: { title: hostile },
    inputSchema: {
      type: "object",
      properties: { [`key ${hostile}`]: { type: "string", description: hostile, enum: [hostile] } },
    },
  };
}

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
    unsafeIn("\u001b[?2026h\u001b[?25l\r\u001b[2A\u001b[C\u001b[J\r\u001b[Ktext\r\u001b[3C\u001b[?25h\u001b[?2026l"),
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
    await chat.waitForText("evil");
    chat.press(keys.down + keys.down);
    chat.press(keys.ctrlC);
    await chat.idle();
  }
  expect(unsafeIn(chat.screen.raw())).toBeUndefined();
});

test("a resource whose URI has control characters is not offered, because it would act as keys", async () => {
  const chat = await open();
  chat.press("text @");
  await chat.waitForText("bad:evil://plain");
  expect((await chat.screen.lines()).filter((line) => line.includes("bad:evil://evil"))).toEqual([]);
  chat.press(keys.tab);
  await chat.waitForQuestion("> text @bad:evil://plain");
  expect(unsafeIn(chat.screen.raw())).toBeUndefined();
});

test("contents of resources and prompts, and their titles", async () => {
  const chat = await open();
  await chat.type("Read @bad:evil://plain");
  await chat.waitForText("[user]\nRead");
  await chat.type("/bad:plan");
  await chat.answer("(required):", "Monday");
  await chat.idle();
  await expectSafe(chat);
});

test("completion values with control characters are not offered, and others are shown in their visible form", async () => {
  const chat = await open();
  await chat.type("Read @bad:evil://{id}");
  await chat.waitForQuestion("id (required):");
  await chat.waitForText("  plain");
  expect((await chat.screen.lines()).filter((line) => line.includes("31mred"))).toEqual([]);
  chat.press(keys.down);
  chat.press(keys.enter);
  await chat.waitForQuestion(String.raw`id (required): \u{202e}idib`);
  chat.press(keys.enter);
  await chat.waitForText("[user]");
  await chat.type("/attached");
  await chat.idle();
  await expectSafe(chat);
});

test("results, errors, progress and log messages of a call by the user", async () => {
  const chat = await open();
  await chat.type("/call bad__run {}");
  await chat.waitForText("[user]");
  await chat.type("/call bad__fail {}");
  await chat.waitForText("The tool returned this error:");
  await chat.type("/why 3");
  await chat.idle();
  expect(await chat.text()).toContain(`[error] bad ${visible}`);
  await expectSafe(chat);
});

test("the arguments of a tool that are asked for", async () => {
  const chat = await open();
  await chat.type("/call bad__run");
  await chat.waitForText("Arguments of bad__run");
  chat.press(keys.enter);
  await chat.waitForText("The result is:");
  await chat.idle();
  await expectSafe(chat);
});

test("the question for a call, everything that it shows, and the result", async () => {
  const call = callStep([{ name: "bad__run", input: { [`key ${hostile}`]: hostile } }]);
  const chat = await open([call, textStep(`The model says ${hostile}`)]);
  await chat.type("Go");
  await chat.answer("Call it?", "v");
  await chat.answer("Call it?", "e");
  await chat.waitForText("Edit the JSON.");
  chat.press(keys.enter);
  await chat.answer("Call it?", "y");
  await chat.waitForText("The model says");
  await chat.waitForText("10 out");
  await expectSafe(chat);
});

test("the name of a tool that the model made up, and a failure of the model", async () => {
  const chat = await open([callStep([{ name: hostile, input: hostile }]), new Error(hostile)]);
  await chat.type("Go");
  await chat.waitForText("failed: ");
  await chat.idle();
  await expectSafe(chat);
});

test("the reason why a server cannot be connected", async () => {
  const attach = () => Promise.reject(new Error(hostile));
  const chat = await openTestChat({ servers: { bad: { attach } }, columns: 400 });
  await chat.waitForText("bad failed: ");
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
