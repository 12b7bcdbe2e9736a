import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testStore } from "../../../../tests/store/store-behaviour.ts";
import type { Store } from "../store/store.ts";
import { fileStore } from "./file-store.ts";
import { SharedLog } from "./shared-log.ts";
import { StoreLog } from "./store-log.ts";

const ttl = 60_000;
let folder: string;
let open: Store[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "mcparley-store-"));
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((store) => store.close()));
  rmSync(folder, { recursive: true, force: true });
});

function opened(options?: Parameters<typeof fileStore>[1]): Store {
  const store = fileStore(path.join(folder, "state"), options);
  open.push(store);
  return store;
}

const files = (): string[] => readdirSync(path.join(folder, "state")).toSorted();
const logFile = (): string => path.join(folder, "state", files().at(-1)!);

testStore("files", async () => {
  let now = 1_000_000;
  const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} };
  const pass = async (ms: number): Promise<void> => {
    now += ms;
  };
  return { store: opened({ clock }), pass };
});

describe("persistence", () => {
  test("values and logs are stored for the next store, with their lifetimes", async () => {
    let now = 1000;
    const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} };
    const first = opened({ clock });
    await first.set("k", "käse\n\ud800", { ttl });
    const position = await first.append("log", "a", { ttl, maxLength: 10 });
    await first.append("log", "b", { ttl, maxLength: 10 });
    await first.close();
    const second = opened({ clock });
    expect(await second.get("k")).toBe("käse\n\ud800");
    expect((await second.readFrom("log", position, 10)).map(({ value }) => value)).toEqual(["b"]);
    now += ttl;
    expect(await second.get("k")).toBeUndefined();
    expect(await second.readFrom("log", undefined, 10)).toEqual([]);
  });

  test("only its owner may read it", async () => {
    await opened().set("k", "v", { ttl });
    expect(statSync(path.join(folder, "state")).mode & 0o777).toBe(0o700);
    expect(statSync(logFile()).mode & 0o777).toBe(0o600);
  });

  test("after a write that was cut off at any byte, all acknowledged changes are present, and writes work", async () => {
    const first = opened();
    await first.set("a", "1", { ttl });
    const whole = statSync(logFile()).size;
    await first.set("b", "2", { ttl });
    await first.close();
    const bytes = readFileSync(logFile());
    // The last byte is the newline. Without it the line is complete, and a later write makes it valid.
    for (let end = whole; end < bytes.length - 1; end++) {
      writeFileSync(logFile(), bytes.subarray(0, end));
      const store = opened();
      expect(await store.get("a")).toBe("1");
      expect(await store.get("b")).toBeUndefined();
      // The first change after the broken line is also stored.
      await Promise.all([store.set("c", "2", { ttl }), store.set("c", "3", { ttl })]);
      await store.close();
      const again = opened();
      expect(await again.get("a")).toBe("1");
      expect(await again.get("c")).toBe("3");
      await again.close();
    }
  });

  test("a log that has grown is rewritten without expired values, and another store continues with it", async () => {
    const writer = opened();
    const reader = opened();
    await writer.append("log", "first", { ttl, maxLength: 10 });
    await writer.set("kept", "yes", { ttl });
    expect(await reader.get("kept")).toBe("yes");
    const large = "x".repeat(100_000);
    for (let round = 0; round < 24; round++) await writer.set("large", `${round}${large}`, { ttl });
    expect(files()).toEqual(["store.3.log"]);
    expect(statSync(logFile()).size).toBeLessThan(1_048_576);
    expect(await reader.get("kept")).toBe("yes");
    expect((await reader.get("large"))?.slice(0, 2)).toBe("23");
    expect((await reader.readFrom("log", undefined, 10)).map(({ value }) => value)).toEqual(["first"]);
    expect(await reader.compareAndSet("kept", "yes", "still", { ttl })).toBe(true);
    expect(await writer.get("kept")).toBe("still");
  });

  test("a change after a seal is written to the next file", async () => {
    const store = opened();
    await store.set("a", "1", { ttl });
    writeFileSync(logFile(), '\n{"op":"seal"}\n', { flag: "a" });
    await store.set("b", "2", { ttl });
    expect(await store.get("a")).toBe("1");
    expect(await store.get("b")).toBe("2");
    expect(files()).toEqual(["store.2.log"]);
    const lines = readFileSync(logFile(), "utf8");
    writeFileSync(
      logFile(),
      '\n{"op":"seal"}\n{"op":"set","id":["x",1],"now":1,"key":"b","value":"void","ttl":9e15}\n',
      {
        flag: "a",
      },
    );
    expect(await store.get("b")).toBe("2");
    expect(lines).toContain('"b"');
  });
});

test("a change that another process seals out is written to the next file", async () => {
  const log = new StoreLog(path.join(folder, "state"));
  const append = log.append.bind(log);
  let isFirst = true;
  log.append = async (lines, durable) => {
    if (isFirst) await append(['{"op":"seal"}'], true);
    isFirst = false;
    await append(lines, durable);
  };
  const clock = { now: () => 1000, setTimeout: () => 0, clearTimeout: () => {} };
  const shared = new SharedLog(log, { clock, maxBytes: 1e6 });
  await Promise.all([
    shared.write({ op: "set", now: 1000, key: "a", value: "1", ttl }),
    shared.write({ op: "compare", now: 1000, key: "b", expected: undefined, value: "2", ttl }),
  ]);
  expect(await shared.read((tables) => [tables.get("a", 1000), tables.get("b", 1000)])).toEqual(["1", "2"]);
  expect(files()).toEqual(["store.2.log"]);
  await shared.close();
});

describe("limits and failures", () => {
  test("over its limit writes are refused, and existing values stay", async () => {
    const store = opened({ maxBytes: 3000 });
    await store.set("a", "x".repeat(3000), { ttl });
    await expect(store.set("b", "y", { ttl })).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/more than 3000 bytes. Set a higher maxBytes/) as string,
    });
    expect((await store.get("a"))?.length).toBe(3000);
    expect(await store.get("b")).toBeUndefined();
  });

  test("the error names a folder that cannot be created", async () => {
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    const store = fileStore(path.join(file, "state"));
    await expect(store.get("k")).rejects.toThrow(`The store in ${JSON.stringify(path.join(file, "state"))}`);
    await expect(store.set("k", "v", { ttl })).rejects.toThrow("cannot be used");
    await store.close();
    expect(() => fileStore("")).toThrow('got ""');
  });

  test("a closed store rejects operations", async () => {
    const store = opened();
    const last = store.set("k", "v", { ttl });
    await store.close();
    await last;
    await expect(store.get("k")).rejects.toMatchObject({ code: "closed" });
  });
});

describe("several processes", () => {
  const script = path.join(tmpdir(), `mcparley-store-${process.pid}.mjs`);
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    const entry = fileURLToPath(new URL("./file-store.ts", import.meta.url));
    const contents = `
      import { fileStore } from ${JSON.stringify(entry)};
      const [, , what, folder] = process.argv;
      const store = fileStore(folder);
      const ttl = 60000;
      if (what === "write") {
        for (let n = 0; ; n++) {
          await Promise.all([0, 1, 2].map(async (part) => {
            await store.set(n + "." + part, "v".repeat(20000), { ttl });
            process.stdout.write(n + "." + part + "\\n");
          }));
        }
      }
      if (what === "count") {
        for (let done = 0; done < 50; ) {
          const now = await store.get("count");
          if (await store.compareAndSet("count", now, String(Number(now ?? 0) + 1), { ttl })) done++;
        }
      }
      if (what === "tell") await store.publish("c", "hello");
      await store.close();
    `;
    const resolveDir = path.dirname(entry);
    await build({
      stdin: { contents, resolveDir, loader: "ts" },
      outfile: script,
      bundle: true,
      platform: "node",
      format: "esm",
    });
  });
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
  });
  afterAll(() => rmSync(script, { force: true }));

  function start(what: string): ChildProcess {
    const child = spawn(process.execPath, [script, what, path.join(folder, "state")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return child;
  }

  test("a process that is killed while it writes leaves all acknowledged changes", async () => {
    const child = start("write");
    let output = "";
    child.stdout!.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      // Long enough for the log to have been rewritten a few times.
      if (output.split("\n").length > 150) child.kill("SIGKILL");
    });
    await once(child, "close");
    const acknowledged = output.split("\n").slice(0, -1);
    expect(acknowledged.length).toBeGreaterThan(150 - 1);
    const store = opened();
    for (const key of acknowledged) expect(await store.get(key), key).toHaveLength(20_000);
    await store.set("after", "works", { ttl });
    expect(await store.get("after")).toBe("works");
  });

  test("of changes in several processes that expect the same value, one succeeds", async () => {
    await Promise.all([1, 2, 3].map(() => once(start("count"), "close")));
    expect(await opened().get("count")).toBe("150");
  });

  test("messages of another process arrive", async () => {
    const store = opened();
    const message = new Promise<string>((resolve) => void store.subscribe("c", resolve));
    await store.get("subscribed");
    start("tell");
    expect(await message).toBe("hello");
  });
});
