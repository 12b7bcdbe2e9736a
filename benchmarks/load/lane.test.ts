import { afterAll, describe, expect, test } from "vitest";
import { implementations } from "../implementations/implementations.mjs";
import { jobOf, startServer } from "../measure/http-turns.mjs";
import type { Program } from "../measure/program.mjs";
import { stdioTurns } from "../measure/stdio-turns.mjs";
import type { Answers, Mode, Operation } from "../types.ts";
import { add, echo, getPrompt, listTools, readItem, readPage } from "../workloads/operations.mjs";
import { CycleLane } from "./cycle-lane.mjs";
import { Lane } from "./lane.mjs";

const started: Program[] = [];
afterAll(() => Promise.all(started.map((program) => program.end())));

const own = implementations.filter(({ isPeer }) => !isPeer);
const operations = [echo, add, listTools(2), getPrompt, readPage, readItem];
const modes: Mode[] = ["stateless", "session", "modern"];
const forms: Answers[] = ["json", "sse"];

describe.each(own)("$name", (implementation) => {
  test.each(modes.flatMap((mode) => forms.map((answers) => [mode, answers] as const)))(
    "says over HTTP what all have to say: %s, %s",
    async (mode, answers) => {
      const settings = { way: "http", mode, answers, tools: 2 } as const;
      const { program, port } = await startServer(implementation, settings, "");
      started.push(program);
      const jobFor = (operation: Operation) => jobOf(implementation, { settings, operation, connections: 1 }, port);
      for (const operation of operations) {
        const lane = new Lane(jobFor(operation));
        await lane.open();
        // The same again, which is compared byte by byte.
        const answered: number[] = [];
        await lane.run(0, (took) => answered.push(took));
        expect(answered).toHaveLength(1);
        lane.stop();
      }
      const wrong = new Lane(jobFor({ ...echo, expected: { kind: "text", text: "something else" } }));
      await expect(wrong.open()).rejects.toThrow('Expected {"text":"something else"}');
      wrong.stop();
      if (mode !== "session") return;
      const cycle = new CycleLane(jobFor(echo));
      await cycle.open();
      cycle.stop();
    },
  );

  test.each(["session", "modern"] as const)("is measured on stdio: %s", async (mode) => {
    const turns = await stdioTurns(implementation, { mode, operation: echo, atOnce: 10 }, "");
    await turns.turn(10, false);
    await turns.turn(10, true);
    const { perSecond, cpu } = await turns.figures();
    await turns.end();
    expect(Number(perSecond)).toBeGreaterThan(0);
    expect(Number(cpu)).toBeGreaterThan(0);
  });
});
