import type * as FileSystem from "node:fs/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openFileStore } from "../file-store.ts";
import { fileCredentials } from "./file-credentials.ts";

/** The code with which the operating system refuses to write. Undefined: it does not. */
let failure: string | undefined;
/** Whether files that exist can be written. */
let areFilesWritable: boolean;

vi.mock("node:fs/promises", async (importOriginal) => {
  const real = await importOriginal<typeof FileSystem>();
  const refuse = (): void => {
    if (failure !== undefined) throw Object.assign(new Error(`${failure}: refused`), { code: failure });
  };
  return {
    ...real,
    open: async (...parameters: Parameters<typeof real.open>) => {
      const [, flags] = parameters;
      if (flags === "wx" || (typeof flags === "number" && flags !== 0 && !areFilesWritable)) refuse();
      return real.open(...parameters);
    },
    writeFile: async (...parameters: Parameters<typeof real.writeFile>) => (refuse(), real.writeFile(...parameters)),
    mkdir: async (...parameters: Parameters<typeof real.mkdir>) => {
      if (!(await real.stat(String(parameters[0])).catch(() => undefined))) refuse();
      return real.mkdir(...parameters);
    },
  };
});

let parent: string;
let folder: string;
beforeEach(() => {
  failure = undefined;
  areFilesWritable = false;
  parent = mkdtempSync(path.join(tmpdir(), "mcparley-unwritable-"));
  folder = path.join(parent, "credentials");
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

describe.each([
  ["EROFS", "its file system is read-only. Make it writable"],
  ["EACCES", "this user cannot write there. Restore the access of its owner: chmod u+rwX"],
  ["EPERM", "the operating system does not permit to write there."],
  ["ENOSPC", "its disk is full. Free space on it"],
  ["EDQUOT", "the disk quota of its user is used up. Free space"],
])("a folder that cannot be written because of %s", (code, reason) => {
  const refusal = { code: "unusable_storage", message: expect.stringContaining(`${JSON.stringify("F")}: ${reason}`) };
  const message = (error: unknown): unknown => {
    const { code: errorCode, message: text } = error as { code: string; message: string };
    return { code: errorCode, message: text.replace(JSON.stringify(folder), JSON.stringify("F")) };
  };

  test("is read, and each write names the folder, the reason and the cure", async () => {
    await fileCredentials(folder).compareAndSet("k", undefined, "v");
    failure = code;
    areFilesWritable = code === "ENOSPC" || code === "EDQUOT";
    const storage = fileCredentials(folder);
    expect(await storage.get("k")).toBe("v");
    expect(await storage.get("other")).toBeUndefined();
    if (areFilesWritable) return;
    expect(await storage.compareAndSet("k", "v", "w").catch(message)).toEqual(refusal);
    expect(await storage.exclusively("k", async () => {}).catch(message)).toEqual(refusal);
    failure = undefined;
    expect(await storage.compareAndSet("k", "v", "w")).toBe(true);
  });

  test("has no values if it is empty or missing", async () => {
    failure = code;
    expect(await fileCredentials(folder).get("k")).toBeUndefined();
    expect(await fileCredentials(folder).compareAndSet("k", undefined, "v").catch(message)).toEqual(refusal);
    expect(await openFileStore(folder, {}).get("k")).toBeUndefined();
  });

  test("is read if its last file was replaced by none", async () => {
    await fileCredentials(folder).compareAndSet("k", undefined, "v");
    failure = code;
    areFilesWritable = true;
    expect(await fileCredentials(folder).compareAndSet("k", "v", "w")).toBe(true);
    expect(await fileCredentials(folder).get("k")).toBe("w");
    expect(await fileCredentials(folder).compareAndSet("k", "w", "x").catch(message)).toEqual(refusal);
    failure = undefined;
    expect(await fileCredentials(folder).compareAndSet("k", "w", "x")).toBe(true);
    expect(await fileCredentials(folder).get("k")).toBe("x");
  });
});

test("a store that cannot be written is written again as soon as it can", async () => {
  const store = openFileStore(folder, {});
  await store.set("k", "v", { ttl: 1_000_000 });
  await store.close();
  failure = "EROFS";
  const reader = openFileStore(folder, {});
  expect(await reader.get("k")).toBe("v");
  await expect(reader.set("k", "w", { ttl: 1_000_000 })).rejects.toMatchObject({ code: "store_unavailable" });
  expect(await reader.get("k")).toBe("v");
  failure = undefined;
  await reader.set("k", "w", { ttl: 1_000_000 });
  expect(await reader.get("k")).toBe("w");
  await reader.close();
});
