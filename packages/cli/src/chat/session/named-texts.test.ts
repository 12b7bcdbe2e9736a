import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Catalogue } from "@mcparley/host";
import { expect, test } from "vitest";
import { UsageError } from "../../terminal/io.ts";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type NamedText, messageWith, readNamedTexts, stdinWord } from "./named-texts.ts";

const catalogue: Catalogue = {
  tools: [],
  prompts: [],
  resources: [{ server: "notes", resource: { uri: "note://today", name: "today" } }],
  templates: [],
  tool: () => undefined,
  prompt: () => undefined,
};
const known = { catalogue, servers: new Map([["notes", true]]) };

const files = {
  "a.md": "one\n",
  "crlf.txt": "\uFEFFone\r\ntwo\r\n",
  "my notes.md": "spaces",
  "fence.md": "```js\n````\n@notes:note://today @missing",
  "empty.txt": "",
  "src/b.ts": "@decorator()\nclass B {}\n",
};

const stdin = (text: string): NamedText => ({ word: stdinWord, name: "stdin", text });

/** Returns the message that is sent for a written one, and the errors of unknown words. */
async function compose(written: string, cwd?: string): Promise<{ message: string; unknown: string[] }> {
  const unknown: string[] = [];
  const folder = cwd ?? (await temporaryFolder(files));
  const texts = await readNamedTexts(written, {
    names: known,
    io: { cwd: folder, env: { HOME: join(folder, "src") } },
    stdin: () => stdin("from stdin\n"),
    onUnknown: ({ message, hint }) => unknown.push(`${message} ${hint}`),
    signal: new AbortController().signal,
  });
  return { message: messageWith(written, texts), unknown };
}

const fenced = (name: string, text: string): string => `Text of ${name}:\n\`\`\`\n${text}\n\`\`\``;

test.each([
  ["@a.md", "one"],
  ["  @a.md\n", "one"],
  ["@<my notes.md>", "spaces"],
  ["@~/b.ts", "@decorator()\nclass B {}"],
  ["@crlf.txt", "one\ntwo"],
  ["@-", "from stdin"],
])("the message %j is the text that it names", async (written, message) => {
  expect(await compose(written)).toEqual({ message, unknown: [] });
});

test.each([
  ["Read @a.md", fenced("the file a.md", "one")],
  ["Read (and explain) @a.md, please.", fenced("the file a.md", "one")],
  ["Read @a.md.", fenced("the file a.md", "one")],
  [
    "Compare @a.md with @<my notes.md>",
    `${fenced("the file a.md", "one")}\n\n${fenced("the file my notes.md", "spaces")}`,
  ],
  ["Twice @a.md and @a.md", fenced("the file a.md", "one")],
  ["Windows @crlf.txt", fenced("the file crlf.txt", "one\ntwo")],
  ["Explain @src/b.ts", fenced("the file src/b.ts", "@decorator()\nclass B {}")],
  ["Compare @- with @a.md", `${fenced("stdin", "from stdin")}\n\n${fenced("the file a.md", "one")}`],
  ["Is @empty.txt right?", "The file empty.txt is empty."],
])("the message %j is followed by the texts that it names", async (written, texts) => {
  expect(await compose(written)).toEqual({ message: `${written}\n\n${texts}`, unknown: [] });
});

test("a text cannot close its fence, and is not searched for names", async () => {
  const { message, unknown } = await compose("Read @fence.md");
  expect(message).toBe(`Read @fence.md\n\nText of the file fence.md:\n\`\`\`\`\`\n${files["fence.md"]}\n\`\`\`\`\``);
  expect(unknown).toEqual([]);
});

test.each([
  ["Write to a@b.c and (see @nowhere)", "see @nowhere", ['"@nowhere" names no resource of a server, and no file.']],
  [
    "@nots:note://today",
    "@nots:note://today",
    ['there is no server "nots". Did you mean "notes"? Write \\@nots:note://today'],
  ],
  [
    "What does @notes say?",
    "@notes",
    ['"@notes" names no resource of a server, and no file. A resource is @SERVER:URI'],
  ],
  ["@bob: hello", "@bob: hello", ['"@bob" names no resource']],
  ["@ and @, and @?!", "@ and @, and @?!", []],
  ["`@nowhere` and\n```\n@nowhere\n```", "@nowhere", []],
  ["mail a@a.md", "mail a@a.md", []],
  ["@notes:note://today", "@notes:note://today", []],
])("the words of %j without a meaning are reported", async (written, part, errors) => {
  const { message, unknown } = await compose(written);
  expect(message).toContain(part);
  expect(unknown).toHaveLength(errors.length);
  for (const [index, error] of errors.entries()) expect(unknown[index]).toContain(error);
});

test("a backslash before an @ makes it text, except in code", async () => {
  expect(await compose("Is \\@a.md a \\@decorator? `\\@a.md`")).toEqual({
    message: "Is @a.md a @decorator? `\\@a.md`",
    unknown: [],
  });
});

test.each<[string, (folder: string) => void, string]>([
  ["Read @dir", (folder) => mkdirSync(join(folder, "dir")), "dir is a folder, and a message can contain files only."],
  [
    "Read @x.bin",
    (folder) => writeFileSync(join(folder, "x.bin"), Buffer.from([0xff, 0xfe])),
    "The file x.bin is not UTF-8",
  ],
  ["Read @x.bin", (folder) => writeFileSync(join(folder, "x.bin"), "a\0b"), "The file x.bin is binary data."],
  [
    "Read @big",
    (folder) => writeFileSync(join(folder, "big"), "a".repeat(4 * 1024 ** 2 + 1)),
    "The file big has more than 4 MiB.",
  ],
  ["@empty", (folder) => writeFileSync(join(folder, "empty"), " \n"), "The file empty is empty."],
])("%j is refused with the cure", async (written, prepare, reason) => {
  const folder = await temporaryFolder();
  prepare(folder);
  const error = await compose(written, folder).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toContain(reason);
  expect((error as UsageError).hint).toBeDefined();
});

test("a file of the maximum size is sent", async () => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, "big"), "a".repeat(4 * 1024 ** 2));
  expect((await compose("@big", folder)).message).toHaveLength(4 * 1024 ** 2);
});
