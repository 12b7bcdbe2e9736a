import { expect, test } from "vitest";
import { allowCure } from "./allow-cure.ts";

test.each([
  [["remove"], "Allow it with --allow remove."],
  [["notes:remove", "notes:remove"], "Allow it with --allow notes:remove."],
  [["notes:remove", "notes:add"], "Allow them with --allow notes:remove --allow notes:add."],
  [["drop all"], "Allow it with --allow 'drop all'."],
  [["drop*"], "Allow it with --allow 'drop*'. It allows each tool that the pattern matches."],
])("the cure for denied calls of %j", (names, cure) => {
  expect(allowCure(names)).toBe(cure);
});
