import { describe, expect, test } from "vitest";
import { checkBudget } from "../../packages/mcparley/src/schema/budget.ts";
import { compileJsonSchema } from "../support/compile-json-schema.ts";
import { hostileCases } from "./hostile-cases.mjs";
import { watchEventLoop } from "../support/watchdog.ts";

watchEventLoop(import.meta.filename);

describe.each(hostileCases)("$name", ({ schema, value, valid }) => {
  test("is within the limits of a request", () => {
    expect(checkBudget(value())).toBeUndefined();
    expect(JSON.stringify(value()).length).toBeLessThan(4 * 1024 * 1024);
  });

  test("returns the correct verdict or runs out of steps", () => {
    const { issues } = compileJsonSchema(schema)(value());
    if (issues === undefined) expect(valid).toBe(true);
    else if (valid)
      expect(issues).toEqual([{ path: expect.any(String), message: expect.stringContaining("too complex") }]);
  });

  test("is not accepted with a budget of one step", () => {
    const { issues } = compileJsonSchema(schema, { steps: 1 })(value());
    expect(issues).toEqual([{ path: expect.any(String), message: expect.stringContaining("too complex") }]);
  });
});
