import { LocalError } from "mcparley/server";
import { expect, test } from "vitest";
import { liveRegistry } from "./live-folder.ts";
import type { Loaded } from "./yaml/problem.ts";

interface Greeter {
  greet(): string;
}

function setup() {
  const log: string[] = [];
  const registered = new Map<string, Greeter>();
  const apply = liveRegistry<Greeter>({
    registry: {
      set(name, definition) {
        if (name === "refused") throw new LocalError("invalid_definition", "it cannot be offered");
        log.push(`set ${name}`);
        registered.set(name, definition);
      },
      delete(name) {
        log.push(`delete ${name}`);
        return registered.delete(name);
      },
    },
    follow: (_, current) => ({ greet: () => current().greet() }),
    onChanged: (before) => void log.push(`changed ${before.greet()}`),
  });
  const take = (...loaded: Loaded<Greeter>[]) => {
    log.length = 0;
    const problems = apply(loaded);
    return { log: [...log], problems };
  };
  return { take, greet: (name: string) => registered.get(name)?.greet() };
}

function loaded(name: string, greeting: string, shape = "same"): Loaded<Greeter> {
  return { name, file: `${name}.md`, shape, definition: { greet: () => greeting } };
}

test("sets, replaces and deletes only entries that differ, and reports the previous ones", () => {
  const { take } = setup();
  expect(take(loaded("a", "a1"), loaded("b", "b1")).log).toEqual(["set a", "set b"]);
  expect(take(loaded("a", "a1"), loaded("b", "b1")).log).toEqual([]);
  expect(take(loaded("a", "a2", "new"), loaded("c", "c1")).log).toEqual([
    "delete b",
    "changed b1",
    "set a",
    "changed a1",
    "set c",
  ]);
  expect(take().log).toEqual(["delete a", "changed a2", "delete c", "changed c1"]);
});

test("uses new code behind an unchanged list entry without a change of the registry", () => {
  const { take, greet } = setup();
  take(loaded("a", "old"));
  expect(take(loaded("a", "new")).log).toEqual([]);
  expect(greet("a")).toBe("new");
});

test("reports an entry that the server rejects as a problem, and removes the previous entry", () => {
  const { take } = setup();
  const { log, problems } = take(loaded("refused", "x"), loaded("a", "a"));
  expect(log).toEqual(["set a"]);
  expect(problems).toEqual([
    { file: "refused.md", line: 1, message: "it cannot be offered", cure: expect.any(String) },
  ]);
});
