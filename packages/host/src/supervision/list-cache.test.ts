import { LocalError } from "mcparley";
import type { CommandTarget } from "mcparley/client";
import { flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { memoryState, type StateStorage } from "../state/state-storage.ts";
import { listCache } from "./known-lists.ts";
import { resolveEntry, type ServerSettings } from "../servers/server-entry.ts";
import type { PassedOptions } from "./supervisor-setting.ts";
import { recordedServer } from "./testing/recorded-server.ts";
import { scriptedServer, toolNamed, toolsPeer } from "./testing/scripted-server.ts";

/** A storage whose content a test can see. */
function visibleStorage(): StateStorage & { texts: Map<string, string>; writes: number } {
  const texts = new Map<string, string>();
  const storage = {
    texts,
    writes: 0,
    read: (name: string) => Promise.resolve(texts.get(name)),
    update(name: string, change: (before: string | undefined) => string | undefined) {
      storage.writes++;
      const text = change(texts.get(name));
      if (text === undefined) texts.delete(name);
      else texts.set(name, text);
      return Promise.resolve();
    },
    waitForUpdates: () => Promise.resolve(),
  };
  return storage;
}

const entry: CommandTarget = {
  command: "notes-server",
  args: ["--fast"],
  env: { NOTES_TOKEN: "secret-of-env" },
};

/** A supervised program. A server in this process answers in its place, or nothing if it is down. */
function program(storage: StateStorage, isUp = true) {
  const target = scriptedServer(() => {
    if (!isUp) throw new LocalError("unreachable", "The server is down.");
    return toolsPeer(() => [toolNamed("add")]);
  });
  return recordedServer({ entry, storage, prepareTarget: () => target });
}

async function filled(): Promise<ReturnType<typeof visibleStorage>> {
  const storage = visibleStorage();
  const { server } = program(storage);
  await server.connect();
  await server.close();
  return storage;
}

describe("the stored lists", () => {
  test("are usable while the server is down", async () => {
    const storage = await filled();
    const { server, lists } = program(storage, false);
    await server.waitForAttempt();
    expect(server.state).toBe("idle");
    expect(server.lists).toMatchObject({ isCached: true, listedAt: 1_000_000, tools: [{ name: "add" }] });
    expect(lists).toHaveLength(1);
    await expect(server.connect()).rejects.toThrow("down");
    expect(server.lists?.tools).toHaveLength(1);
    await server.close();
  });

  test("cause no event if the server sends the same lists", async () => {
    const storage = await filled();
    const { server, lists } = program(storage);
    await server.waitForAttempt();
    await server.connect();
    expect(server.lists?.isCached).toBe(false);
    expect(lists).toHaveLength(1);
    expect(storage.writes).toBe(1);
    await server.close();
  });

  test("contain no secret, in the name or in the content", async () => {
    const storage = await filled();
    const [[name, text] = []] = storage.texts;
    expect(name).toMatch(/^lists-[0-9a-f]{32}\.json$/);
    expect(text).toContain('"add"');
    expect(text).not.toContain("secret-of-env");
  });

  test.each([
    ["no JSON", "{", "could not be read"],
    ["another version", '{"version":2}', "could not be read"],
    ["a list that is no list", '{"version":1,"listedAt":1,"tools":{}}', "could not be read"],
    ["no object", "null", "could not be read"],
  ])("with %s are ignored with an error, and replaced", async (_, text, message) => {
    const storage = await filled();
    const [name = ""] = storage.texts.keys();
    storage.texts.set(name, text);
    const { server, errors } = program(storage);
    await server.waitForAttempt();
    expect(server.lists).toBeUndefined();
    expect(errors.map(String).join()).toContain(message);
    await server.connect();
    await server.close();
    expect(storage.texts.get(name)).toContain('"add"');
  });

  test("with entries of wrong types have only the others", async () => {
    const storage = await filled();
    const [[name, text] = []] = storage.texts;
    const stored = JSON.parse(text!) as { tools: unknown[] };
    storage.texts.set(name!, JSON.stringify({ ...stored, tools: [...stored.tools, { name: 5 }, null] }));
    const { server, errors } = program(storage);
    await server.waitForAttempt();
    expect(server.lists?.tools).toHaveLength(1);
    expect(errors.map(String).join()).toContain("2 entries of the list of tools were left out");
    await server.close();
  });

  test("errors of the storage are reported, and the server works", async () => {
    const failing: StateStorage = {
      read: () => Promise.reject(new Error("disk")),
      update: () => Promise.reject(new Error("disk")),
      waitForUpdates: () => Promise.resolve(),
    };
    const { server, errors } = program(failing);
    await server.connect();
    await server.close();
    expect(errors.map(({ message }) => message)).toEqual([
      'The stored lists of server "notes" could not be read, and are ignored.',
      'The stored lists of server "notes" could not be written.',
    ]);
  });

  test("of a server in this process are not stored", async () => {
    const storage = visibleStorage();
    const { server } = recordedServer({ entry: scriptedServer(() => toolsPeer(() => [])), storage });
    await server.connect();
    await server.close();
    expect(storage.writes).toBe(0);
  });

  test("of a disabled server are shown after enable()", async () => {
    const storage = await filled();
    const { server, lists } = recordedServer({ entry: { target: entry, disabled: true }, storage });
    await server.waitForAttempt();
    expect(server.lists).toBeUndefined();
    expect(lists).toEqual([]);
    server.enable();
    expect(server.lists?.tools).toHaveLength(1);
    await server.close();
  });
});

describe("the identity of a server", () => {
  async function nameOf(
    name: string,
    target: Parameters<typeof resolveEntry>[1],
    connectOptions: PassedOptions = {},
  ): Promise<string | undefined> {
    const storage = visibleStorage();
    const cache = listCache({ entry: resolveEntry(name, target), connectOptions }, storage, () => {});
    await cache.write({ tools: [], prompts: [], resources: [], templates: [], listedAt: 0 });
    await flushPromises();
    return storage.texts.keys().next().value;
  }

  test("depends on the name, the command, the URL and the names of headers and variables", async () => {
    const names = await Promise.all([
      nameOf("a", { command: "x" }),
      nameOf("b", { command: "x" }),
      nameOf("a", { command: "x", args: ["y"] }),
      nameOf("a", { command: "x", cwd: "/y" }),
      nameOf("a", { command: "x", env: { Y: "1" } }),
      nameOf("a", "https://example.com/x"),
      nameOf("a", { url: "https://example.com/x", headers: { y: "1" } }),
    ]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("depends on the capabilities that the client declares", async () => {
    const elicit = () => ({ action: "cancel" }) as const;
    const sample = () => Promise.reject(new Error("No model."));
    const options: PassedOptions[] = [
      {},
      { elicit },
      { elicit, elicitModes: ["form"] },
      { sample },
      { sample, sampleTools: true },
      { sample, sampleContext: true },
      { roots: [] },
      { revision: "2025-11-25" },
    ];
    const names = await Promise.all(options.map((option) => nameOf("a", { command: "x" }, option)));
    expect(new Set(names).size).toBe(options.length);
    expect(await nameOf("a", { command: "x" }, { elicit, elicitModes: ["form", "url"] })).toBe(names[1]);
  });

  test("does not depend on the values of headers and variables", async () => {
    expect(await nameOf("a", { command: "x", env: { Y: "1" } })).toBe(
      await nameOf("a", { command: "x", env: { Y: "2" } }),
    );
  });
});

test("a client with other capabilities neither compares nor replaces the lists", async () => {
  const storage = visibleStorage();
  /** A server that lists a tool with a form only to clients that can show one. */
  const open = (canAsk: boolean) => {
    const tools = canAsk ? [toolNamed("add"), toolNamed("ask")] : [toolNamed("add")];
    const target = scriptedServer(() => toolsPeer(() => tools));
    const connectOptions: PassedOptions = canAsk ? { elicit: () => ({ action: "cancel" }) } : {};
    return recordedServer({ entry, storage, connectOptions, prepareTarget: () => target });
  };
  for (const [canAsk, counts] of [
    [true, [2]],
    [false, [1]],
    [true, [2]],
    [false, [1]],
  ] as const) {
    const { server, lists } = open(canAsk);
    await server.connect();
    await server.close();
    expect(lists.map((list) => list?.tools.length)).toEqual(counts);
  }
});

test("the default storage in memory works", async () => {
  const storage = memoryState();
  const first = program(storage);
  await first.server.connect();
  await first.server.close();
  const second = program(storage, false);
  await second.server.waitForAttempt();
  expect(second.server.lists?.tools).toHaveLength(1);
  await second.server.close();
});

test("the stored lists of a configured entry are not those of another entry, and their name does not contain its digest", async () => {
  const storage = visibleStorage();
  const configured = (digest: string): ServerSettings => ({
    target: entry,
    entry: { digest, kind: "command", file: "/p/mcp.json" },
  });
  const open = (digest: string) => {
    const target = scriptedServer(() => toolsPeer(() => [toolNamed("add")]));
    return recordedServer({ entry: configured(digest), storage, prepareTarget: () => target }).server;
  };
  const [one, other] = ["1".repeat(64), "2".repeat(64)] as const;
  const first = open(one);
  await first.connect();
  await first.close();
  for (const digest of [one, other]) {
    const server = open(digest);
    await server.waitForAttempt();
    expect(server.lists?.tools.length).toBe(digest === one ? 1 : undefined);
    await server.close();
  }
  expect([...storage.texts.keys()].join()).not.toContain(one.slice(0, 32));
});

test.each(["", "1".repeat(63), undefined as never])("an entry with the digest %j is refused", (digest) => {
  const settings: ServerSettings = { target: entry, entry: { digest, kind: "command", file: "/p/mcp.json" } };
  expect(() => resolveEntry("notes", settings)).toThrow("`entry.digest` must be a SHA-256 of 64 hexadecimal digits.");
});
