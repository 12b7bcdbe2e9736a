import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { exampleServer } from "../commands/testing/example-server.ts";
import { type FakeIo, runWith } from "../commands/testing/fake-io.ts";
import { temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { storeRevision } from "./stored-revisions.ts";

let home: string;

beforeEach(async () => {
  home = await temporaryFolder();
});

function write(file: string, content: object): void {
  const path = join(home, "project", file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
}

async function run(line: string): Promise<{ code: number; io: FakeIo; document: Record<string, unknown> }> {
  const options = { server: exampleServer(), cwd: join(home, "project"), env: { HOME: home, NO_COLOR: "1" } };
  const { code, io } = await runWith(options, line);
  return { code, io, document: io.out().startsWith("{") ? (JSON.parse(io.out()) as Record<string, unknown>) : {} };
}

const entry = (revision: string, more: object = { url: "https://old.example/mcp" }) => ({
  mcpServers: { old: { ...more, revision } },
});

test.each([{ url: "https://old.example/mcp" }, { command: "node", args: ["old.js"] }])(
  "uses the revision of the entry %j of mcp.json",
  async (target) => {
    write("mcp.json", entry("2025-06-18", target));
    expect((await run("list old --json --trust")).document).toMatchObject({ revision: "2025-06-18" });
    expect((await run("servers --json")).document).toMatchObject({ servers: [{ revision: "2025-06-18" }] });
  },
);

test("--revision has precedence over the entry, and auto negotiates", async () => {
  write("mcp.json", entry("2025-06-18"));
  expect((await run("list old --json --trust --revision 2025-03-26")).document.revision).toBe("2025-03-26");
  expect((await run("list old --json --trust --revision auto")).document.revision).toBe("2026-07-28");
});

test.each([
  ["team.json", "mcpServers"],
  ["team.json", "servers"],
  ["sub/mcp.json", "mcpServers"],
])("reads the revision in %s with --config, in the table %s", async (file, table) => {
  write(file, { [table]: entry("2024-11-05").mcpServers });
  const { document } = await run(`list old --json --trust --config ${file}`);
  expect(document.revision).toBe("2024-11-05");
});

test("names the file and the line of a revision that does not exist", async () => {
  write("mcp.json", entry("2025-99-99"));
  const { code, io } = await run("list old --trust");
  expect(code).toBe(1);
  expect(io.err()).toMatch(/mcp\.json:1: "2025-99-99" is not a revision of the protocol/);
  expect(io.err()).toContain("Available: 2026-07-28, 2025-11-25");
  expect(io.targets).toEqual([]);
});

test.each([{ url: "https://old.example/mcp" }, { command: "node" }])(
  "entries of one precedence that differ in their revision are ambiguous: %j",
  async (target) => {
    const { mcpServers } = entry("2025-06-18", target);
    write("mcp.json", { mcpServers, servers: mcpServers });
    expect((await run("list old --json --trust")).code).toBe(0);
    write("mcp.json", { mcpServers, servers: entry("2025-11-25", target).mcpServers });
    const { code, io } = await run("list old --trust");
    expect(code).toBe(1);
    expect(io.err()).toContain("Several files have different servers");
  },
);

test.each([
  ["https://old.example/mcp", ""],
  ["", " -- node old.js"],
])("mcparley add writes a revision for mcparley, and connects with it: %s%s", async (target, program) => {
  write("x", {});
  const { code, io } = await run(
    `add${target && ` ${target}`} --to mcparley --scope project --name old --revision 2025-06-18 --yes${program}`,
  );
  expect(`${code} ${io.err()}`).toContain("revision 2025-06-18");
  expect((await run("list old --json --trust")).document.revision).toBe("2025-06-18");
});

test("mcparley add refuses a revision for a host that has no such member", async () => {
  write("x", {});
  const { code, io } = await run(
    "add https://old.example/mcp --to cursor --name old --revision 2025-06-18 --yes --no-check",
  );
  expect(code).toBe(1);
  expect(io.err()).toContain('Cursor: The host has no member for "revision".');
});

test("a copy of an entry has its revision only for mcparley, and states what is left out", async () => {
  write("mcp.json", entry("2025-06-18"));
  const { code, io } = await run("add old --to cursor --scope project --dry-run --trust --no-check --json");
  expect(code).toBe(0);
  expect(io.out()).not.toContain("revision");
  expect(io.err()).toContain("The revision 2025-06-18 is not copied to cursor, which finds it itself.");
});

test("uses the revision that was chosen for the server in a chat, unless the entry or --revision sets one", async () => {
  const io = { env: { HOME: home }, platform: process.platform };
  await storeRevision({ kind: "url", url: "https://old.example/mcp", headers: {} }, "2025-06-18", io);
  expect((await run("list https://old.example/mcp --json")).document.revision).toBe("2025-06-18");
  expect((await run("list https://other.example/mcp --json")).document.revision).toBe("2026-07-28");
  expect((await run("list https://old.example/mcp --json --revision auto")).document.revision).toBe("2026-07-28");
  write("mcp.json", entry("2025-03-26"));
  expect((await run("list old --json --trust")).document.revision).toBe("2025-03-26");
  await storeRevision({ kind: "url", url: "https://old.example/mcp", headers: {} }, "auto", io);
  expect((await run("list https://old.example/mcp --json")).document.revision).toBe("2026-07-28");
});
