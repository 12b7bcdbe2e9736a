import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createServer } from "mcparley/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServerTarget } from "../values/types.ts";
import { identityOfTarget } from "./identity.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "mcparley host identity ")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const hashOf = async (target: ServerTarget, env: Record<string, string> = {}): Promise<string> =>
  (await identityOfTarget(target, env)).hash;

describe.skipIf(process.platform === "win32")("a command", () => {
  function program(...parts: string[]): string {
    const file = path.join(folder, ...parts);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 });
    return file;
  }

  test("has the command, arguments, folder, names of variables and the real path of the executable", async () => {
    const real = program("lib", "server-1.0");
    mkdirSync(path.join(folder, "bin"));
    symlinkSync(real, path.join(folder, "bin", "server"));
    const target = { command: "server", args: ["--all", "x y"], env: { B: "secret", A: "1" }, cwd: folder };
    const { identity, remarks } = await identityOfTarget(target, { PATH: `/missing::${path.join(folder, "bin")}` });
    expect(identity).toEqual({
      kind: "command",
      command: ["server", "--all", "x y"],
      executable: real,
      cwd: folder,
      environment: { A: "1", B: "secret" },
    });
    expect(remarks).toEqual([]);
  });

  test("is searched in the order of PATH, without files that are not executable", async () => {
    const plain = program("a", "server");
    chmodSync(plain, 0o644);
    mkdirSync(path.join(folder, "b", "server"), { recursive: true });
    const found = program("c", "server");
    const PATH = ["a", "b", "c"].map((name) => path.join(folder, name)).join(":");
    expect((await identityOfTarget({ command: "server" }, { PATH })).identity.executable).toBe(found);
    expect(
      (await identityOfTarget({ command: "server", env: { PATH } }, { PATH: "/missing" })).identity.executable,
    ).toBe(found);
  });

  test("with a separator is relative to its folder, and so is an empty entry of PATH", async () => {
    const file = program("server");
    expect((await identityOfTarget({ command: "./server", cwd: folder }, {})).identity.executable).toBe(file);
    expect((await identityOfTarget({ command: "server", cwd: folder }, { PATH: "" })).identity.executable).toBe(file);
  });

  test("that is missing has no executable, and a remark says so", async () => {
    const { identity, remarks } = await identityOfTarget({ command: "missing" }, { PATH: folder });
    expect(identity.executable).toBeUndefined();
    expect(remarks).toEqual(["The executable was not found. The program that starts later is not known."]);
  });

  test("has another hash if any part changes, and the same one if only values of variables do", async () => {
    program("a", "server");
    program("b", "server");
    const base = { command: "server", args: ["-x"], env: { KEY: "1" }, cwd: folder };
    const env = { PATH: path.join(folder, "a") };
    const hash = await hashOf(base, env);
    const others = await Promise.all([
      hashOf({ ...base, command: "server2" }, env),
      hashOf({ ...base, args: ["-y"] }, env),
      hashOf({ ...base, args: ["-x", "-y"] }, env),
      hashOf({ ...base, command: "server -x", args: [] }, env),
      hashOf({ ...base, env: { KEY: "1", NODE_OPTIONS: "" } }, env),
      hashOf({ ...base, env: {} }, env),
      hashOf({ ...base, cwd: path.join(folder, "a") }, env),
      hashOf(base, { PATH: path.join(folder, "b") }),
    ]);
    expect(new Set([hash, ...others]).size).toBe(others.length + 1);
    expect(await hashOf({ ...base, env: { KEY: "2" } }, { ...env, OTHER: "x" })).toBe(hash);
  });

  test("without a folder is bound to the folder of the process", async () => {
    expect((await identityOfTarget({ command: "server" }, {})).identity.cwd).toBe(process.cwd());
  });

  test("with invisible and confusable characters has remarks", async () => {
    const { remarks } = await identityOfTarget({ command: "n\u043fm", args: ["a\u202eb"] }, { PATH: folder });
    expect(remarks).toEqual([
      expect.stringMatching(/^The command contains U\+043F/),
      expect.stringMatching(/^Argument 1 contains U\+202E \(direction control\) at position 1/),
      expect.stringContaining("not found"),
    ]);
  });
});

describe("a URL", () => {
  test("is shown without secrets, and each part of it changes the hash", async () => {
    const url =
      "https://ann:pass@Example.com:443/s/a1B2c3D4e5F6g7H8i9/mcp?api_key=sec&mode=fast&x=0123456789abcdefghij#frag";
    const { identity, remarks } = await identityOfTarget(url, {});
    expect(identity).toEqual({ kind: "url", url: "https://example.com/s/…/mcp?api_key=…&mode=fast&x=…", headers: {} });
    expect(remarks).toEqual(["The URL contains a user name or a password, which is not shown."]);
    const hash = await hashOf(url);
    expect(await hashOf(new URL(url.replace("#frag", "")))).toBe(hash);
    for (const [from, to] of [
      ["pass", "word"],
      ["api_key=sec", "api_key=other"],
      ["mode=fast", "mode=slow"],
      ["i9/mcp", "i8/mcp"],
      ["https:", "http:"],
      ["Example.com", "example.org"],
      [":443", ":444"],
    ] as const) {
      expect(await hashOf(url.replace(from, to)), to).not.toBe(hash);
    }
  });

  test("has the names of its headers, and not their values", async () => {
    const target = { url: "https://example.com/mcp", headers: { "X-Team": "a", Authorization: "Bearer secret" } };
    const { identity, hash } = await identityOfTarget(target, {});
    expect(identity.headers).toEqual({ authorization: "(13 characters, not shown)", "x-team": "a" });
    expect(await hashOf({ ...target, headers: { "x-team": "b", authorization: "Bearer new" } })).toBe(hash);
    expect(await hashOf({ ...target, headers: { "x-team": "b" } })).not.toBe(hash);
  });

  test("whose host imitates another one has a remark with both forms", async () => {
    const { identity, remarks } = await identityOfTarget("https://\u0430pple.com/mcp", {});
    expect(identity.url).toBe("https://xn--pple-43d.com/mcp");
    expect(remarks).toEqual([
      'The host "xn--pple-43d.com" is shown as "\u0430pple.com" by some programs, and may imitate another host.',
      expect.stringContaining("U+0430"),
    ]);
  });

  test("that is not valid is refused with a cure, without its secrets", async () => {
    await expect(identityOfTarget("example?token=abc-secret", {})).rejects.toMatchObject({
      code: "invalid_target",
      message: '"example?token=[redacted]" is not a URL of a server. Use one such as "https://example.com/mcp".',
    });
  });

  test.each([
    ["http://example.com/mcp", ["The connection is not encrypted."]],
    ["http://127.0.0.1:3000/mcp", []],
    ["http://[::1]:3000/mcp", []],
    ["http://localhost/mcp", []],
    ["https://example.com/mcp", []],
  ])("%s has the remarks %j", async (url, expected) => {
    expect((await identityOfTarget(url, {})).remarks).toEqual(expected);
  });
});

test("a server in this process has its name", async () => {
  const { identity } = await identityOfTarget(createServer({ name: "notes", version: "1.0.0" }), {});
  expect(identity).toEqual({ kind: "in-process", name: "notes" });
});
