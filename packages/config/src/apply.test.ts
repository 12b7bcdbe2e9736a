import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { applyPlan } from "./apply.ts";
import type { HostId, ServerTarget } from "./model.ts";
import { type ConfigPlan, changedLines, planAdd, planRemove, planUpdate } from "./plan.ts";
import { readConfigFile } from "./read.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const target: ServerTarget = { kind: "command", command: "node", args: ["server.js"], env: new Map() };
const text = '{\n  "mcpServers": {\n    "a": { "command": "node" }\n  }\n}\n';

interface Home {
  readonly home: string;
  readonly file: string;
  readonly backups: string;
  readonly plan: (name?: string) => ConfigPlan;
  readonly apply: (plan: ConfigPlan) => ReturnType<typeof applyPlan>;
}

function homeWith(content: string = text): Home {
  const home = temporaryFolder({ ".cursor/mcp.json": content });
  const backups = `${home}/state/backups`;
  return {
    home,
    file: `${home}/.cursor/mcp.json`,
    backups,
    plan: (name = "b") => planAdd({ home, env: {}, folder: home, host: "cursor", scope: "user", name, target }),
    apply: (plan) => applyPlan(plan, { backups }),
  };
}

const modeOf = (file: string): number => statSync(file).mode & 0o777;
const namesIn = (file: string): string[] => readConfigFile(file, { host: "cursor" }).servers.map(({ name }) => name);

describe("a plan", () => {
  test("has the text before and after, and writes nothing", () => {
    const { file, plan } = homeWith();
    const { before, after, action, scope } = plan();
    expect({ before, action, scope }).toEqual({ before: text, action: "add", scope: "user" });
    expect(changedLines({ before, after })).toEqual({
      line: 3,
      removed: ['    "a": { "command": "node" }'],
      added: [
        '    "a": { "command": "node" },',
        '    "b": {',
        '      "command": "node",',
        '      "args": [',
        '        "server.js"',
        "      ]",
        "    }",
      ],
    });
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("is refused for a name in use, and for one that is not there", () => {
    const { home, plan } = homeWith();
    const options = { home, env: {}, folder: home, host: "cursor", scope: "user", name: "none" } as const;
    expect(() => plan("a")).toThrow(expect.objectContaining({ code: "exists" }));
    expect(() => planRemove(options)).toThrow(
      'Cursor has no server "none" in this file. Check the name and the scope.',
    );
    expect(() => planUpdate({ ...options, target })).toThrow(expect.objectContaining({ code: "not_found" }));
    expect(() => planRemove({ ...options, scope: "local" })).toThrow(
      'Cursor has no configuration in the scope "local"',
    );
    expect(() => planRemove({ ...options, host: "emacs" as "zed" })).toThrow('There is no host "emacs".');
  });

  test("is refused for an invalid file, with the position", () => {
    const { plan, file } = homeWith('{\n  "mcpServers": {a: 1}\n}');
    expect(() => plan()).toThrow(`${file}:2:18: Expected a key in double quotes but found another token.`);
  });

  test("is refused if a name occurs twice, because the removal of one shows the other", () => {
    const { home } = homeWith('{ "mcpServers": { "a": {}, "a": {} } }');
    expect(() => planRemove({ home, env: {}, folder: home, host: "cursor", scope: "user", name: "a" })).toThrow(
      "The file cannot be edited safely: the edit would change other parts of the file. Edit the file by hand.",
    );
  });

  test.each<[HostId, object]>([
    ["gemini-cli", { trust: true }],
    ["gemini-cli", { oauth: { enabled: true } }],
    ["gemini-cli", { authProviderType: "google_credentials" }],
    ["windsurf", { alwaysAllow: ["*"] }],
    ["cursor", { autoApprove: ["delete"] }],
    ["cursor", { alwaysAllow: ["*"] }],
    ["claude-code", { headersHelper: "/bin/token" }],
    ["claude-code", { allowedTools: ["*"] }],
    ["vscode", { sandbox: { network: { allowedDomains: ["*"] } } }],
    ["opencode", { oauth: { clientId: "x" } }],
  ])("an update of %s keeps no rights: %j", (id, rights) => {
    const home = temporaryFolder({});
    const options = { home, env: {}, folder: home, host: id, scope: "user", name: "a" } as const;
    const url = { kind: "url", url: "https://a.example", transport: "http", headers: new Map() } as const;
    const { file, after } = planAdd({ ...options, target: url });
    const entry = { ...rights, timeout: 7, excludeTools: ["x"] };
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, after.replace(/"url": |"serverUrl": /, `${JSON.stringify(entry).slice(1, -1)}, $&`));
    const [name = ""] = Object.keys(rights);
    const plan = planUpdate({ ...options, target: { ...url, url: "https://b.example" } });
    expect(plan.before).toContain(name);
    expect(plan.after).toContain("https://b.example");
    expect(plan.after).not.toContain(name);
    expect(plan.after).toContain("excludeTools");
    expect(plan.after).toMatch(/timeout"?: ?7/);
  });

  test("an update of Codex keeps no approvals of tools", () => {
    const home = temporaryFolder({
      ".codex/config.toml":
        '[mcp_servers.a]\ncommand = "x"\ntool_timeout_sec = 7\ndefault_tools_approval_mode = "approve"\n[mcp_servers.a.tools.delete]\napproval_mode = "approve"\n',
    });
    const plan = planUpdate({ home, env: {}, folder: home, host: "codex", scope: "user", name: "a", target });
    expect(plan.after).not.toMatch(/approv/);
    expect(plan.after).toContain("tool_timeout_sec = 7");
  });

  test("uses the file that exists, and that with the server if there are several", () => {
    const home = temporaryFolder({
      "opencode.json": '{ "mcp": { "a": { "type": "local", "command": ["x"] } } }',
      "opencode.jsonc": "{}",
    });
    const options = { home, env: {}, folder: home, host: "opencode", scope: "project" } as const;
    expect(planAdd({ ...options, name: "b", target }).file).toBe(`${home}/opencode.jsonc`);
    expect(planRemove({ ...options, name: "a" }).file).toBe(`${home}/opencode.json`);
    rmSync(`${home}/opencode.jsonc`);
    expect(planAdd({ ...options, name: "b", target }).file).toBe(`${home}/opencode.json`);
  });
});

describe("applyPlan", () => {
  test("writes the file and a backup that only the user can read, and leaves nothing else", () => {
    const { home, file, plan, apply } = homeWith();
    const result = apply(plan());
    expect(result.file).toBe(file);
    expect(namesIn(file)).toEqual(["a", "b"]);
    expect(readFileSync(result.backup!, "utf8")).toBe(text);
    expect(readdirSync(`${home}/.cursor`)).toEqual(["mcp.json"]);
    if (process.platform === "win32") return;
    expect(modeOf(result.backup!)).toBe(0o600);
    expect(modeOf(`${home}/state/backups`)).toBe(0o700);
  });

  test.skipIf(process.platform === "win32").each([0o600, 0o644, 0o640, 0o400])("keeps the mode %o", (mode) => {
    const { file, plan, apply } = homeWith();
    chmodSync(file, mode);
    apply(plan());
    expect(modeOf(file)).toBe(mode);
  });

  test("creates a missing file and its folder, which only the user can read", () => {
    const { home, file, plan, apply } = homeWith();
    rmSync(`${home}/.cursor`, { recursive: true, force: true });
    const { before, hash } = plan();
    expect({ before, hash }).toEqual({ before: undefined, hash: undefined });
    expect(apply(plan()).backup).toBeUndefined();
    expect(namesIn(file)).toEqual(["b"]);
    if (process.platform === "win32") return;
    expect(modeOf(file)).toBe(0o600);
    expect(modeOf(`${home}/.cursor`)).toBe(0o700);
  });

  test.skipIf(process.platform === "win32")("creates the file of a project with the usual mode", () => {
    const { home, backups } = homeWith();
    const options = { home, env: {}, folder: `${home}/p`, host: "cursor", scope: "project" } as const;
    applyPlan(planAdd({ ...options, name: "b", target }), { backups });
    expect(modeOf(`${home}/p/.cursor/mcp.json`)).toBe(0o666 & ~process.umask());
  });

  test("keeps the five newest backups", () => {
    const { plan, apply, backups } = homeWith();
    const results = Array.from({ length: 7 }, (_, index) => apply(plan(`n${index}`)));
    expect(new Set(results.map(({ backup }) => backup)).size).toBe(1);
    expect(readdirSync(backups)).toHaveLength(5);
    const newest = readFileSync(results.at(-1)?.backup ?? "", "utf8");
    expect(newest).toContain("n5");
    expect(newest).not.toContain("n6");
  });

  test.skipIf(process.platform === "win32")("follows a link and keeps it", () => {
    const { home, file, plan, apply } = homeWith();
    mkdirSync(`${home}/dotfiles`);
    writeFileSync(`${home}/dotfiles/cursor.json`, text, { mode: 0o600 });
    rmSync(file);
    symlinkSync("../dotfiles/cursor.json", file);
    expect(apply(plan()).file).toBe(`${home}/dotfiles/cursor.json`);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(namesIn(file)).toEqual(["a", "b"]);
    rmSync(`${home}/dotfiles/cursor.json`);
    expect(() => apply(plan())).toThrow("The file is a link to a file that does not exist.");
  });

  test("refuses a file that changed, appeared or disappeared since the plan", () => {
    const { file, plan, apply } = homeWith();
    const planned = plan();
    writeFileSync(file, `${text} `);
    expect(() => apply(planned)).toThrow(expect.objectContaining({ code: "conflict" }));
    expect(readFileSync(file, "utf8")).toBe(`${text} `);
    rmSync(file);
    expect(() => apply(planned)).toThrow("The file changed after the change was planned. Plan it again.");
    const created = plan();
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => apply(created)).toThrow(expect.objectContaining({ code: "conflict" }));
  });

  test.skipIf(process.platform === "win32")("refuses a link out of the project that appeared since the plan", () => {
    const { home, backups } = homeWith();
    const folder = `${home}/p`;
    mkdirSync(folder);
    mkdirSync(`${home}/other`);
    const planned = planAdd({ home, env: {}, folder, host: "cursor", scope: "project", name: "b", target });
    symlinkSync(`${home}/other`, `${folder}/.cursor`);
    expect(() => applyPlan(planned, { backups })).toThrow(expect.objectContaining({ code: "conflict" }));
    expect(readdirSync(`${home}/other`)).toEqual([]);
  });

  test.skipIf(process.platform === "win32")("follows a link within the project, and refuses one that leaves it", () => {
    const home = temporaryFolder({ "p/shared/mcp.json": text, "mcp.json": text });
    const backups = `${home}/backups`;
    const folder = `${home}/p`;
    const add = () => planAdd({ home, env: {}, folder, host: "mcparley", scope: "project", name: "b", target });
    symlinkSync("shared/mcp.json", `${folder}/mcp.json`);
    expect(applyPlan(add(), { backups }).file).toBe(`${folder}/shared/mcp.json`);
    rmSync(`${folder}/mcp.json`);
    for (const to of ["../mcp.json", `${home}/mcp.json`]) {
      symlinkSync(to, `${folder}/mcp.json`);
      expect(add).toThrow(`A link leads out of the project, to ${home}/mcp.json.`);
      rmSync(`${folder}/mcp.json`);
    }
    linkSync(`${home}/mcp.json`, `${folder}/mcp.json`);
    expect(add).toThrow("The file has 2 names (hard links)");
    expect(readFileSync(`${home}/mcp.json`, "utf8")).toBe(text);
  });

  test.skipIf(process.platform === "win32").each([
    ["a named pipe", (path: string) => void execFileSync("mkfifo", [path])],
    ["a folder", (path: string) => mkdirSync(path)],
    ["a device or a socket", (path: string) => symlinkSync("/dev/zero", path)],
  ])("waits for no file and no lock that is %s", (kind, create) => {
    const { file, plan, apply } = homeWith();
    create(`${file}.mcparley-lock`);
    const what = kind === "a device or a socket" ? "a link" : kind;
    expect(() => apply(plan()), what).toThrow(`no process of mcparley has made it. Delete ${file}.mcparley-lock.`);
    expect(readFileSync(file, "utf8")).toBe(text);
    rmSync(file);
    create(file);
    expect(plan).toThrow(`The path is ${kind}, and not a file.`);
  });

  test.skipIf(process.platform === "win32")("a lock beside the real file stops a change through a link", () => {
    const { home, file, plan, apply } = homeWith();
    mkdirSync(`${home}/dotfiles`);
    const realFile = `${home}/dotfiles/cursor.json`;
    writeFileSync(realFile, text, { mode: 0o600 });
    rmSync(file);
    symlinkSync(realFile, file);
    writeFileSync(`${realFile}.mcparley-lock`, String(process.pid));
    expect(() => apply(plan())).toThrow("Another process writes the file.");
    expect(readFileSync(realFile, "utf8")).toBe(text);
    rmSync(`${realFile}.mcparley-lock`);
    expect(apply(plan()).file).toBe(realFile);
  });

  test("compares the file again directly before it is replaced", () => {
    const { file, plan, backups } = homeWith();
    const written = `${text}\n`;
    const planned = plan();
    // The new text is read after the first comparison.
    const writing = {
      ...planned,
      get after() {
        writeFileSync(file, written);
        return planned.after;
      },
    };
    expect(() => applyPlan(writing, { backups })).toThrow(expect.objectContaining({ code: "conflict" }));
    expect(readFileSync(file, "utf8")).toBe(written);
    expect(readdirSync(dirname(file))).toEqual(["mcp.json"]);
  });

  test("refuses a file that another process writes, and names the lock of a process that has ended", async () => {
    const { file, plan, apply } = homeWith();
    writeFileSync(`${file}.mcparley-lock`, String(process.pid));
    expect(() => apply(plan())).toThrow("Another process writes the file. Plan the change again.");
    const ended = spawn(process.execPath, ["-e", ""]);
    await once(ended, "close");
    writeFileSync(`${file}.mcparley-lock`, String(ended.pid));
    expect(() => apply(plan())).toThrow(`Its process has ended: delete ${file}.mcparley-lock.`);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test.skipIf(process.getuid?.() !== 0)("refuses a file of another user, and keeps the group of a file", () => {
    const { file, plan, apply } = homeWith();
    chownSync(file, 0, 12_345);
    apply(plan());
    expect(statSync(file).gid).toBe(12_345);
    const planned = plan("c");
    chownSync(file, 12_345, 12_345);
    expect(() => apply(planned)).toThrow(expect.objectContaining({ code: "untrusted" }));
  });

  test.skipIf(process.platform === "win32")("refuses a file of root, which a rename would give to the user", () => {
    const { file, plan, apply } = homeWith();
    const planned = plan();
    // The files of the test belong to root here, or else to another user.
    const getuid = vi.spyOn(process, "getuid").mockReturnValue(process.getuid!() + 1);
    onTestFinished(() => getuid.mockRestore());
    expect(() => apply(planned)).toThrow(expect.objectContaining({ code: "untrusted" }));
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("loses nothing if several processes write at the same time", async () => {
    const { home, file } = homeWith();
    const program = `
      import { applyPlan, planAdd } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
      const [home, id] = process.argv.slice(1);
      const target = { kind: "command", command: "node", args: [], env: new Map() };
      for (let index = 0; index < 10;) {
        try {
          const plan = planAdd({ home, env: {}, folder: home, host: "cursor", scope: "user", name: id + index, target });
          applyPlan(plan, { backups: home + "/backups" });
          index++;
        } catch (error) {
          if (error.code !== "conflict") throw error;
        }
      }`;
    const codes = await Promise.all(
      ["x", "y", "z"].map(async (id) => {
        const args = ["--input-type=module", "-e", program, home, id];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
        const [code] = (await once(child, "close")) as [number];
        return code;
      }),
    );
    expect(codes).toEqual([0, 0, 0]);
    const expected = ["x", "y", "z"].flatMap((id) => Array.from({ length: 10 }, (_, index) => `${id}${index}`));
    expect(namesIn(file).toSorted()).toEqual(["a", ...expected].toSorted());
  });
});
