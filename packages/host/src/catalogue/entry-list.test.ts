import { expect, test } from "vitest";
import { EntryList } from "./entry-list.ts";

test("a second entry with the same name in the host is left out until the first one is removed", () => {
  const errors: string[] = [];
  const list = new EntryList<string, { server: string; key: string }>(
    {
      kind: "tool",
      isUnique: true,
      keyOf: (key) => key,
      nameOf: () => "same",
      definitionOf: ({ key }) => key,
      prepare: (server, key) => ({ server, key }),
    },
    (server, { message }) => errors.push(`${server}: ${message}`),
  );
  list.replace("first", ["a"]);
  expect(list.replace("second", ["b"]).addedNames).toEqual([]);
  expect(list.byName.get("same")).toEqual({ server: "first", key: "a" });
  expect(errors).toEqual(['second: The tool "b" is left out: its name "same" is the name of another tool.']);
  // A hidden server keeps its name, so that no other server can take it meanwhile.
  list.replace("first", undefined);
  expect(list.replace("second", ["b"]).addedNames).toEqual([]);
  list.remove("first");
  expect(list.replace("second", ["b"]).addedNames).toEqual(["same"]);
});
