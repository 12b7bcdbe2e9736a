import { supportedVersions } from "mcparley";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Where, connectFirst, connectSecond } from "../../interop/official-clients.ts";
import { type Speaker, answered, connectOurs, textOf } from "./conversation.ts";
import { deploy } from "../servers/deployment.mjs";
import { type RedisServer, startRedis, untilTrue } from "../servers/redis.mjs";

let redis: RedisServer;
let deployment: Awaited<ReturnType<typeof deploy>>;

beforeAll(async () => {
  redis = await startRedis();
  deployment = await deploy({ env: () => ({ REDIS_URL: redis.url }) });
});
afterAll(async () => {
  await deployment.end();
  await redis.end();
});

interface Kind {
  name: string;
  connect: () => Promise<Speaker>;
  /** Features that the revision lacks. */
  lacks?: readonly ("questions" | "tasks")[];
}

const where = (): Where => ({ url: deployment.url });
const ours: Kind[] = supportedVersions
  .filter((revision) => revision !== "2024-10-07")
  .map((revision) => ({
    name: `our client, ${revision}`,
    connect: () => connectOurs(deployment.url, { revision }),
    lacks: revision < "2025-06-18" ? ["questions"] : [],
  }));
const kinds: Kind[] = [
  ...ours,
  { name: "the official client (v1)", connect: () => connectFirst(where()) },
  { name: "the official client (v2), legacy revision", connect: () => connectSecond(where(), "legacy") },
  { name: "the official client (v2), modern revision", connect: () => connectSecond(where(), "modern") },
];

describe.each(kinds)("$name, through three processes", ({ connect, lacks = [] }) => {
  let client: Speaker;

  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  test("requests reach different processes, and all results are correct", async () => {
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["add", "ask", "count", "job"]));
    const seen = new Set<string>();
    for (let n = 0; n < 9; n++) {
      expect(textOf(await client.callTool("add", { a: n, b: 100 }))).toBe(String(n + 100));
      seen.add(textOf(await client.callTool("who", {})));
    }
    expect(seen.size).toBe(3);
    expect((await client.readResource("note://7")).contents).toMatchObject([{ text: "Note 7" }]);
  });

  test("simultaneous calls receive their own results", async () => {
    const sums = await Promise.all(Array.from({ length: 50 }, (_, n) => client.callTool("add", { a: n, b: n })));
    expect(sums.map(textOf)).toEqual(sums.map((_, n) => String(n + n)));
  });

  test("receives all progress in order before the result", async () => {
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
    expect(textOf(await client.callTool("count", { to: 20, pause: 2 }, { onprogress }))).toBe("counted to 20");
    expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  test.skipIf(lacks.includes("questions"))(
    "answers elicitation forms, whichever process receives the answers",
    async () => {
      const tags = Array.from({ length: 6 }, (_, n) => `tag ${n}`);
      const results = await Promise.all(tags.map((tag) => client.callTool("ask", { tag })));
      expect(results.map(textOf)).toEqual(tags.map((tag) => `${tag} is ${answered.word}`));
    },
  );

  test("answers sampling", async () => {
    for (let n = 0; n < 3; n++) {
      expect(textOf(await client.callTool("think", { tag: "guide" }))).toBe(answered.thought);
    }
  });

  test("cancels a call, and can be used afterwards", async () => {
    const controller = new AbortController();
    const onprogress = (): void => controller.abort();
    const call = client.callTool("count", { to: 1_000, pause: 20 }, { onprogress, signal: controller.signal });
    await expect(call).rejects.toThrow();
    expect(textOf(await client.callTool("add", { a: 1, b: 1 }))).toBe("2");
  });

  test("completes a job, as a task if the revision has tasks", async () => {
    expect(textOf(await client.callTool("job", { tag: "it", steps: 5, pause: 20 }))).toBe("it is done");
  });

  test("receives each change once, whichever process made it", async () => {
    const id = crypto.randomUUID();
    let received = 0;
    await client.watch(`note://${id}`, () => received++);
    for (let sent = 1; sent <= 6; sent++) {
      expect(textOf(await client.callTool("change", { id }))).toBe("told");
      await untilTrue(async () => received >= sent);
    }
    expect(received).toBe(6);
  });
});

test("requests of 2026-07-28 do not use the store", async () => {
  const client = await connectOurs(deployment.url, { revision: "2026-07-28" });
  onTestFinished(() => client.close());
  const admin = await createClient({ url: redis.url }).connect();
  onTestFinished(() => admin.destroy());
  const begun = async (): Promise<number> =>
    Number(/total_commands_processed:(\d+)/.exec(await admin.info("stats"))?.[1]);
  const before = await begun();
  for (let n = 0; n < 300; n++) await client.callTool("add", { a: n, b: n });
  // The processes renew their leases and poll for messages from time to time.
  expect((await begun()) - before).toBeLessThan(100);
});

test("clients of a killed process continue with the others, and the restarted process serves requests again", async () => {
  const clients = await Promise.all(kinds.map(({ connect }) => connect()));
  onTestFinished(async () => void (await Promise.all(clients.map((client) => client.close()))));
  for (const index of [0, 1, 2]) {
    await deployment.kill(index);
    for (const client of clients) expect(textOf(await client.callTool("add", { a: 1, b: 2 }))).toBe("3");
    await deployment.restart(index);
    for (const client of clients) expect(textOf(await client.callTool("add", { a: 2, b: 2 }))).toBe("4");
  }
});
