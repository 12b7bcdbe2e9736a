import { PassThrough } from "node:stream";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type Client, connect, forgetRevisions } from "../../packages/mcparley/src/client.ts";
import { skill } from "../../packages/mcparley/src/extensions/skills/server/skill.ts";
import { skills } from "../../packages/mcparley/src/extensions/skills/server/skills.ts";
import { skillsOf } from "../../packages/mcparley/src/extensions/skills/client/skills-of.ts";
import { listen } from "../../packages/mcparley/src/node/listen.ts";
import { type Server, createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { streamTransport } from "../../packages/mcparley/src/stdio/stream-transport.ts";
import type { Transport } from "../../packages/mcparley/src/rpc/transport.ts";

afterEach(forgetRevisions);

const manifest = "---\nname: large\ndescription: Has large files.\n---\n";
/** A skill of exactly 16 MiB, which is the limit that every host supports. */
const bytes = new Uint8Array(16 * 1024 * 1024 - manifest.length).map((_, at) => at * 31);
/** Text that is twice as long in JSON. */
const quotes = '"\n'.repeat(bytes.length / 2);

function serverOf(content: Uint8Array | string, events: boolean): Server {
  const server = createServer({
    name: "s",
    version: "1",
    extensions: [skills({ large: skill({ "SKILL.md": manifest, "archive.zip": content }) })],
  });
  // Progress before the reply turns the response into an event stream.
  return events ? server.use((call, next) => (call.progress(1), next())) : server;
}

const pipes = (server: Server, maxLineBytes?: number): Transport => {
  const [there, back] = [new PassThrough(), new PassThrough()];
  void server.attach(streamTransport(there, back));
  return streamTransport(back, there, maxLineBytes === undefined ? {} : { maxLineBytes });
};

async function urlOf(server: Server, path: string): Promise<string> {
  const listening = await listen(server, { port: 0, legacySse: true });
  onTestFinished(() => listening.close());
  return listening.url.replace(/\/mcp$/, path);
}

type Way = (content: Uint8Array | string, revision: string) => Promise<Client>;

const ways: Record<string, Way> = {
  memory: (content, revision) => connect(serverOf(content, false), { revision }),
  stdio: (content, revision) => connect(pipes(serverOf(content, false)), { revision }),
  "HTTP, JSON": async (content, revision) => connect(await urlOf(serverOf(content, false), "/mcp"), { revision }),
  "HTTP, event stream": async (content, revision) =>
    connect(await urlOf(serverOf(content, true), "/mcp"), { revision }),
};

const cases = Object.keys(ways).flatMap((way) =>
  ["2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28"].map((revision) => [way, revision] as const),
);

test.each(cases.filter(([way, revision]) => revision !== "2024-11-05" || !way.startsWith("HTTP")))(
  "over %s with revision %s a file of 16 MiB is read",
  async (way, revision) => {
    const client = await ways[way]!(bytes, revision);
    onTestFinished(() => client.close());
    await expectRead(client, bytes);
  },
);

test.each(Object.keys(ways))("over %s a text of 16 MiB is read that is twice as long in JSON", async (way) => {
  const client = await ways[way]!(quotes, "2026-07-28");
  onTestFinished(() => client.close());
  await expectRead(client, quotes);
});

test("over HTTP+SSE all files of two skills of 16 MiB are read at the same time", async () => {
  const part = bytes.subarray(0, 2 * 1024 * 1024 - manifest.length);
  const files = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`${at}.bin`, part]));
  const of = (name: string) => skill({ "SKILL.md": manifest.replace("large", name), ...files });
  const server = createServer({ name: "s", version: "1", extensions: [skills({ a: of("a"), b: of("b") })] });
  const client = await connect(await urlOf(server, "/sse"), { revision: "2024-11-05" });
  onTestFinished(() => client.close());
  const host = skillsOf(client, { approve: () => true });
  const loaded = await Promise.all(["a", "b"].map((name) => host.load(`skill://${name}/SKILL.md`)));
  const read = await Promise.all(loaded.flatMap((one) => (one.files ?? []).map((file) => one.read(file))));
  expect(read).toHaveLength(18);
});

test.each([
  ["bytes", bytes],
  ["text with many escapes", quotes],
])("over HTTP+SSE a file of 16 MiB is read: %s", async (_, content) => {
  const client = await connect(await urlOf(serverOf(content, false), "/sse"), { revision: "2024-11-05" });
  onTestFinished(() => client.close());
  await expectRead(client, content);
});

const pathOf = (way: string): string => (way === "HTTP+SSE" ? "/sse" : "/mcp");

describe.each(["stdio", "HTTP", "HTTP+SSE"])("the limit of 16 MiB over %s", (way) => {
  const revision = way === "HTTP+SSE" ? "2024-11-05" : "2026-07-28";

  async function clientOf(server: Server, limit?: number): Promise<Client> {
    const target =
      way === "stdio"
        ? pipes(server, limit)
        : { url: await urlOf(server, pathOf(way)), ...(limit !== undefined && { limits: { message: limit } }) };
    const client = await connect(target, { revision });
    onTestFinished(() => client.close());
    return client;
  }

  test("holds for every other reply, also after a large file was read", async () => {
    const server = serverOf(bytes, false);
    server.tools.set("large", tool({ call: () => "x".repeat(17 * 1024 * 1024) }));
    server.tools.set("small", tool({ call: () => "small" }));
    const client = await clientOf(server);
    await expectRead(client, bytes);
    await expect(client.callTool("large")).rejects.toMatchObject({ code: expect.stringMatching(/too_large|closed/) });
    expect(await client.callTool("small")).toBe("small");
  });

  test("holds for skills too if the user has configured it", async () => {
    const client = await clientOf(serverOf(bytes, false), 16 * 1024 * 1024);
    await expect(expectRead(client, bytes)).rejects.toMatchObject({ code: expect.stringMatching(/too_large|closed/) });
  });

  test("a read that is aborted fails at once, and the connection can be used again", async () => {
    const client = await clientOf(serverOf(bytes, false));
    const loaded = await skillsOf(client, { approve: () => true }).load("skill://large/SKILL.md");
    const abort = new AbortController();
    const reading = loaded.read("archive.zip", { signal: abort.signal });
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
    await expectRead(client, bytes);
  });

  test("a read fails if the client is closed meanwhile", async () => {
    const client = await clientOf(serverOf(bytes, false));
    const loaded = await skillsOf(client, { approve: () => true }).load("skill://large/SKILL.md");
    const reading = loaded.read("archive.zip");
    const [outcome] = await Promise.allSettled([reading, client.close()]);
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "closed" } });
  });
});

async function expectRead(client: Client, content: Uint8Array | string): Promise<void> {
  const loaded = await skillsOf(client, { approve: () => true }).load("skill://large/SKILL.md");
  const read = await loaded.read("archive.zip");
  expect(read.isVerified).toBe(true);
  expect(Buffer.from(read.bytes).equals(Buffer.from(content as string))).toBe(true);
}
