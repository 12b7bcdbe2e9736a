import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type StoredChat, newChatId } from "./chat-file.ts";
import { ChatHistory, type HistorySurroundings, titleOf } from "./stored-chats.ts";

const uid = process.getuid?.();

interface Home {
  readonly folder: string;
  readonly surroundings: HistorySurroundings;
  readonly history: ChatHistory;
  readonly file: (id: string) => string;
}

async function home(options: Partial<HistorySurroundings> = {}): Promise<Home> {
  const base = await temporaryFolder();
  const surroundings = {
    env: { HOME: base, XDG_STATE_HOME: join(base, "state") },
    platform: "linux" as const,
    ...options,
  };
  const folder = join(base, "state/mcparley/chats");
  return { folder, surroundings, history: new ChatHistory(surroundings), file: (id) => join(folder, `${id}.json`) };
}

function conversation(text: string): object {
  return { version: 1, messages: [{ role: "user", content: text }], attachments: [] };
}

function chat(id: string, text = "Cancel order 7.", updatedAt = 2000): StoredChat {
  return {
    id,
    createdAt: 1000,
    updatedAt,
    title: text,
    model: "ollama/qwen3",
    targets: ["orders"],
    conversation: conversation(text),
  };
}

describe("a stored conversation", () => {
  test("is loaded by another process as it was saved", async () => {
    const { history, surroundings } = await home();
    const saved = chat(newChatId(), "Line 1\nLine 2 \u2028 “quoted”");
    expect(await history.save(saved)).toBe(saved.id);
    expect(await new ChatHistory(surroundings).load(saved.id.slice(0, 4))).toEqual(saved);
    expect(await new ChatHistory(surroundings).load("last")).toEqual(saved);
  });

  test("can have no model", async () => {
    const { history } = await home();
    const saved = { ...chat(newChatId()), model: undefined };
    await history.save(saved);
    expect(await history.load(saved.id)).toEqual(saved);
  });

  test.skipIf(uid === undefined)("is readable for its owner only, and so is its folder", async () => {
    const { history, folder, file } = await home();
    const id = await history.save(chat(newChatId()));
    expect([statSync(folder).mode & 0o777, statSync(file(id)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(folder)).toEqual([`${id}.json`]);
  });

  test("is replaced by later saves of the same process, also at the same time", async () => {
    const { history } = await home();
    const id = newChatId();
    const ids = await Promise.all([
      history.save(chat(id, "a")),
      history.save(chat(id, "b")),
      history.save(chat(id, "c")),
    ]);
    expect(ids).toEqual([id, id, id]);
    expect((await history.load(id)).title).toBe("c");
  });

  test("is removed", async () => {
    const { history, file } = await home();
    const id = await history.save(chat(newChatId()));
    await history.remove(id);
    expect(existsSync(file(id))).toBe(false);
    expect(await history.list()).toEqual([]);
    await expect(history.remove(id)).rejects.toThrow(`There is no stored conversation "${id}".`);
  });

  test("loses targets that a file must not add to a command line", async () => {
    const { history, file } = await home();
    const id = await history.save(chat(newChatId()));
    writeFileSync(file(id), readFileSync(file(id), "utf8").replace('["orders"]', '["orders","--yes","--","sh"]'));
    expect((await history.load(id)).targets).toEqual(["orders"]);
  });
});

test("nothing is created until a conversation is saved", async () => {
  const { history, folder } = await home();
  expect(await history.list()).toEqual([]);
  await expect(history.load("last")).rejects.toThrow("There is no stored conversation.");
  expect(existsSync(folder)).toBe(false);
});

describe("two processes with the same conversation", () => {
  test("both keep their messages: the later save becomes a new conversation", async () => {
    const { history, surroundings } = await home();
    const id = await history.save(chat(newChatId(), "start"));
    const other = new ChatHistory(surroundings);
    await other.load(id);
    expect(await history.save(chat(id, "first"))).toBe(id);
    const copy = await other.save(chat(id, "second"));
    expect(copy).not.toBe(id);
    expect([(await history.load(id)).title, (await history.load(copy)).title]).toEqual(["first", "second"]);
  });

  test("use one new conversation for all later saves of the old id", async () => {
    const { history, surroundings } = await home();
    const id = await history.save(chat(newChatId(), "start"));
    const other = new ChatHistory(surroundings);
    const copy = await other.save(chat(id, "second"));
    expect(await other.save(chat(id, "third"))).toBe(copy);
    expect(await other.save(chat(copy, "fourth"))).toBe(copy);
    expect((await history.list()).map(({ title }) => title).toSorted()).toEqual(["fourth", "start"]);
  });

  test("lose nothing if they save at the same time", async () => {
    const { history, surroundings } = await home();
    const id = await history.save(chat(newChatId(), "start"));
    const processes = Array.from({ length: 8 }, () => new ChatHistory(surroundings));
    await Promise.all(processes.map((one) => one.load(id)));
    const ids = await Promise.all(processes.map((one, index) => one.save(chat(id, `process ${index}`))));
    const titles = await Promise.all(ids.map(async (saved) => (await history.load(saved)).title));
    expect(titles).toEqual(processes.map((_, index) => `process ${index}`));
  });

  test("continue after a crash during a save", async () => {
    const { history, folder } = await home();
    const id = await history.save(chat(newChatId(), "start"));
    for (const name of [`.${id}.lock`, ".crashed.tmp"]) {
      writeFileSync(join(folder, name), "");
      utimesSync(join(folder, name), 1, 1);
    }
    expect(await history.save(chat(id, "next"))).toBe(id);
    expect(readdirSync(folder)).toEqual([`${id}.json`]);
  });

  test("write a conversation again that another one has deleted", async () => {
    const { history, surroundings } = await home();
    const id = await history.save(chat(newChatId()));
    await new ChatHistory(surroundings).remove(id);
    expect(await history.save(chat(id, "again"))).toBe(id);
    expect((await history.load(id)).title).toBe("again");
  });
});

describe("the list", () => {
  test("has the newest conversation first, without the messages", async () => {
    const { history } = await home();
    const [old, recent] = [newChatId(), newChatId()];
    await history.save(chat(recent, "recent", 5000));
    await history.save(chat(old, "old", 3000));
    const { conversation: _, ...summary } = chat(recent, "recent", 5000);
    const list = await history.list();
    expect(list[0]).toEqual(summary);
    expect(list.map(({ id }) => id)).toEqual([recent, old]);
  });

  test("leaves out damaged files, and reads files that were formatted", async () => {
    const { history, file } = await home();
    const formatted = await history.save(chat(newChatId()));
    writeFileSync(file(formatted), JSON.stringify(JSON.parse(readFileSync(file(formatted), "utf8")), null, 2));
    writeFileSync(file("aaaaaaaaaa"), "{");
    expect((await history.list()).map(({ id }) => id)).toEqual([formatted]);
  });
});

describe("limits", () => {
  test("keeps 200 conversations by default, and deletes the oldest", async () => {
    const { history, folder, file, surroundings } = await home();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const ids = Array.from({ length: 200 }, () => newChatId());
    for (const [index, id] of ids.entries()) {
      writeFileSync(file(id), "{}", { mode: 0o600 });
      utimesSync(file(id), 1000 + index, 1000 + index);
    }
    const stored = (): string[] => ids.filter((id) => existsSync(file(id)));
    const own = await history.save(chat(newChatId()));
    expect([readdirSync(folder).length, existsSync(file(own))]).toEqual([200, true]);
    expect(stored()).toEqual(ids.slice(1));
    await new ChatHistory(surroundings).save(chat(own, "copy of another process"));
    expect([readdirSync(folder).length, existsSync(file(own))]).toEqual([200, true]);
    expect(stored()).toEqual(ids.slice(2));
  });

  test("never deletes a conversation that this process uses", async () => {
    const { surroundings, file } = await home({ maxChats: 2 });
    const history = new ChatHistory(surroundings);
    const used = await history.save(chat(newChatId()));
    const unused = await new ChatHistory(surroundings).save(chat(newChatId()));
    utimesSync(file(used), 1, 1);
    utimesSync(file(unused), 2, 2);
    await history.save(chat(newChatId()));
    expect([existsSync(file(used)), existsSync(file(unused))]).toEqual([true, false]);
  });

  test("refuses a conversation one byte over the limit, and keeps the stored one", async () => {
    const { surroundings, history, file } = await home();
    const id = await history.save(chat(newChatId(), "12345"));
    const maxBytes = statSync(file(id)).size;
    const limited = new ChatHistory({ ...surroundings, maxBytes });
    await limited.load(id);
    expect(await limited.save(chat(id, "54321"))).toBe(id);
    const tooLarge = { ...chat(id, "54321"), conversation: conversation("543210") };
    await expect(limited.save(tooLarge)).rejects.toThrow(
      expect.objectContaining({
        name: "UsageError",
        message: `The conversation has ${maxBytes + 1} bytes, and at most ${maxBytes} are stored. It was not stored.`,
        hint: "The chat goes on. /save FILE writes it to a file.",
      }),
    );
    expect((await limited.load(id)).title).toBe("54321");
    await expect(new ChatHistory({ ...surroundings, maxBytes: maxBytes - 1 }).load(id)).rejects.toThrow("the limit is");
  });
});

describe("a damaged file", () => {
  const valid = { version: 1, id: "aaaaaaaaaa", createdAt: 1, updatedAt: 1, title: "t", targets: [], conversation: {} };
  test.each([
    ["{", "it is not a JSON object"],
    ["[]", "it is not a JSON object"],
    [JSON.stringify({ ...valid, version: 2 }), "it has version 2, and this command reads version 1"],
    [JSON.stringify({ ...valid, id: 7 }), '"id" is not a text'],
    [JSON.stringify({ ...valid, title: null }), '"title" is not a text'],
    [JSON.stringify({ ...valid, model: 1 }), '"model" is not a text'],
    [JSON.stringify({ ...valid, updatedAt: "now" }), '"createdAt" or "updatedAt" is not a time'],
    [JSON.stringify({ ...valid, targets: [1] }), '"targets" is not a list of texts'],
    [JSON.stringify({ ...valid, conversation: [] }), "it has no conversation"],
  ])("is refused with the reason and the cure: %s", async (text, reason) => {
    const { history, folder, file } = await home();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file("aaaaaaaaaa"), text, { mode: 0o600 });
    await expect(history.load("aaaa")).rejects.toThrow(
      expect.objectContaining({
        name: "UsageError",
        message: `The stored conversation ${file("aaaaaaaaaa")} cannot be read: ${reason}.`,
        hint: "Repair the file, or delete it to remove the conversation.",
      }),
    );
  });
});

describe.skipIf(uid !== 0)("files that cannot be trusted", () => {
  test("a file that others can write is refused", async () => {
    const { history, file } = await home();
    const id = await history.save(chat(newChatId()));
    chmodSync(file(id), 0o602);
    await expect(history.load(id)).rejects.toThrow("can be written by other users (mode 602)");
    await expect(history.save(chat(id))).rejects.toThrow("can be written by other users (mode 602)");
  });

  test("a file or a folder of another user is refused", async () => {
    const { surroundings, history, folder, file } = await home();
    const id = await history.save(chat(newChatId()));
    chownSync(file(id), 12_345, 0);
    await expect(history.load(id)).rejects.toThrow("belongs to another user (uid 12345)");
    chownSync(folder, 12_345, 0);
    await expect(new ChatHistory(surroundings).list()).rejects.toThrow("belongs to another user (uid 12345)");
  });

  test("a link is refused", async () => {
    const { history, folder, file } = await home();
    const id = await history.save(chat(newChatId()));
    symlinkSync(file(id), file("aaaaaaaaaa"));
    await expect(history.load("aaaaaaaaaa")).rejects.toThrow("is a symbolic link");
    chmodSync(folder, 0o777);
    await expect(history.load(id)).rejects.toThrow("can be written by other users (mode 777)");
    await expect(history.save(chat(id))).rejects.toThrow("can be written by other users (mode 777)");
  });
});

describe("the title", () => {
  test("is the start of the first text of the user, on one line and without control characters", () => {
    const messages = [
      { role: "system" as const, content: "Be short." },
      {
        role: "user" as const,
        content: [{ type: "text" as const, text: "of a server", from: { server: "a", name: "b" } }],
      },
      { role: "user" as const, content: `Cancel\n order\u001b 7, ${"and ".repeat(40)}` },
    ];
    expect(titleOf(messages)).toMatch(/^Cancel order\\x1b 7, and (?:and )+a?n?d?…$/);
    expect(titleOf(messages).length).toBe(60);
    expect(titleOf([])).toBe("untitled");
  });
});
