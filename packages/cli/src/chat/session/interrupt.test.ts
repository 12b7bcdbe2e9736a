import { expect, test } from "vitest";
import { callStep, scriptedModel, textParts, textStep } from "../../../../host/src/testing/scripted-model.ts";
import { keys } from "../../terminal/testing/emulated-terminal.ts";
import { manualClock } from "../../terminal/testing/manual-clock.ts";
import { notesServer, revisions } from "../testing/notes-server.ts";
import { openTestChat } from "../testing/open-test-chat.ts";

const allowed = ["--allow", "*"];

test.each(Object.values(revisions))(
  "Ctrl-C cancels the call, then the turn, and then leaves, on %s",
  async (revision) => {
    const notes = notesServer();
    const model = scriptedModel([
      callStep([{ name: "notes__wait" }]),
      [...textParts("So far"), "hang"],
      textStep("Next."),
    ]);
    const servers = { notes: { target: notes.server, revision } };
    const chat = await openTestChat({ servers, model, argv: allowed });
    await chat.ready("notes");
    await chat.type("Go");
    await chat.waitForText("25% one of four");
    chat.press(keys.ctrlC);
    await chat.waitForText("The call is cancelled. Press Ctrl-C again to stop the answer.");
    await chat.waitForText("So far");
    expect(notes.cancelledCalls).toEqual(["wait"]);
    chat.press(keys.ctrlC);
    await chat.waitForText("Stopped.");
    await chat.type("Again");
    await chat.waitForText("Next.");
    await chat.idle();
    chat.press(keys.ctrlC);
    chat.press(keys.ctrlC);
    expect(await chat.exit).toBe(0);
  },
);

test("Ctrl-C leaves if a turn that was stopped does not end", async () => {
  const model = scriptedModel([() => new Promise<never>(() => {})]);
  const chat = await openTestChat({ model });
  await chat.type("Go");
  await chat.waitForText("Waiting for the model (Ctrl-C stops)");
  for (let press = 1; press <= 3; press++) chat.press(keys.ctrlC);
  expect(await chat.exit).toBe(0);
});

test("a second Ctrl-C leaves within 2 seconds, and a later one asks again", async () => {
  const clock = manualClock();
  const chat = await openTestChat({ schedule: clock.schedule });
  await chat.idle();
  const hint = "Press Ctrl-C again within 2 seconds to leave.";
  chat.press(keys.ctrlC);
  await chat.waitForText(hint);
  clock.advance(2_000);
  chat.press(keys.ctrlC);
  await chat.waitForText(hint, 2);
  clock.advance(1_999);
  chat.press(keys.ctrlC);
  expect(await chat.exit).toBe(0);
  expect(clock.pending()).toBe(0);
});

test("a Ctrl-C that empties the input is not the first of two that leave", async () => {
  const clock = manualClock();
  const chat = await openTestChat({ schedule: clock.schedule });
  await chat.idle();
  const hint = "Press Ctrl-C again within 2 seconds to leave.";
  chat.press(keys.ctrlC);
  await chat.waitForText(hint);
  chat.press("text");
  await chat.waitForQuestion("> text");
  chat.press(keys.ctrlC);
  await chat.idle();
  chat.press(keys.ctrlC);
  await chat.waitForText(hint, 2);
  expect(await chat.leave()).toBe(0);
  expect(clock.pending()).toBe(0);
});

test("Ctrl-C empties the input first", async () => {
  const chat = await openTestChat();
  await chat.idle();
  chat.press("some text");
  await chat.waitForQuestion("> some text");
  chat.press(keys.ctrlC);
  await chat.idle();
  chat.press(keys.ctrlC);
  chat.press(keys.ctrlC);
  expect(await chat.exit).toBe(0);
});

test("Ctrl-C at the question for a call cancels the call, and the answer goes on", async () => {
  const notes = notesServer();
  const model = scriptedModel([callStep([{ name: "notes__search", input: { query: "x" } }]), textStep("Without it.")]);
  const chat = await openTestChat({ servers: { notes: notes.server }, model });
  await chat.ready("notes");
  await chat.type("Go");
  await chat.waitForQuestion("Call it?");
  chat.press(keys.ctrlC);
  await chat.waitForText("Without it.");
  await chat.idle();
  expect(notes.calls).toEqual([]);
});

test("text that is typed during an answer is kept for the next message, also when the turn is stopped", async () => {
  const model = scriptedModel([["hang"], textStep("Second.")]);
  const chat = await openTestChat({ model });
  await chat.type("Go");
  await chat.waitForText("Waiting for the model (Ctrl-C stops)");
  chat.press("next");
  await chat.waitForQuestion("> next");
  chat.press(keys.ctrlC);
  await chat.waitForText("Stopped.");
  await chat.waitForQuestion("> next");
  chat.press(keys.enter);
  await chat.waitForText("> next\nSecond.");
});

test("Ctrl-D leaves only if the input is empty", async () => {
  const chat = await openTestChat();
  await chat.idle();
  chat.press("text");
  chat.press(keys.ctrlD);
  await chat.waitForQuestion("> text");
  chat.press(keys.ctrlC);
  await chat.idle();
  chat.press(keys.ctrlD);
  expect(await chat.exit).toBe(0);
});

test("the terminal is restored when the chat ends", async () => {
  const chat = await openTestChat();
  expect(await chat.leave()).toBe(0);
  expect(chat.screen.raw().endsWith("\u001b[?2004l")).toBe(true);
  expect((await chat.screen.lines()).at(-1)).not.toBe(">");
});

test("a stopped turn keeps what was answered", async () => {
  const model = scriptedModel([[...textParts("Half of it"), "hang"], textStep("Rest.")]);
  const chat = await openTestChat({ model });
  await chat.type("Go");
  await chat.waitForText("Half of it");
  chat.press(keys.ctrlC);
  await chat.waitForText("Stopped.");
  await chat.type("Go on");
  await chat.waitForText("Rest.");
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain("Half of it");
});
