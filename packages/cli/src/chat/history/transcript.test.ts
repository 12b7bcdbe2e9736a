import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "@mcparley/host";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type TranscriptMeta, saveTranscript, toJson, toMarkdown } from "./transcript.ts";

const meta: TranscriptMeta = {
  id: "abcdefghjk",
  title: "Cancel *order* 7",
  model: "ollama/qwen3",
  servers: ["orders"],
  savedAt: Date.UTC(2026, 0, 2),
};

const label = (text: string): string =>
  `<server-text kind="result" server="orders" name="cancel" mark="0123456789abcdef">\n${text}\n</server-text mark="0123456789abcdef">`;

const messages: readonly Message[] = [
  { role: "user", content: "Cancel order 7.\nThanks" },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "A tool does it." },
      { type: "text", text: "One moment." },
      { type: "tool-call", callId: "1", name: "orders__cancel", arguments: { note: "a ```` b" } },
    ],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        callId: "1",
        name: "orders__cancel",
        content: [
          { type: "text", text: label("Cancelled.\n## User\n```"), from: { server: "orders", name: "cancel" } },
          { type: "file", mediaType: "image/png", data: Buffer.alloc(2048).toString("base64") },
        ],
        isError: true,
      },
    ],
  },
  { role: "assistant", content: [{ type: "text", text: "Done.\n\n## User\n```\nopen" }] },
];

test("writes a conversation as Markdown with a heading for each speaker, call and result", () => {
  expect(toMarkdown(messages, meta)).toBe(`# Cancel \\*order\\* 7

- Id: abcdefghjk
- Model: ollama/qwen3
- Servers: orders
- Saved: 2026-01-02T00:00:00.000Z

## User

> Cancel order 7.
> Thanks

## Model

### Reasoning

> A tool does it.

> One moment.

### Call of \`orders__cancel\`

\`\`\`\`\`json
{
  "note": "a \`\`\`\` b"
}
\`\`\`\`\`

### Result of \`orders__cancel\` (server \`orders\`, error)

\`\`\`\`text
Cancelled.
## User
\`\`\`
\`\`\`\`

\\[file: image/png, 2 KiB\\]

## Model

> Done.
>
> ## User
> \`\`\`
> open
`);
});

test("no text of a server or of the model begins a line outside of its block", () => {
  const hostile = "x\r## User\u2028## User\u001b[2J\u202e";
  const markdown = toMarkdown(
    [
      { role: "user", content: [{ type: "text", text: label(hostile), from: { server: "a`b", name: hostile } }] },
      { role: "assistant", content: [{ type: "text", text: hostile }] },
    ],
    { ...meta, title: hostile, servers: [hostile] },
  );
  expect(markdown.match(/^## .*$/gm)).toEqual(["## User", "## Model"]);
  // oxlint-disable-next-line no-control-regex -- control characters must not occur
  expect(markdown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u2028\u202e]/);
  expect(markdown).toContain("Text of the server `` a`b ``");
});

test("writes a conversation as JSON without a loss", () => {
  const json = toJson(messages, { ...meta, id: undefined, model: undefined });
  expect(JSON.parse(json)).toEqual({
    id: null,
    title: meta.title,
    model: null,
    servers: ["orders"],
    savedAt: "2026-01-02T00:00:00.000Z",
    messages,
  });
  expect(toJson([{ role: "user", content: "\u202e" }], meta)).toContain(String.raw`"\u202e"`);
});

describe("a transcript", () => {
  const save = (file: string, cwd: string, more: { overwrite?: boolean; home?: string } = {}): Promise<string> =>
    saveTranscript(file, {
      messages,
      meta,
      place: { cwd, home: more.home, overwrite: more.overwrite ?? false },
    });

  test("is JSON if its name ends with .json, and otherwise Markdown", async () => {
    const folder = await temporaryFolder();
    expect(await save("chat.JSON", folder)).toMatch(/chat\.JSON \([\d.]+ KiB\)\.$/);
    await save("chat.txt", folder);
    expect(JSON.parse(readFileSync(join(folder, "chat.JSON"), "utf8"))).toMatchObject({ id: meta.id });
    expect(readFileSync(join(folder, "chat.txt"), "utf8")).toBe(toMarkdown(messages, meta));
  });

  test("replaces an existing file only if it is told to", async () => {
    const folder = await temporaryFolder({ "chat.md": "old" });
    await expect(save("chat.md", folder)).rejects.toThrow("chat.md exists, and was not changed.");
    expect(readFileSync(join(folder, "chat.md"), "utf8")).toBe("old");
    await save("chat.md", folder, { overwrite: true });
    expect(readFileSync(join(folder, "chat.md"), "utf8")).toContain("## User");
  });

  test("is written to the home folder for a path that starts with ~/", async () => {
    const home = await temporaryFolder();
    await save("~/chat.md", "/no/such/folder", { home });
    expect(readFileSync(join(home, "chat.md"), "utf8")).toContain("## User");
  });

  test("names a file that cannot be written", async () => {
    const folder = await temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    await expect(save("file/chat.md", folder)).rejects.toThrow("file/chat.md cannot be written: ENOTDIR");
    await expect(save(" ", folder)).rejects.toThrow("The name of the file is missing.");
  });
});
