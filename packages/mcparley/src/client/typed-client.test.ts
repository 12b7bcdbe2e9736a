import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { byName } from "./typed-client.ts";

function tools(): { run: ReturnType<typeof vi.fn>; named: ReturnType<typeof byName> } {
  const run = vi.fn(() => Promise.resolve("called"));
  return { run, named: byName(run) };
}

test("each name is a function that calls the tool with its arguments and options", async () => {
  const { run, named } = tools();
  const options = { meta: { a: 1 } };
  expect(await named.add?.({ a: 1 }, options)).toBe("called");
  expect(run).toHaveBeenCalledExactlyOnceWith("add", { a: 1 }, options);
});

test.each<[string, (named: object) => unknown]>([
  ["a template string", (named) => `named: ${named as unknown as string}`],
  ["JSON.stringify", (named) => JSON.stringify({ named })],
  ["await", async (named) => await Promise.resolve(named)],
  ["arithmetic", (named) => +named],
  ["Object.prototype.toString", (named) => Object.prototype.toString.call(named)],
  ["inspect of Node", (named) => inspect(named, { showProxy: false }) + inspect(named)],
  ["a comparison of a test runner", (named) => expect(named).not.toEqual({ a: 1 })],
  ["spread", (named) => ({ ...named })],
  ["instanceof", (named) => named instanceof Promise],
])("%s calls no tool", async (_, use) => {
  const { run, named } = tools();
  await use(named);
  expect(run).not.toHaveBeenCalled();
});
