import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fileStore } from "mcparley/node";
import { fakeClock } from "mcparley/testing";
import { fileState } from "./file-state.ts";

const onWindows = process.platform === "win32";
let parent: string;
let folder: string;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), "mcparley host state "));
  folder = path.join(parent, "user folder");
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const mode = (file: string): number => statSync(file).mode & 0o777;
/** The files of the folder without the lock. */
const files = (): string[] => readdirSync(folder).filter((name) => name !== ".lock");

test("an update fails after 60 seconds if another process holds the lock, and the next one waits again", async () => {
  await fileState(folder).update("a.json", () => "old");
  const other = fileStore(path.join(folder, ".lock"));
  const hold = (owner: string | undefined, nextOwner: string | undefined): Promise<unknown> =>
    other.compareAndSet("writer", owner, nextOwner, { ttl: 3_600_000 });
  await hold(undefined, "other");
  const clock = fakeClock(Date.now());
  const state = fileState(folder, { clock });
  const failed = state.update("a.json", () => "new");
  const errors: unknown[] = [];
  failed.catch((cause: unknown) => errors.push(cause));
  while (errors.length === 0) await clock.advance(20_000);
  expect(errors[0]).toMatchObject({
    code: "unusable_storage",
    message: expect.stringMatching(/not written: other processes wrote to .* for 60 seconds\. Try again\.$/) as string,
  });
  expect(clock.now()).toBeGreaterThanOrEqual(60_000);
  expect(await state.read("a.json")).toBe("old");
  await hold("other", undefined);
  await other.close();
  await state.update("a.json", () => "new");
  expect(await state.read("a.json")).toBe("new");
});

describe("texts", () => {
  test("are stored when the storage has settled, also after an update that failed", async () => {
    const state = fileState(folder);
    const failed = state.update("pins.json", () => {
      throw new Error("changed");
    });
    void state.update("pins.json", () => "käse");
    await Promise.all([state.waitForUpdates(), expect(failed).rejects.toThrow("changed")]);
    expect(readFileSync(path.join(folder, "pins.json"), "utf8")).toBe("käse");
  });

  test("are read by the next storage of the same folder", async () => {
    await fileState(folder).update("pins.json", () => "käse");
    expect(await fileState(folder).read("pins.json")).toBe("käse");
    expect(files()).toEqual(["pins.json"]);
  });

  test("of a missing folder are undefined, and reading creates nothing", async () => {
    expect(await fileState(folder).read("pins/a.json")).toBeUndefined();
    expect(readdirSync(parent)).toEqual([]);
  });

  test("in a subfolder are stored there", async () => {
    const state = fileState(folder);
    await state.update("pins/a.json", () => "a");
    expect(await state.read("pins/a.json")).toBe("a");
    expect(files()).toEqual(["pins"]);
    expect(readdirSync(path.join(folder, "pins"))).toEqual(["a.json"]);
  });

  test("are deleted by undefined", async () => {
    const state = fileState(folder);
    await state.update("a.json", () => "a");
    await state.update("a.json", (before) => (before === "a" ? undefined : "wrong"));
    expect(await state.read("a.json")).toBeUndefined();
    expect(files()).toEqual([]);
  });

  test("stay if the change throws, and the next update succeeds", async () => {
    const state = fileState(folder);
    await state.update("a.json", () => "a");
    const failed = state.update("a.json", () => {
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    await state.update("a.json", (before) => `${before}b`);
    expect(await state.read("a.json")).toBe("ab");
  });

  test.each(["../a", "a/../b", "/a", "a\\b", "", ".lock/x", "a//b", "C:a", "a\0b", "a/b/c/d/e"])(
    "with the name %j are refused",
    async (name) => {
      const state = fileState(folder);
      await expect(state.read(name)).rejects.toThrow(TypeError);
      await expect(state.update(name, () => "x")).rejects.toThrow("is not a name of the state storage");
    },
  );

  test("over the size limit are neither written nor read", async () => {
    await fileState(folder).update("a.json", () => "12345");
    await expect(fileState(folder, { maxBytes: 4 }).read("a.json")).rejects.toMatchObject({ code: "too_large" });
    await expect(fileState(folder, { maxBytes: 5 }).update("a.json", () => "123456")).rejects.toMatchObject({
      code: "too_large",
    });
    expect(readFileSync(path.join(folder, "a.json"), "utf8")).toBe("12345");
  });

  test("that are not UTF-8 are refused", async () => {
    await fileState(folder).update("a.json", () => "a");
    writeFileSync(path.join(folder, "a.json"), Buffer.from([0xff, 0xfe]));
    await expect(fileState(folder).read("a.json")).rejects.toMatchObject({ code: "unusable_storage" });
  });
});

describe.skipIf(onWindows)("access", () => {
  test("is limited to the owner", async () => {
    await fileState(folder).update("pins/a.json", () => "a");
    expect(mode(folder)).toBe(0o700);
    expect(mode(path.join(folder, "pins"))).toBe(0o700);
    expect(mode(path.join(folder, "pins", "a.json"))).toBe(0o600);
  });

  test.each([
    ["the folder", "", 0o702],
    ["a file", "a.json", 0o602],
  ])("of other users for writing to %s is refused with the command that removes it", async (_what, name, given) => {
    const state = fileState(folder);
    await state.update("a.json", () => "a");
    chmodSync(path.join(folder, name), given);
    const error = expect.objectContaining({
      code: "unusable_storage",
      message: expect.stringContaining(`mode 0${given.toString(8)}`) as string,
    }) as Error;
    await expect(state.read("a.json")).rejects.toEqual(error);
    await expect(state.update("a.json", () => "b")).rejects.toEqual(error);
    await expect(state.read("a.json")).rejects.toThrow(`chmod go-w ${JSON.stringify(path.join(folder, name))}`);
  });

  test.each(["", "a.json"])('of another owner of "%s" is refused', async (name) => {
    await fileState(folder).update("a.json", () => "a");
    const own = process.getuid!();
    if (own === 0) chownSync(path.join(folder, name), 4711, 4711);
    // Without the rights of root, the test expects another user than the one who created the files.
    const state = fileState(folder, { uid: own === 0 ? 0 : own + 1 });
    await expect(state.read("a.json")).rejects.toThrow("it belongs to another user (uid ");
  });

  test("through a symbolic link in the folder is refused", async () => {
    const state = fileState(folder);
    await state.update("a.json", () => "a");
    writeFileSync(path.join(parent, "project.json"), "project");
    symlinkSync(path.join(parent, "project.json"), path.join(folder, "policy.json"));
    mkdirSync(path.join(parent, "other"), { mode: 0o700 });
    symlinkSync(path.join(parent, "other"), path.join(folder, "pins"));
    await expect(state.read("policy.json")).rejects.toThrow("it is a symbolic link");
    await expect(state.update("policy.json", () => "x")).rejects.toThrow("it is a symbolic link");
    await expect(state.update("pins/a.json", () => "x")).rejects.toThrow("it is a symbolic link");
    expect(readFileSync(path.join(parent, "project.json"), "utf8")).toBe("project");
  });

  test("through a symbolic link to the whole folder is possible", async () => {
    mkdirSync(path.join(parent, "real"), { mode: 0o700 });
    symlinkSync(path.join(parent, "real"), folder);
    await fileState(folder).update("a.json", () => "a");
    expect(readFileSync(path.join(parent, "real", "a.json"), "utf8")).toBe("a");
  });
});

describe("several processes", () => {
  let built: string;
  let program: string;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    built = mkdtempSync(path.join(tmpdir(), "mcparley host program "));
    program = path.join(built, "program.mjs");
    await build({
      stdin: {
        contents: `
          import fs from "node:fs/promises";
          import { syncBuiltinESMExports } from "node:module";
          import { fileState } from "./file-state.ts";
          const crash = () => process.kill(process.pid, "SIGKILL");
          const [folder, task] = process.argv.slice(2);
          const state = fileState(folder);
          if (task === "count") {
            for (let i = 0; i < 20; i++) await state.update("count", (before) => String(Number(before ?? 0) + 1));
          } else if (task === "crash in the change") {
            await state.update("count", crash);
          } else if (task === "crash before the rename") {
            await state.read("count");
            const { rename } = fs;
            fs.rename = (from, to) => (to.endsWith("count") ? crash() : rename(from, to));
            syncBuiltinESMExports();
            await state.update("count", () => "new");
          }`,
        resolveDir: fileURLToPath(new URL(".", import.meta.url)),
        loader: "ts",
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
      banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    });
  });
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(built, { recursive: true, force: true });
  });

  async function run(task: string): Promise<number | null> {
    const child = spawn(process.execPath, [program, folder, task], { stdio: ["ignore", "inherit", "inherit"] });
    children.add(child);
    const [code] = (await once(child, "exit")) as [number | null];
    children.delete(child);
    return code;
  }

  test("that update at once lose nothing", async () => {
    const state = fileState(folder);
    const own = Array.from({ length: 20 }, () => state.update("count", (before) => String(Number(before ?? 0) + 1)));
    const other = fileState(folder);
    const more = Array.from({ length: 20 }, () => other.update("count", (before) => String(Number(before ?? 0) + 1)));
    expect(await Promise.all([run("count"), run("count")])).toEqual([0, 0]);
    await Promise.all([...own, ...more]);
    expect(await state.read("count")).toBe("80");
    expect(files()).toEqual(["count"]);
  });

  test.each([
    ["in the change", 0],
    ["before the rename", 1],
  ])("keep the old text, and can write, after one of them died %s", async (when, temporaryFiles) => {
    await fileState(folder).update("count", () => "old");
    expect(await run(`crash ${when}`)).toBeNull();
    expect(files().filter((name) => name.endsWith(".tmp"))).toHaveLength(temporaryFiles);
    let now = Date.now();
    const clock = {
      now: () => now,
      setTimeout: (fn: () => void, ms: number) => {
        now += ms;
        return setImmediate(fn);
      },
      clearTimeout: (handle: unknown) => clearImmediate(handle as NodeJS.Immediate),
    };
    const state = fileState(folder, { clock });
    expect(await state.read("count")).toBe("old");
    const before = now;
    await state.update("count", (text) => `${text} and new`);
    // It waited until the lease of the dead process expired.
    expect(now).toBeGreaterThan(before);
    expect(await state.read("count")).toBe("old and new");
    expect(files()).toEqual(["count"]);
  });
});

test("a process that was suspended for longer than its lease does not overwrite newer text", async () => {
  let now = Date.now();
  const clock = { now: () => now, setTimeout: (fn: () => void) => setImmediate(fn), clearTimeout: () => {} };
  const slow = fileState(folder, { clock });
  const update = slow.update("a.json", () => {
    // The time of a sleep of the machine passes between the reading and the writing.
    now += 60_000;
    return "stale";
  });
  await expect(update).rejects.toThrow("this process was suspended");
  expect(files()).toEqual([]);
});
