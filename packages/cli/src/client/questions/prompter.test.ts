import { describe, expect, test } from "vitest";
import { fakeIo } from "../testing/fake-io.ts";
import { Dismissed, openPrompter } from "./prompter.ts";

describe("openPrompter", () => {
  test("answers the following questions with lines that were typed ahead", async () => {
    const io = fakeIo({ stdin: "one\ntwo\nthree\n" });
    const prompter = openPrompter(io, new AbortController().signal, () => {});
    const answers: string[] = [];
    answers.push(await prompter.ask("1? "), await prompter.ask("2? "), await prompter.ask("3? "));
    expect(answers).toEqual(["one", "two", "three"]);
    prompter.close();
  });

  test("dismisses a question when the input ends", async () => {
    const prompter = openPrompter(fakeIo({ stdin: "" }), new AbortController().signal, () => {});
    await expect(prompter.ask("? ")).rejects.toThrow(Dismissed);
    await expect(prompter.ask("? ")).rejects.toThrow(Dismissed);
  });

  test("dismisses a question when the signal aborts", async () => {
    const withdrawn = new AbortController();
    const prompter = openPrompter(fakeIo(), withdrawn.signal, () => {});
    const answer = prompter.ask("? ");
    withdrawn.abort();
    await expect(answer).rejects.toThrow(Dismissed);
  });

  test("asks nothing after the signal has aborted", async () => {
    const prompter = openPrompter(fakeIo({ stdin: "yes\n" }), AbortSignal.abort(), () => {});
    await expect(prompter.ask("? ")).rejects.toThrow(Dismissed);
  });
});
