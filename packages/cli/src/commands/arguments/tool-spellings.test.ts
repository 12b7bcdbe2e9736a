import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer, tool } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type FakeIo, runWith } from "../testing/fake-io.ts";

const destroy = (text: string) => tool({ annotations: { destructiveHint: true }, call: () => text });
const server = createServer({
  name: "own",
  version: "1",
  tools: { wipe: destroy("wiped"), "a.b": destroy("dot"), notes__wipe: destroy("exact"), odd: destroy("odd") },
});

async function call(...words: string[]): Promise<{ code: number; io: FakeIo }> {
  const cwd = await temporaryFolder();
  writeFileSync(
    join(cwd, "mcp.json"),
    '{"mcpServers":{"notes":{"url":"https://n.example"},"my-db":{"url":"https://d"}}}',
  );
  return runWith({ server, cwd, env: { HOME: cwd } }, ["call", ...words, "--trust"]);
}

describe("a tool is found by each spelling of its name", () => {
  test.each([
    ["my-db", "wipe", "wiped"],
    ["my-db", "my-db:wipe", "wiped"],
    ["my-db", "my-db__wipe", "wiped"],
    ["my-db", "my-db/wipe", "wiped"],
    ["mcparley:my-db", "my-db:wipe", "wiped"],
    ["my-db", "own:wipe", "wiped"],
    ["my-db", "my-db/a.b", "dot"],
    ["my-db", "a.b", "dot"],
    ["my-db", "my-db__odd", "odd"],
    ["notes", "notes__wipe", "exact"],
    ["notes", "notes/wipe", "wiped"],
  ])("at %s: %s", async (target, name, text) => {
    const { code, io } = await call(target, name, "--allow", "*");
    expect(`${code} ${io.out()}`).toBe(`0 ${text}\n`);
  });

  test("a name of another server finds nothing, and the hint has a similar name", async () => {
    const { code, io } = await call("notes", "my-db:wipe");
    expect(code).toBe(1);
    expect(io.err()).toContain('The server has no tool "my-db:wipe".');
    expect((await call("my-db", "wpie")).io.err()).toContain('Did you mean "wipe"?');
    expect((await call("my-db", "my-db__wpie")).io.err()).toContain('Did you mean "my-db__wipe"?');
  });
});

describe("--allow", () => {
  test.each(["wipe", "my-db:wipe", "my-db__wipe", "my-db/wipe", "own:w*", "my-db:*", "*"])(
    "%s allows",
    async (pattern) => {
      const { code, io } = await call("my-db", "wipe", "--allow", pattern);
      expect(`${code} ${io.err()}`).toBe("0 ");
    },
  );

  test("allows with the name that the refusal prints", async () => {
    const refused = await call("my-db", "odd");
    expect(refused.code).toBe(7);
    const [, pattern = ""] = /--allow '?([^\s'.]+)/.exec(refused.io.err()) ?? [];
    expect((await call("my-db", "odd", "--allow", pattern)).code).toBe(0);
  });

  test.each([
    ["wpie", 'Did you mean "wipe"?'],
    ["my-db__wpie", 'Did you mean "my-db__wipe"?'],
    ["other:*", "Available: wipe, a.b, notes__wipe, odd."],
  ])("%s allows nothing, and a warning names similar tools", async (pattern, hint) => {
    const { code, io } = await call("my-db", "wipe", "--allow", pattern);
    expect(code).toBe(7);
    expect(io.err()).toContain(`--allow "${pattern}" matches no tool. ${hint}`);
  });

  test.each(["my*", "m*e", "my-db", "own*"])(
    "%s does not allow by the start of a name of the server",
    async (pattern) => {
      expect((await call("my-db", "wipe", "--allow", pattern)).code).toBe(7);
    },
  );

  test("of another tool has no warning, and does not allow this one", async () => {
    const { code, io } = await call("my-db", "wipe", "--allow", "odd");
    expect(code).toBe(7);
    expect(io.err()).not.toContain("matches no tool");
  });
});
