import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { addFiles, temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { entryFiles, memberRows } from "mcparley-tests/support/entry-members.ts";
import { exampleServer } from "../commands/testing/example-server.ts";
import { type FakeIo, runWith } from "../commands/testing/fake-io.ts";

/*
 * Each member of each file format is changed after a consent. `tests/docs/entry-members.test.ts` compares the list with the hosts.
 */

const server = exampleServer();

/** Returns the text of a file with one server. JSON is also YAML. */
function fileWith(table: string, entry: object, file: string): string {
  if (!file.endsWith(".toml")) return JSON.stringify({ [table]: { files: entry } });
  const inline = (value: unknown): string => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
    return `{ ${Object.entries(value)
      .map(([name, member]) => `${name} = ${inline(member)}`)
      .join(", ")} }`;
  };
  const members = Object.entries(entry).map(([name, value]) => `${name} = ${inline(value)}\n`);
  return `[${table}.files]\n${members.join("")}`;
}

const cases = memberRows.flatMap((row) =>
  row.hosts.map((host) => [row.member, entryFiles[host].file, host, row] as const),
);

test.each(cases)(
  "a change of %s in %s is asked for",
  async (_member, file, host, { firstEntry, changedEntry, files = {}, label, shownValue }) => {
    const { table, isNamed } = entryFiles[host];
    const home = await temporaryFolder();
    const cwd = join(home, "work");
    const configuration = join(cwd, file);
    mkdirSync(dirname(configuration), { recursive: true });
    const write = async (entry: object, index: 0 | 1): Promise<void> => {
      const beside = Object.entries(files).map(([name, texts]) => [join("work", name), texts[index]]);
      await addFiles(home, { ...Object.fromEntries(beside), [join("work", file)]: fileWith(table, entry, file) });
    };
    const list = async (...answers: string[]): Promise<{ code: number; io: FakeIo }> => {
      const env = { HOME: home, NO_COLOR: "1", TOKEN: "secret" };
      const words = ["list", "files", "tools", ...(isNamed ? ["--config", file] : [])];
      return runWith({ server, cwd, env, terminal: true, answers }, words);
    };
    await write(firstEntry, 0);
    expect((await list("y")).code).toBe(0);
    const again = await list();
    expect({ code: again.code, err: again.io.err() }).toEqual({ code: 0, err: "" });
    await write(changedEntry, 1);
    const { code, io } = await list("n");
    expect(code).toBe(7);
    expect(io.targets).toEqual([]);
    const text = io.err().replaceAll(/\s+/g, " ");
    expect(text).toContain('You trusted a server "files" of this file before. Its entry has changed.');
    if (label !== undefined)
      expect(text).toMatch(new RegExp(` ${label} [^|]*${shownValue!.replaceAll(/[.?]/g, String.raw`\$&`)}`));
  },
);
