import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KeyStorage } from "./credential-key.ts";
import { fileCredentials } from "./file-credentials.ts";

const secret = "refresh-token-4711";
let parent: string;
let folder: string;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), "mcparley-credentials-"));
  folder = path.join(parent, "credentials");
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const mode = (file: string): number => statSync(file).mode & 0o777;
/** Returns the contents of all files in the folder as one text. */
const contents = (): string =>
  readdirSync(folder)
    .map((name) => readFileSync(path.join(folder, name), "latin1"))
    .join("\n");

describe("values", () => {
  test("are stored for the next process that opens the folder", async () => {
    const first = fileCredentials(folder);
    expect(await first.compareAndSet("k", undefined, "käse")).toBe(true);
    expect(await first.compareAndSet("other", undefined, "x")).toBe(true);
    expect(await fileCredentials(folder).get("k")).toBe("käse");
  });

  test("change only if the current value is the expected one", async () => {
    const storage = fileCredentials(folder);
    expect(await storage.compareAndSet("k", "a", "b")).toBe(false);
    expect(await storage.compareAndSet("k", undefined, "a")).toBe(true);
    expect(await storage.compareAndSet("k", undefined, "b")).toBe(false);
    expect(await storage.compareAndSet("k", "a", "b")).toBe(true);
    expect(await storage.get("k")).toBe("b");
    expect(await storage.compareAndSet("k", "b", undefined)).toBe(true);
    expect(await storage.get("k")).toBeUndefined();
  });

  test("are deleted after 400 days without a renewal", async () => {
    let now = 1_000_000;
    const storage = fileCredentials(folder, { clock: { now: () => now, setTimeout: () => 0, clearTimeout: () => {} } });
    await storage.compareAndSet("k", undefined, "v");
    now += 400 * 86_400_000 - 1;
    expect(await storage.get("k")).toBe("v");
    now += 1;
    expect(await storage.get("k")).toBeUndefined();
  });

  test("reading a missing folder creates nothing", async () => {
    expect(await fileCredentials(folder).get("k")).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
  });
});

describe("the files on the disk", () => {
  test("contain neither values nor keys in plain text, and are accessible to their owner only", async () => {
    const storage = fileCredentials(folder);
    await storage.compareAndSet("https://issuer.example", undefined, secret);
    expect(contents()).not.toContain(secret);
    expect(contents()).not.toContain("issuer");
    expect(mode(folder)).toBe(0o700);
    for (const name of readdirSync(folder)) expect(mode(path.join(folder, name)), name).toBe(0o600);
  });

  test("contain no replaced or deleted value", async () => {
    const storage = fileCredentials(folder);
    const sealedValues = (): string[] => contents().match(/"value":"[^"]+"/g) ?? [];
    await storage.compareAndSet("k", undefined, "first");
    const [first] = sealedValues();
    await storage.compareAndSet("k", "first", "second");
    expect(first).toBeDefined();
    expect(sealedValues()).toHaveLength(1);
    expect(contents()).not.toContain(first);
    await storage.compareAndSet("k", "second", undefined);
    expect(sealedValues()).toEqual([]);
  });

  test.each([
    ["the folder", "", 0o750],
    ["a file in it", "key.json", 0o644],
    ["a file in it, for writing", "key.json", 0o602],
  ])("is refused if other users have access to %s", async (_what, name, given) => {
    const storage = fileCredentials(folder);
    await storage.compareAndSet("k", undefined, "v");
    const file = path.join(folder, name);
    chmodSync(file, given);
    const refusal = {
      code: "unusable_storage",
      message: expect.stringContaining(`chmod go= ${JSON.stringify(path.join(folder, name))}`) as string,
    };
    await expect(storage.get("k")).rejects.toMatchObject(refusal);
    await expect(storage.compareAndSet("k", "v", "w")).rejects.toMatchObject(refusal);
    await expect(storage.exclusively("k", async () => {})).rejects.toMatchObject(refusal);
    chmodSync(file, name === "" ? 0o700 : 0o600);
    expect(await storage.get("k")).toBe("v");
  });

  test("a folder that is a file is refused, and the error names it", async () => {
    writeFileSync(folder, "");
    await expect(fileCredentials(folder).get("k")).rejects.toMatchObject({ code: "unusable_storage" });
    await expect(fileCredentials(path.join(folder, "deeper")).get("k")).rejects.toThrow(folder);
    expect(() => fileCredentials("")).toThrow('got ""');
  });

  test("an altered value, or one that was moved to another key, is refused", async () => {
    const storage = fileCredentials(folder);
    await storage.compareAndSet("a", undefined, "1");
    await storage.compareAndSet("b", undefined, "2");
    const file = path.join(
      folder,
      readdirSync(folder).find((name) => name.endsWith(".log"))!,
    );
    const whole = readFileSync(file, "utf8");
    const [a = "", b = ""] = [...whole.matchAll(/"value":"([^"]+)"/g)].map(([, value = ""]) => value);
    writeFileSync(file, whole.replace(a, b));
    await expect(storage.get("a")).rejects.toThrow("altered");
    writeFileSync(file, whole.replace(a, `${a.startsWith("A") ? "B" : "A"}${a.slice(1)}`));
    await expect(storage.get("a")).rejects.toThrow("altered");
    writeFileSync(file, whole.replace(a, "AAAA"));
    await expect(storage.get("a")).rejects.toThrow("altered");
    expect(await storage.get("b")).toBe("2");
  });
});

describe("the key", () => {
  const key = new Uint8Array(32).fill(7);

  test("may be passed, and a different one is refused", async () => {
    await fileCredentials(folder, { key }).compareAndSet("k", undefined, "v");
    expect(await fileCredentials(folder, { key }).get("k")).toBe("v");
    const other = fileCredentials(folder, { key: new Uint8Array(32).fill(8) });
    await expect(other.get("k")).rejects.toMatchObject({
      code: "unusable_storage",
      message: expect.stringContaining("another key") as string,
    });
    await expect(other.compareAndSet("k", undefined, "w")).rejects.toThrow("another key");
    await expect(fileCredentials(folder).get("k")).rejects.toThrow("encrypted with a key. Pass it");
    expect(contents()).not.toContain(Buffer.from(key).toString("base64url"));
    await expect(
      fileCredentials(path.join(parent, "2"), { key: key.subarray(1) }).compareAndSet("k", undefined, "v"),
    ).rejects.toThrow("32 bytes; got 31");
  });

  test("may be derived from a passphrase, in any encoding of its letters", async () => {
    await fileCredentials(folder, { passphrase: "p\u00e4ss" }).compareAndSet("k", undefined, "v");
    let asked = 0;
    const passphrase = async (): Promise<string> => `pa\u0308ss${++asked === 1 ? "" : "?"}`;
    const storage = fileCredentials(folder, { passphrase });
    expect(await storage.get("k")).toBe("v");
    expect(await storage.get("k")).toBe("v");
    expect(asked).toBe(1);
    await expect(fileCredentials(folder, { passphrase: "pass" }).get("k")).rejects.toThrow("another passphrase");
    await expect(fileCredentials(folder).get("k")).rejects.toThrow("encrypted with a passphrase. Pass it");
    // An attacker with write access to the file must not be able to lower the cost of the key derivation.
    const file = path.join(folder, "key.json");
    writeFileSync(file, readFileSync(file, "utf8").replace('"cost":131072', '"cost":2'));
    await expect(fileCredentials(folder, { passphrase: "pa\u0308ss" }).get("k")).rejects.toThrow("damaged");
  });

  test("may be stored elsewhere, and is created there once", async () => {
    const kept: Uint8Array[] = [];
    const keeper: KeyStorage = {
      get: async () => kept.at(-1),
      set: async (fresh) => void kept.push(fresh),
    };
    const [one, two] = [fileCredentials(folder, { key: keeper }), fileCredentials(folder, { key: keeper })];
    await Promise.all([one.compareAndSet("a", undefined, "1"), two.compareAndSet("b", undefined, "2")]);
    expect(await one.get("b")).toBe("2");
    expect(await two.get("a")).toBe("1");
    expect(kept.length).toBe(1);
    kept.length = 0;
    await expect(fileCredentials(folder, { key: keeper }).get("a")).rejects.toThrow("another key");
  });

  test("in a file is read again if the folder was replaced by another one", async () => {
    const storage = fileCredentials(folder);
    await storage.compareAndSet("k", undefined, "old");
    cpSync(folder, path.join(parent, "moved"), { recursive: true });
    rmSync(folder, { recursive: true });
    expect(await storage.get("k")).toBeUndefined();
    await storage.compareAndSet("k", undefined, "new");
    expect(await fileCredentials(folder).get("k")).toBe("new");
    expect(await fileCredentials(path.join(parent, "moved")).get("k")).toBe("old");
    writeFileSync(path.join(folder, "key.json"), "{");
    await expect(storage.get("k")).rejects.toThrow("damaged");
  });

  test("a folder that other users can access is refused", async () => {
    mkdirSync(folder, { mode: 0o777 });
    chmodSync(folder, 0o777);
    await expect(fileCredentials(folder).compareAndSet("k", undefined, "v")).rejects.toThrow("mode 0777");
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a folder whose parts do not belong together is refused", () => {
  const log = (): string =>
    path.join(
      folder,
      readdirSync(folder).find((name) => name.endsWith(".log"))!,
    );
  const refusal = (reason: string) => ({
    code: "unusable_storage",
    message: expect.stringContaining(reason) as string,
  });

  test.each<[what: string, damage: () => void, reason: string]>([
    ["without key.json", () => rmSync(path.join(folder, "key.json")), "its file key.json is missing"],
    ["with the key.json of another folder", () => useKeyOfOther(), "encrypted with another key"],
    ["without its log", () => rmSync(log()), "its log is damaged"],
    ["with an empty log", () => writeFileSync(log(), ""), "its log is damaged"],
    ["with a log of other bytes", () => writeFileSync(log(), Buffer.alloc(500, 0xfe)), "its log is damaged"],
    ["with a log of other lines", () => writeFileSync(log(), "<html>\n<body>\n"), "its log is damaged"],
  ])("%s", async (_what, damage, reason) => {
    await fileCredentials(folder).compareAndSet("k", undefined, "v");
    await fileCredentials(path.join(parent, "other")).compareAndSet("k", undefined, "other");
    damage();
    const storage = fileCredentials(folder);
    await expect(storage.get("k")).rejects.toMatchObject(refusal(reason));
    await expect(storage.compareAndSet("k", undefined, "w")).rejects.toMatchObject(refusal(reason));
    await expect(storage.exclusively("k", async () => {})).rejects.toMatchObject(refusal(reason));
  });

  function useKeyOfOther(): void {
    cpSync(path.join(parent, "other", "key.json"), path.join(folder, "key.json"));
  }
});

describe("several processes", () => {
  const script = path.join(tmpdir(), `mcparley-credentials-${process.pid}.mjs`);
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    const entry = fileURLToPath(new URL("./file-credentials.ts", import.meta.url));
    const body = `
      import { fileCredentials } from ${JSON.stringify(entry)};
      import { readFileSync, writeFileSync } from "node:fs";
      const [, , what, folder, file] = process.argv;
      const storage = fileCredentials(folder);
      if (what === "count") {
        for (let done = 0; done < 15; ) {
          const now = await storage.get("count");
          if (await storage.compareAndSet("count", now, String(Number(now ?? 0) + 1))) done++;
        }
      }
      if (what === "alone") {
        for (let done = 0; done < 5; done++) {
          await storage.exclusively("k", async () => {
            const now = Number(readFileSync(file, "utf8"));
            await new Promise((resolve) => setImmediate(resolve));
            writeFileSync(file, String(now + 1));
          });
        }
      }
      if (what === "hold") {
        await storage.exclusively("k", async () => {
          process.stdout.write("held");
          await new Promise((resolve) => process.stdin.once("data", resolve));
        });
        process.stdin.destroy();
      }
    `;
    await build({
      stdin: { contents: body, resolveDir: path.dirname(entry), loader: "ts" },
      outfile: script,
      bundle: true,
      platform: "node",
      format: "esm",
    });
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  afterAll(() => rmSync(script, { force: true }));

  function start(...args: string[]): ChildProcess {
    const child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    return child;
  }

  test("of changes in several processes that expect the same value, one succeeds; they create one key", async () => {
    const codes = await Promise.all([1, 2, 3].map(() => once(start("count", folder), "close")));
    expect(codes.map(([code]: unknown[]) => code)).toEqual([0, 0, 0]);
    expect(await fileCredentials(folder).get("count")).toBe("45");
  });

  test("work under one name runs in one process at a time", async () => {
    const file = path.join(parent, "number");
    writeFileSync(file, "0");
    await Promise.all([1, 2].map(() => once(start("alone", folder, file), "close")));
    expect(readFileSync(file, "utf8")).toBe("10");
  });

  test("waiting work starts when the lease is released, and another name does not wait", async () => {
    const holder = start("hold", folder);
    await once(holder.stdout!, "data");
    const storage = fileCredentials(folder);
    expect(await storage.exclusively("another", async () => "not held up")).toBe("not held up");
    let isIn = false;
    const waiting = storage.exclusively("k", async () => {
      isIn = true;
    });
    await storage.get("anything");
    expect(isIn).toBe(false);
    holder.stdin!.write("go on\n");
    await waiting;
    expect(isIn).toBe(true);
  });

  test("the lease of a killed process is acquired at once", async () => {
    const holder = start("hold", folder);
    await once(holder.stdout!, "data");
    holder.kill("SIGKILL");
    await once(holder, "close");
    const clock = { now: () => Date.now(), setTimeout: () => 0, clearTimeout: () => {} };
    expect(await fileCredentials(folder, { clock }).exclusively("k", async () => "free")).toBe("free");
  });

  test("an aborted wait ends at once with the reason of its signal, and the lease stays with its holder", async () => {
    const holder = start("hold", folder);
    await once(holder.stdout!, "data");
    const storage = fileCredentials(folder, {
      clock: { now: () => Date.now(), setTimeout: () => 0, clearTimeout: () => {} },
    });
    const controller = new AbortController();
    let runs = 0;
    const work = async (): Promise<number> => ++runs;
    const waiting = storage.exclusively("k", work, controller.signal);
    await storage.get("anything");
    controller.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(storage.exclusively("k", work, controller.signal)).rejects.toThrow("given up");
    const next = fileCredentials(folder).exclusively("k", work);
    expect(runs).toBe(0);
    holder.stdin!.write("go on\n");
    expect(await next).toBe(1);
  });

  test("the lease of a process on another machine is acquired after it has expired", async () => {
    const holder = start("hold", folder);
    await once(holder.stdout!, "data");
    holder.kill("SIGKILL");
    await once(holder, "close");
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".log"))) {
      const file = path.join(folder, name);
      const owner = new RegExp(` ${holder.pid} [^}]*?${hostname()}`, "g");
      const moved = readFileSync(file, "utf8").replace(owner, (text) => text.replace(hostname(), "another-machine"));
      expect(moved).toContain("another-machine");
      writeFileSync(file, moved);
    }
    let now = Date.now();
    const clock = {
      now: () => now,
      setTimeout: (fn: () => void, ms: number) => {
        now += ms;
        return setImmediate(fn);
      },
      clearTimeout: (handle: unknown) => clearImmediate(handle as NodeJS.Immediate),
    };
    const before = now;
    expect(await fileCredentials(folder, { clock }).exclusively("k", async () => now - before)).toBeGreaterThan(12_000);
  });
});

test("work that fails releases its lease, and its error is passed on", async () => {
  const storage = fileCredentials(folder);
  await expect(storage.exclusively("k", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await storage.exclusively("k", async () => "free")).toBe("free");
});

test("a lease is renewed as long as the work runs, and its release is published", async () => {
  let now = 1_000_000;
  const timers = new Map<number, () => void>();
  const clock = {
    now: () => now,
    setTimeout: (fn: () => void, ms: number) => {
      // Polling is disabled, so that only a notification can wake a waiting process.
      if (ms === 1_000) return undefined;
      if (ms !== 5_000) return setTimeout(fn, ms);
      timers.set(timers.size, fn);
      return undefined;
    },
    clearTimeout: (handle: unknown) => clearTimeout(handle as NodeJS.Timeout),
  };
  const storage = fileCredentials(folder, { clock });
  let finish = (): void => {};
  let renewals = 0;
  const held = storage.exclusively("k", () => new Promise<void>((resolve) => (finish = resolve)));
  await expect.poll(() => timers.size).toBeGreaterThan(0);
  // Far longer than the 15 seconds of a lease that is not renewed.
  for (let round = 0; round < 6; round++) {
    await expect.poll(() => timers.size).toBeGreaterThan(renewals);
    now += 5_000;
    timers.get(renewals++)!();
  }
  let isIn = false;
  const waiting = storage.exclusively("k", async () => {
    isIn = true;
  });
  await storage.get("anything");
  expect(isIn).toBe(false);
  finish();
  await Promise.all([held, waiting]);
  expect(isIn).toBe(true);
});
