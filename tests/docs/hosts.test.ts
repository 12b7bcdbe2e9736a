import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { clientSetups } from "../../packages/cli/src/serve/banner.ts";

/*
 * docs/start/add-to-a-host.md shows the configuration that `mcparley serve` prints, and the same server on stdio in the same form.
 */

const url = "http://127.0.0.1:3000/mcp";
const program = "/absolute/path/of/sums/dist/server.js";
const text = readFileSync(fileURLToPath(new URL("../../docs/start/add-to-a-host.md", import.meta.url)), "utf8");
const sections = new Map(text.split(/^## /m).map((part) => [part.split("\n")[0] ?? "", part]));

/** The members of an entry that are the same for every host. */
interface Entry {
  command?: string;
  args?: string[];
  url?: string;
}

/** The code blocks of a host's section. */
function blocks(host: string): { language: string; code: string }[] {
  const found = [...(sections.get(host) ?? "").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  return found.map(([, language = "", code = ""]) => ({ language, code: code.trim() }));
}

/** The entries of the JSON blocks of a host, with the key under which they stand. */
function jsonEntries(host: string): { key: string; entry: Entry }[] {
  return blocks(host)
    .filter(({ language }) => language === "json")
    .map(({ code }) => {
      const [[key, servers]] = Object.entries(JSON.parse(code) as Record<string, { sums: Entry }>) as [
        [string, { sums: Entry }],
      ];
      return { key, entry: servers.sums };
    });
}

describe("the page of hosts", () => {
  test.each(clientSetups("sums", url))("has the lines that serve prints for $client", ({ client, where, lines }) => {
    const printed = lines.join("\n");
    const codes = blocks(client).map(
      ({ language, code }) => (language === "json" ? JSON.parse(code) : code) as unknown,
    );
    const isJson = where?.endsWith(".json") === true;
    expect(codes).toContainEqual(isJson ? JSON.parse(printed.startsWith("{") ? printed : `{${printed}}`) : printed);
    if (where !== undefined) expect(sections.get(client)).toContain(`\`${where}\``);
  });

  test.each(["VS Code", "Cursor", "Zed", "Gemini CLI"])("has both transports of %s under the same key", (host) => {
    const [onStdio, overHttp, ...others] = jsonEntries(host);
    expect(others).toEqual([]);
    expect(onStdio?.entry).toMatchObject({ command: "node", args: [program] });
    expect(overHttp).toMatchObject({ key: onStdio?.key, entry: { url } });
  });

  test.each(["Claude Code", "Codex", "Gemini CLI"])("has a command of %s for each transport", (host) => {
    const commands = blocks(host).filter(({ language }) => language === "sh");
    expect(commands.map(({ code }) => [code.includes(`node ${program}`), code.includes(url)])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test("has the same entry in the files of Claude Code and Claude Desktop", () => {
    expect(jsonEntries("Claude Desktop")).toEqual(jsonEntries("Claude Code"));
  });

  test("lists each host at the beginning and in the list of logs", () => {
    const hosts = [...text.matchAll(/^- \[([\w ]+)\]\(#/gm)].map(([, host]) => host);
    expect(hosts).toHaveLength(7);
    for (const host of hosts) {
      expect([...sections.keys()]).toContain(host);
      expect(sections.get("Find the log")).toContain(`\n- ${host}: `);
    }
    for (const { client } of clientSetups("sums", url)) expect(hosts).toContain(client);
  });
});
