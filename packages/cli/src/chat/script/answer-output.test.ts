import { expect, test } from "vitest";
import { fakeIo } from "../../commands/testing/fake-io.ts";
import { Screen } from "../../terminal/screen.ts";
import { answerOutput } from "./answer-output.ts";

/** Returns what is written to stdout for the steps of an answer, each in several parts. */
async function written(steps: readonly (readonly string[])[], terminal = false): Promise<string> {
  const io = fakeIo({ terminal });
  const output = answerOutput(new Screen(io, () => {}));
  for (const parts of steps) {
    for (const part of parts) await output.write(part);
    await output.endText();
  }
  return io.out();
}

test("ends the last line of each text, and separates the texts of steps by an empty line", async () => {
  expect(await written([["One ", "moment."], [], ["Do", "ne.\n"]])).toBe("One moment.\n\nDone.\n");
  expect(await written([[], [""]])).toBe("");
});

test("writes a part before the next one arrives", async () => {
  const io = fakeIo();
  const output = answerOutput(new Screen(io, () => {}));
  await output.write("Hello world");
  expect(io.out()).toMatch(/^Hello worl/);
});

test("writes all characters unchanged to a pipe", async () => {
  const text = "a\u001b[2J\r\n\u202e👩‍💻❤️😀\r";
  const whole = await written([[text]]);
  expect(whole).toBe(`${text}\n`);
  expect(await written([text.split("")])).toBe(whole);
});

test("escapes control characters on a terminal, and also the escape sequences of this command", async () => {
  expect(await written([["a\u001b[31mred\u001b[2J"]], true)).toBe("a\\x1b[31mred\\x1b[2J\n");
});

test("shows characters that were divided between parts on a terminal as one", async () => {
  const text = "a 👩‍💻 ❤️ 😀\r\nb";
  const whole = await written([[text]], true);
  expect(whole).toBe("a 👩‍💻 ❤️ 😀\nb\n");
  expect(await written([text.split("")], true)).toBe(whole);
});

test("writes long runs of characters that could continue", async () => {
  const text = "😀".repeat(100);
  expect(await written([text.match(/[^]{1,7}/g) ?? []])).toBe(`${text}\n`);
});
