import type { Catalogue } from "@mcparley/host";
import { expect, test } from "vitest";
import { expectLinearTime } from "../../../../../tests/support/linear-time.ts";
import { findMentions, mentionText, replaceMentions } from "./mentions.ts";

const resource = (uri: string): Catalogue["resources"][number] => ({ server: "notes", resource: { uri, name: uri } });
const catalogue: Catalogue = {
  tools: [],
  prompts: [],
  resources: [resource("note://today"), resource("note://a.b."), resource("note://with space")],
  templates: [{ server: "notes", template: { uriTemplate: "note://{year}/{month}", name: "month" } }],
  tool: () => undefined,
  prompt: () => undefined,
};
const known = { catalogue, servers: new Map([["notes", true]]) };

function uris(text: string): string[] {
  return findMentions(text, known).map(({ uri }) => uri);
}

test("finds the resources that a text names", () => {
  expect(findMentions("Compare @notes:note://today with\n@notes:note://1", known)).toEqual([
    { server: "notes", uri: "note://today", isTemplate: false },
    { server: "notes", uri: "note://1", isTemplate: false },
  ]);
});

test("finds a resource once", () => {
  expect(uris("@notes:note://today @notes:note://today")).toEqual(["note://today"]);
});

test("leaves punctuation after a name to the text, unless the URI has it", () => {
  expect(uris("What is in @notes:note://today?")).toEqual(["note://today"]);
  expect(uris("(see @notes:note://today).")).toEqual(["note://today"]);
  expect(uris("@notes:note://a.b.")).toEqual(["note://a.b."]);
});

test("text with an unknown server, or an @ within a word, names nothing", () => {
  expect(uris("@bob: hello ann@notes:note://today @other:note://today @ @notes @notes:")).toEqual([]);
});

test("finds a URI with spaces in angle brackets", () => {
  expect(uris("@<notes:note://with space> please")).toEqual(["note://with space"]);
});

test("marks a template", () => {
  expect(findMentions("@notes:note://{year}/{month}", known)).toEqual([
    { server: "notes", uri: "note://{year}/{month}", isTemplate: true },
  ]);
});

test("writes names that are found again", () => {
  for (const {
    resource: { uri },
  } of catalogue.resources)
    expect(uris(`x ${mentionText("notes", uri)} y`)).toEqual([uri]);
});

test("replaces the names of some resources, and keeps the punctuation after them", () => {
  const monthly = "@notes:note://{year}/{month}";
  const replace = (text: string): string =>
    replaceMentions(text, known, ({ isTemplate }) => (isTemplate ? "@notes:note://2025/02" : undefined));
  expect(replace(`Compare ${monthly}, @notes:note://today and @other:note://{year}/{month}.`)).toBe(
    "Compare @notes:note://2025/02, @notes:note://today and @other:note://{year}/{month}.",
  );
  expect(replace(`@<notes:note://{year}/{month}>: and ${monthly}?`)).toBe(
    "@notes:note://2025/02: and @notes:note://2025/02?",
  );
});

test("the time for many names and much code is linear", async () => {
  await expectLinearTime({ head: "", unit: "`x` @notes:note://today ", tail: "" }, (text) => findMentions(text, known));
});

test("a name between two pieces of code is found, and a name in code is not", () => {
  expect(uris("`x` @notes:note://today `@notes:note://b` @notes:note://c `y`")).toEqual(["note://today", "note://c"]);
});
