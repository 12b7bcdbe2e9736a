import { chmodSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { EntryIdentity } from "./entry-identity.ts";
import { expandTarget } from "./expand.ts";
import type { HostId } from "./model.ts";
import { readConfigFile } from "./read.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

let folder: string;
beforeEach(() => (folder = realpathSync(temporaryFolder())));

/** Writes a file in the folder. */
function write(name: string, text: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

interface Setting {
  readonly host?: HostId;
  readonly file?: string;
  readonly env?: Record<string, string>;
  readonly home?: string;
}

/** Returns the identity of the only entry of a file. */
async function identityIn(
  text: string,
  { host = "claude-code", file = ".mcp.json", env = {}, home = folder }: Setting = {},
): Promise<EntryIdentity> {
  const place = path.dirname(write(file, text));
  const [server] = readConfigFile(path.join(folder, file), { host, folder: place }).servers;
  if (!server) throw new Error("The file has no server.");
  return (await expandTarget(server, { env, home })).entry;
}

/** Returns the identity of an entry in the form of Claude Code. */
function identityOf(entry: object, setting: Setting = {}): Promise<EntryIdentity> {
  return identityIn(JSON.stringify({ mcpServers: { notes: entry } }), setting);
}

const program = { command: "node", args: ["server.js", "--fast"], env: { A: "1", B: "${TOKEN}" } };
const remote = { type: "http", url: "https://${HOST}/mcp", headers: { A: "1", B: "Bearer ${TOKEN}" } };
const env = { TOKEN: "token-1", HOST: "notes.example" };

test("has the facts as the file has them, and the values that it sends by name", async () => {
  expect(await identityOf(program, { env })).toEqual({
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    kind: "command",
    file: path.join(folder, ".mcp.json"),
    command: ["node", "server.js", "--fast"],
    cwd: folder,
    environment: { A: "1", B: "${env:TOKEN}" },
    sends: ["TOKEN"],
  });
  expect(await identityOf(remote, { env })).toEqual({
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    kind: "url",
    file: path.join(folder, ".mcp.json"),
    url: "https://${env:HOST}/mcp",
    headers: { A: "1", B: "Bearer ${env:TOKEN}" },
    sends: ["HOST", "TOKEN"],
  });
});

describe("the digest changes", () => {
  test.each<[what: string, before: object, after: object]>([
    ["the command", program, { ...program, command: "deno" }],
    ["an argument", program, { ...program, args: ["server.js", "--slow"] }],
    ["the order of the arguments", program, { ...program, args: program.args.toReversed() }],
    ["an argument and the command", program, { ...program, command: "node server.js", args: ["--fast"] }],
    ["the value of a variable", program, { ...program, env: { ...program.env, A: "2" } }],
    ["the name of a variable", program, { ...program, env: { ...program.env, NODE_OPTIONS: "" } }],
    ["a reference", program, { ...program, env: { ...program.env, B: "${OTHER:-x}" } }],
    ["the folder", program, { ...program, cwd: "sub" }],
    ["an unknown member", program, { ...program, autoApprove: ["*"] }],
    ["the kind", program, remote],
    ["the URL", remote, { ...remote, url: "https://${HOST}/other" }],
    ["the value of a header", remote, { ...remote, headers: { ...remote.headers, A: "2" } }],
    ["the name of a header", remote, { ...remote, headers: { ...remote.headers, C: "" } }],
    ["the transport", remote, { ...remote, type: "sse" }],
  ])("with %s", async (_what, before, after) => {
    expect((await identityOf(before, { env })).digest).not.toBe((await identityOf(after, { env })).digest);
  });

  test("with the content of the envFile, and not with its comments", async () => {
    const entry = { ...program, envFile: ".env" };
    const vscode = async (text: string): Promise<EntryIdentity> => {
      write(".env", text);
      return identityIn(JSON.stringify({ servers: { notes: entry } }), { host: "vscode", file: "mcp.json", env });
    };
    const one = await vscode("GIT_SSH_COMMAND=ssh\n");
    expect(one).toMatchObject({ envFile: ".env", environment: { GIT_SSH_COMMAND: "ssh", A: "1" } });
    expect((await vscode("GIT_SSH_COMMAND=./evil\n")).digest).not.toBe(one.digest);
    expect((await vscode("# Text\nGIT_SSH_COMMAND=ssh\n")).digest).toBe(one.digest);
  });

  test("with the content of a file of the project to which the entry refers, and with the target of a link", async () => {
    const text = JSON.stringify({ mcp: { notes: { type: "remote", url: "{file:url.txt}/mcp" } } });
    const opencode = (): Promise<EntryIdentity> => identityIn(text, { host: "opencode", file: "opencode.json" });
    write("url.txt", "https://notes.example\n");
    const one = await opencode();
    expect(one).toMatchObject({ url: "https://notes.example/mcp", sends: [] });
    write("url.txt", "https://evil.example\n");
    expect((await opencode()).digest).not.toBe(one.digest);
    const [outside, other] = [1, 2].map((number) => path.join(realpathSync(temporaryFolder()), `${number}`)) as [
      string,
      string,
    ];
    for (const file of [outside, other]) writeFileSync(file, "https://notes.example", { mode: 0o600 });
    const link = (file: string): void => {
      rmSync(path.join(folder, "url.txt"));
      symlinkSync(file, path.join(folder, "url.txt"));
    };
    link(outside);
    const linked = await opencode();
    expect(linked).toMatchObject({ url: "${file:url.txt}/mcp", sends: ["url.txt", outside] });
    writeFileSync(outside, "https://renewed.example");
    expect((await opencode()).digest).toBe(linked.digest);
    link(other);
    expect((await opencode()).digest).not.toBe(linked.digest);
  });

  test.each<[string, string, string]>([
    ["a number and null", "null", "1e999"],
    ["numbers beyond the largest one", "1e999", "-1e999"],
    ["a number and a text", "1", '"1"'],
    ["a number and a boolean", "1", "true"],
  ])("with the type of a value: %s", async (_what, before, after) => {
    const text = (value: string): string => `{"mcpServers": {"notes": {"command": "node", "env": {"A": ${value}}}}}`;
    expect((await identityIn(text(before))).digest).not.toBe((await identityIn(text(after))).digest);
  });

  test("with the type of a value of TOML", async () => {
    const values = ["5", '"5n"', '"5"', "5.5", "nan", "inf", "-inf", "true"];
    const digests: string[] = [];
    for (const value of values) {
      const text = `[mcp_servers.notes]\ncommand = "node"\nargs = [${value}]\n`;
      digests.push((await identityIn(text, { host: "codex", file: "config.toml" })).digest);
    }
    expect(new Set(digests).size).toBe(values.length);
  });

  test("with a member __proto__, which has no other effect", async () => {
    const text = (value: string): string =>
      `{"mcpServers": {"notes": {"command": "node", "__proto__": ${value}, "env": {"__proto__": "x"}}}}`;
    const one = await identityIn(text('{"args": ["a"]}'));
    expect(one.command).toEqual(["node"]);
    expect(Object.keys(one.environment ?? {})).toEqual(["__proto__"]);
    expect((await identityIn(text('{"args": ["b"]}'))).digest).not.toBe(one.digest);
  });

  test("with the folder of the workspace in an entry of the user that refers to it", async () => {
    const file = write(
      "user.json",
      JSON.stringify({ servers: { notes: { command: "node", args: ["${workspaceFolder}/x.js"], cwd: "/" } } }),
    );
    const [server] = readConfigFile(file, { host: "vscode", scope: "user" }).servers;
    if (!server) throw new Error("The file has no server.");
    const digestIn = async (place: string): Promise<string> =>
      (await expandTarget(server, { folder: place, env })).entry.digest;
    expect(await digestIn("/one")).not.toBe(await digestIn("/two"));
  });

  test("with the folder of the file", async () => {
    const one = await identityOf(remote, { env });
    expect((await identityOf(remote, { env, file: "sub/.mcp.json" })).digest).not.toBe(one.digest);
  });
});

test("the digest is the same with another value of a reference, order of members, and name of the server", async () => {
  const one = await identityOf(program, { env });
  expect((await identityOf(program, { env: { TOKEN: "token-2" } })).digest).toBe(one.digest);
  const { command, args } = program;
  expect((await identityOf({ env: { B: "${TOKEN}", A: "1" }, args, command }, { env })).digest).toBe(one.digest);
  const renamed = await identityIn(JSON.stringify({ mcpServers: { other: program } }), { env });
  expect(renamed.digest).toBe(one.digest);
});

test.each<[HostId, string, string]>([
  ["codex", "config.toml", '[mcp_servers.notes]\ncommand = "node"\nstartup_timeout_sec = 10.5\nsince = 2026-01-01\n'],
  ["goose", "config.yaml", "extensions:\n  notes:\n    type: stdio\n    cmd: node\n    timeout: 300\n"],
])("an entry of %s has a digest of all members", async (host, file, text) => {
  const one = await identityIn(text, { host, file });
  expect((await identityIn(text.replace(/(?:10\.5|300)/, "7"), { host, file })).digest).not.toBe(one.digest);
  expect((await identityIn(text.replace("2026", "2027"), { host, file })).digest === one.digest).toBe(host === "goose");
  expect((await identityIn(`# Text\n${text}`, { host, file })).digest).toBe(one.digest);
});

describe.skipIf(process.platform === "win32")("the executable is a part", () => {
  const install = (name: string): string => {
    const file = write(name, "#!/bin/sh\n");
    chmodSync(file, 0o755);
    return file;
  };
  /** A folder of the user that is not in that of the project. */
  const userPath = (): { PATH: string } => {
    const bin = realpathSync(temporaryFolder());
    writeFileSync(path.join(bin, "server"), "", { mode: 0o755 });
    return { PATH: bin };
  };

  test("if the command is a path, without symbolic links", async () => {
    const [one, other] = [install("one"), install("other")];
    const link = path.join(folder, "server");
    symlinkSync(one, link);
    const before = await identityOf({ command: "./server" });
    expect(before.executable).toBe(one);
    rmSync(link);
    symlinkSync(other, link);
    expect((await identityOf({ command: "./server" })).digest).not.toBe(before.digest);
  });

  test("if the entry has a PATH, also in its envFile", async () => {
    const file = install("bin/server");
    const PATH = path.join(folder, "bin");
    expect((await identityOf({ command: "server", env: { PATH } })).executable).toBe(file);
    write(".env", `PATH=${PATH}\n`);
    const text = JSON.stringify({ servers: { notes: { command: "server", envFile: ".env" } } });
    expect((await identityIn(text, { host: "vscode", file: "mcp.json" })).executable).toBe(file);
  });

  test("if it is in the folder of the program, which a relative folder of PATH can choose", async () => {
    const file = install("server");
    expect((await identityOf({ command: "server" }, { env: { PATH: "." } })).executable).toBe(file);
  });

  test("if it is in the folder of the project, also if the program starts in another folder", async () => {
    const file = install("node_modules/.bin/server");
    const PATH = path.join(folder, "node_modules/.bin");
    const elsewhere = realpathSync(temporaryFolder());
    expect((await identityOf({ command: "server", cwd: elsewhere }, { env: { PATH } })).executable).toBe(file);
  });

  test("if a link in the folder of the project chooses it", async () => {
    const { PATH } = userPath();
    mkdirSync(path.join(folder, "bin"));
    symlinkSync(path.join(PATH, "server"), path.join(folder, "bin", "server"));
    const env = { PATH: `${path.join(folder, "bin")}:${PATH}` };
    expect((await identityOf({ command: "server" }, { env })).executable).toBe(path.join(PATH, "server"));
  });

  test("and not if the PATH of the user chooses it, so that an update is no change", async () => {
    const one = await identityOf({ command: "server" }, { env: userPath() });
    expect(one.executable).toBeUndefined();
    expect((await identityOf({ command: "server" }, { env: userPath() })).digest).toBe(one.digest);
    expect((await identityOf({ command: "server" }, { env: { PATH: "/missing" } })).digest).toBe(one.digest);
  });

  test("and nothing of a folder that does not exist", async () => {
    expect((await identityOf({ command: "server", cwd: "missing" }, { env: userPath() })).executable).toBeUndefined();
  });
});
