import { expect, test } from "vitest";
import type { ReviewOutcome } from "../consent/definition-review.ts";
import { listsOf } from "../consent/testing/consent-fixture.ts";
import { ReviewedLists } from "./reviewed-lists.ts";

const outcome: ReviewOutcome = { lists: listsOf([]), instructions: "Read first.", waiting: [] };

test.each<[string, () => Promise<ReviewOutcome>, string | undefined, string[]]>([
  ["ends", () => Promise.resolve(outcome), "Read first.", []],
  ["fails", () => Promise.reject(new Error("no disk")), undefined, ["Error: no disk"]],
])("a review that %s is over", async (_, review, instructions, expectedErrors) => {
  const errors: string[] = [];
  const lists = new ReviewedLists({
    subject: { server: "notes", target: "https://example.com/mcp" },
    definitions: { review } as never,
    catalogue: { replace: () => {} },
    report: (error) => errors.push(String(error)),
  });
  expect(lists.isReviewing).toBe(false);
  lists.update(listsOf([]), undefined);
  expect(lists.isReviewing).toBe(true);
  await lists.waitForReviews();
  expect(lists.isReviewing).toBe(false);
  expect(lists.instructions).toBe(instructions);
  expect(errors).toEqual(expectedErrors);
});
