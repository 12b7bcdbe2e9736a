import { describe, expect, test } from "vitest";
import { choose } from "./choose.ts";
import type { Prompter } from "./prompter.ts";

/** Returns the choice, and the number of times that the question was shown. */
async function answered(
  answers: readonly string[],
  prompt = "Go? [y]es, [n]o? ",
): Promise<{ chosen: boolean; shown: number }> {
  const left = [...answers];
  const prompter: Prompter = { say: () => {}, ask: () => Promise.resolve(left.shift() ?? "n") };
  const chosen = await choose(prompt, { y: true, n: false }, prompter);
  return { chosen, shown: answers.length - left.length };
}

describe("choose", () => {
  test.each(["y", "Y", "yes", " YES ", "/y", "/yes"])("takes %j as a choice", async (typed) => {
    expect(await answered([typed])).toEqual({ chosen: true, shown: 1 });
  });

  test.each(["yes please do it", "yeah", "ye", "y n", "", " ", "/", "//y", "es", "constructor", "__proto__"])(
    "shows the question again after %j",
    async (typed) => {
      expect(await answered([typed, "no"])).toEqual({ chosen: false, shown: 2 });
    },
  );

  test("takes the words of the choices, and not those of a text before them", async () => {
    const prompt = 'Call "[y]ellow [n]othing"? [y]es, [n]o? ';
    expect(await answered(["yellow", "nothing", "yes"], prompt)).toEqual({ chosen: true, shown: 3 });
  });
});
