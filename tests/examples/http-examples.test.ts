import { connect } from "mcparley/client";
import { oauth } from "mcparley/auth";
import { followTasks, tasksOf } from "mcparley/tasks";
import { afterEach, describe, expect, test } from "vitest";
import { browserOf } from "../auth/browser.ts";
import { signInWith } from "../auth/sign-in-with.ts";
import { type RunningExample, argumentsOf, freePort, runExample } from "./run-example.ts";

const running: RunningExample[] = [];
afterEach(async () => {
  for (const { child, exited } of running.splice(0)) {
    child.kill("SIGKILL");
    await exited;
  }
});

/** Starts the server of an example. Returns the URL that it prints. */
async function serve(program: string, env: Record<string, string> = {}): Promise<RunningExample & { url: string }> {
  const example = runExample(argumentsOf(program), { PORT: "0", ...env });
  running.push(example);
  return { ...example, url: await example.printed(/Listening on (http\S+?)\.?\s/) };
}

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

describe("api-keys", () => {
  const keys = { READER_KEY: "key-of-the-reader-1", EDITOR_KEY: "key-of-the-editor-2" };

  test("a key decides which tools a caller sees and calls", async () => {
    const { url } = await serve("api-keys/server.ts", keys);
    const reader = await connect(url, bearer(keys.READER_KEY));
    const editor = await connect(url, bearer(keys.EDITOR_KEY));
    expect((await reader.listTools().all()).map(({ name }) => name)).toEqual(["read_note"]);
    expect(await editor.callTool("write_note", { title: "milk", text: "Buy milk." })).toBe('editor wrote "milk".');
    expect(await reader.callTool("read_note", { title: "milk" })).toBe("Buy milk.");
    await expect(reader.callTool("write_note", { title: "milk", text: "" })).rejects.toThrow();
    await reader.close();
    await editor.close();
  });

  test("a request without a key is refused", async () => {
    const { url } = await serve("api-keys/server.ts", keys);
    await expect(connect(url)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("a key that is not set is made at random and printed", async () => {
    const { url, output } = await serve("api-keys/server.ts", { READER_KEY: "", EDITOR_KEY: "" });
    const [, key = ""] = /READER_KEY=(\S{43})/.exec(output()) ?? [];
    const client = await connect(url, bearer(key));
    expect(await client.callTool("read_note", { title: "welcome" })).toContain("API keys");
    await client.close();
  });
});

test("oauth: a user signs in, reads with the first token, and grants another scope when a tool needs it", async () => {
  const { url } = await serve("oauth/server.ts", { PORT: await freePort() });
  const alice = browserOf({ user: "alice" });
  const client = await connect(url, { auth: oauth({ signIn: signInWith(alice) }) });
  expect(await client.callTool("list_notes")).toBe("There are no notes.");
  expect(alice.submitted).toEqual(["login", "consent"]);
  expect(await client.callTool("add_note", { text: "Buy milk." })).toBe("Added. alice has 1 notes.");
  expect(alice.submitted).toEqual(["login", "consent", "consent"]);
  expect(await client.callTool("list_notes")).toBe("Buy milk.");
  await client.close();

  const bob = await connect(url, { auth: oauth({ signIn: signInWith(browserOf({ user: "bob" })) }) });
  expect(await bob.callTool("list_notes")).toBe("There are no notes.");
  await bob.close();
});

describe("long-task", () => {
  const video = { file: "holiday.mov", minutes: 2 };

  test.each(["2025-11-25", "2026-07-28"])(
    "a client without tasks waits and receives progress, on %s",
    async (revision) => {
      const { url } = await serve("long-task/server.ts");
      const client = await connect(url, { revision });
      const steps: (string | undefined)[] = [];
      const result = client.callTool("convert_video", video, { onProgress: ({ message }) => steps.push(message) });
      expect(await result).toBe("Converted holiday.mov.");
      expect(steps).toEqual(["Converted 1 of 2 minutes", "Converted 2 of 2 minutes"]);
      await client.close();
    },
  );

  test("a client with tasks receives a task, and can cancel it", async () => {
    const { url } = await serve("long-task/server.ts");
    const client = await connect(url, { extensions: [followTasks()] });
    const { task } = await tasksOf(client).start("convert_video", { ...video, minutes: 600 });
    await tasksOf(client).cancel(task!.taskId);
    await expect.poll(async () => (await tasksOf(client).get(task!.taskId)).status).toBe("cancelled");
    expect(await client.callTool("convert_video", video)).toBe("Converted holiday.mov.");
    await client.close();
  });
});
