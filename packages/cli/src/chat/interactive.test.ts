import { expect, test } from "vitest";
import { callStep, scriptedModel, textStep } from "../../../host/src/testing/scripted-model.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { notesServer, revisions } from "./testing/notes-server.ts";
import { type PlainTestChat, openPlainTestChat } from "./testing/open-test-chat.ts";

type Ended = PlainTestChat & { readonly code: number; readonly notes: ReturnType<typeof notesServer> };

/** Runs a chat whose input is a pipe with these lines, and returns it when it has ended. */
async function pipe(
  lines: readonly string[],
  options: { model?: ReturnType<typeof scriptedModel>; argv?: readonly string[]; revision?: string } = {},
): Promise<Ended> {
  const notes = notesServer();
  const { revision = revisions.modern, ...others } = options;
  const servers = { notes: { target: notes.server, revision } };
  const chat = await openPlainTestChat({ servers, stdin: lines.map((line) => `${line}\n`).join(""), ...others });
  return { ...chat, notes, code: await chat.exit };
}

test.each(Object.values(revisions))("runs the commands of a pipe line by line, on %s", async (revision) => {
  const { io, code, notes } = await pipe(["/call search query=x", "", "Read @notes:note://today", "/attached"], {
    revision,
  });
  expect(code).toBe(exitCodes.ok);
  expect(notes.calls).toEqual(["search x"]);
  const out = io.out();
  expect(out.indexOf("Found: x")).toBeLessThan(out.indexOf("Buy milk."));
  expect(out).toContain("@notes:note://today  follows its changes");
});

test("sends the messages of a pipe to the model", async () => {
  const model = scriptedModel([textStep("One."), textStep("Two.")]);
  const { io, code } = await pipe(["first", "second"], { model });
  expect(code).toBe(exitCodes.ok);
  expect(io.out()).toBe("One.\nTwo.\n");
  expect(io.err()).toContain("10 tokens in, 5 out");
  expect(JSON.stringify(model.requests[1]?.prompt)).toMatch(/first.*One\..*second/);
});

test("shows no question, welcome or input prompt in a pipe", async () => {
  const { io } = await pipe(["/attached"]);
  expect(io.out()).toBe("No resource is attached. Name one in a message: @server:uri\n");
  expect(io.err()).not.toContain("> ");
  expect(io.err()).not.toContain("mcparley chat");
});

test("ends with the exit code of the last failure, and runs the lines after it", async () => {
  const { io, code } = await pipe(["/toolz", "/attached"]);
  expect(code).toBe(exitCodes.usage);
  expect(io.err()).toContain("There is no command or prompt /toolz.");
  expect(io.out()).toContain("No resource is attached.");
});

test("ends with the exit code of a model that fails", async () => {
  const { io, code } = await pipe(["first", "/attached"], { model: scriptedModel([]) });
  expect(code).toBe(exitCodes.protocol);
  expect(io.err()).toContain('The model "scripted/scripted-model" failed');
  expect(io.out()).toContain("No resource is attached.");
});

test("ends with the exit code for a call of the model that was denied", async () => {
  const model = scriptedModel([callStep([{ name: "notes__search", input: { query: "x" } }]), textStep("No.")]);
  const { code, notes } = await pipe(["Search it"], { model });
  expect(notes.calls).toEqual([]);
  expect(code).toBe(exitCodes.declined);
});

test("a call that needs a question is not made", async () => {
  const { code, io, notes } = await pipe(["/call remove id=7"]);
  expect(notes.calls).toEqual([]);
  expect(code).not.toBe(exitCodes.ok);
  expect(io.err()).not.toContain("Call it?");
});

test("the model calls only what --allow names", async () => {
  const calls = callStep([
    { name: "notes__search", input: { query: "x" } },
    { name: "notes__remove", input: { id: "7" } },
  ]);
  const model = scriptedModel([calls, textStep("Done.")]);
  const { notes, io } = await pipe(["Go", "yes"], { model, argv: ["--allow", "search"] });
  expect(notes.calls).toEqual(["search x"]);
  expect(io.out()).toContain("Done.");
});

test("a form of a server is not shown, and the next line is no answer", async () => {
  const { io, notes } = await pipe(["/call book", "4", "/call search query=after"]);
  expect(io.err()).not.toContain("How many guests?");
  expect(io.out()).toContain("[user]\n4\n");
  expect(notes.calls).toEqual(["search after"]);
});

test("a prompt or a tool whose required values are missing fails, and the next line is no answer", async () => {
  const { io, code, notes } = await pipe([
    "/notes:summarize",
    "/call search",
    "Compare @notes:runbook://{team}/{service}",
    "one",
  ]);
  expect(code).toBe(exitCodes.usage);
  expect(io.err()).toContain("Arguments of notes:summarize: page must be given.");
  expect(io.err()).toContain('The tool "search" needs query.');
  expect(io.err()).toContain("Variables of notes:runbook://{team}/{service}: team, service must be given.");
  expect(io.out()).toContain("[user]\none\n");
  expect(notes.calls).toEqual([]);
});

test("optional values that are missing are left out", async () => {
  const { io, code } = await pipe(["/notes:summarize page=x", "/notes:deploy team=search"]);
  expect(code).toBe(exitCodes.ok);
  expect(io.out()).toContain("Summarize x in the style plain.");
  expect(io.out()).toContain("Deploy all of search.");
});

test("the whole conversation of a pipe can be continued", async () => {
  const { io } = await pipe(["text"]);
  expect(io.err()).toMatch(/Continue this conversation with: mcparley chat --resume \w{10}\n/);
});

test("the output of a pipe has no control sequences, also with colours", async () => {
  const notes = notesServer();
  const env = { NO_COLOR: "", TERM: "xterm-256color" };
  const chat = await openPlainTestChat({
    servers: { notes: notes.server },
    stdin: "/tools\n/servers\n/nothing\n",
    env,
  });
  await chat.exit;
  expect(`${chat.io.out()}${chat.io.err()}`).not.toContain("\u001b");
});

test("a dumb terminal has questions and a status, and no control sequences", async () => {
  const notes = notesServer();
  const model = scriptedModel([callStep([{ name: "notes__wait" }]), textStep("Done.")]);
  const chat = await openPlainTestChat({ servers: { notes: notes.server }, model, terminal: true });
  await chat.io.seen("is connected");
  chat.io.stdin.push("/servers\n");
  await chat.io.seen("notes  ready");
  chat.io.stdin.push("Go\n");
  await chat.io.seen("Call it?");
  chat.io.stdin.push("y\n");
  await chat.io.seen("notes__wait: [#####...............] 25% one of four (Ctrl-C cancels)\n");
  notes.release();
  await chat.io.seen("Done.");
  chat.io.stdin.push(null);
  expect(await chat.exit).toBe(0);
  expect(`${chat.io.out()}${chat.io.err()}`).not.toContain("\u001b");
});

test("Ctrl-C in a dumb terminal cancels the call, then the turn, and then leaves", async () => {
  const notes = notesServer();
  const model = scriptedModel([callStep([{ name: "notes__wait" }]), ["hang"]]);
  const chat = await openPlainTestChat({
    servers: { notes: notes.server },
    model,
    terminal: true,
    argv: ["--allow", "*"],
  });
  await chat.io.seen("is connected");
  chat.io.stdin.push("Go\n");
  await chat.io.seen("25% one of four");
  chat.io.pressCtrlC();
  await chat.io.seen("The call is cancelled.");
  chat.io.pressCtrlC();
  await chat.io.seen("Stopped.");
  chat.io.pressCtrlC();
  await chat.io.seen("Press Ctrl-C again within 2 seconds to leave.");
  chat.io.pressCtrlC();
  expect(await chat.exit).toBe(0);
});
