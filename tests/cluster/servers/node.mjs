// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { redisStore } from "@mcparley/redis";
import { LocalError } from "mcparley";
import { listen } from "mcparley/node";
import { ToolError, createServer, resource, tool } from "mcparley/server";
import { asTask, tasks } from "mcparley/tasks";
import { createClient } from "redis";
import { z } from "zod";

/**
 * One of the processes that share a store.
 *
 * Environment: PORT; REDIS_URL, without which there is no store; WHO=1 authenticates callers by a header; LEASE,
 * milliseconds after which another process takes over a dead process's tasks; MAX_RUNNING, the number of tasks that may run in
 * it; NAME, the server's name. A server with another name than `cluster` has a tool more, and starts its results with its
 * name.
 */
const { PORT, REDIS_URL, WHO, LEASE = "3000", MAX_RUNNING = "1000", NAME = "cluster" } = process.env;
const isOther = NAME !== "cluster";
/** @param {string} text */
const signed = (text) => (isOther ? `${NAME}: ${text}` : text);
const redis =
  REDIS_URL === undefined ? undefined : redisStore({ client: await connectRedis(REDIS_URL), timeout: 3_000 });
const steps = { until: 0, left: Infinity, ms: 0 };
const store = redis && losingTasks(redis);

const add = tool({ input: z.object({ a: z.number(), b: z.number() }), call: ({ a, b }) => signed(String(a + b)) });

const count = tool({
  description: "Counts, and tells how far it has come.",
  input: z.object({ to: z.number(), pause: z.number().default(0) }),
  call: async ({ to, pause: ms }, ctx) => {
    for (let n = 1; n <= to; n++) {
      ctx.progress(n, to);
      if (ms > 0) await pause(ms, undefined, { signal: ctx.signal });
    }
    return signed(`counted to ${to}`);
  },
});

const ask = tool({
  description: "Asks for a word.",
  input: z.object({ tag: z.string() }),
  call: async ({ tag }, ctx) => {
    const { word } = await ctx.elicit({ message: `A word for ${tag}?`, schema: z.object({ word: z.string() }) });
    return signed(`${tag} is ${word}`);
  },
});

const think = tool({
  input: z.object({ tag: z.string() }),
  call: async ({ tag }, ctx) => {
    const messages = [
      { role: /** @type {const} */ ("user"), content: { type: /** @type {const} */ ("text"), text: tag } },
    ];
    const { content } = await ctx.sample({ messages, maxTokens: 10 });
    const [first] = [content].flat();
    return first?.type === "text" ? signed(first.text) : "";
  },
});

const change = tool({
  description: "Tells everyone that a note has changed.",
  input: z.object({ id: z.string() }),
  call: ({ id }) => {
    server.resources.updated(`note://${id}`);
    return "told";
  },
});

const job = tool({
  description: "Takes a while.",
  input: z.object({ tag: z.string(), steps: z.number(), pause: z.number() }),
  extensions: [asTask({ runAgain: true })],
  call: async ({ tag, steps, pause: ms }, ctx) => {
    for (let n = 1; n <= steps; n++) {
      ctx.progress(n, steps, `${tag} ${n}`);
      await pause(ms, undefined, { signal: ctx.signal });
    }
    return signed(`${tag} is done`);
  },
});

const hold = tool({
  description: "Holds a place for a task until it is cancelled.",
  extensions: [asTask({ support: "required" })],
  call: (_, ctx) =>
    new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason))),
});

const outage = tool({
  description: "Makes the store unavailable for tasks, a number of operations from now.",
  input: z.object({ after: z.number(), ms: z.number() }),
  call: ({ after, ms }) => {
    Object.assign(steps, { left: after, ms, until: 0 });
    return "armed";
  },
});

const keep = tool({
  description: "Keeps a value under a key, for as long as the test takes.",
  input: z.object({ key: z.string(), value: z.string() }),
  call: ({ key, value }) =>
    inStore(async (kept) => {
      await kept.set(`kept:${key}`, value, { ttl: 3_600_000 });
      return "kept";
    }),
});

const recall = tool({
  input: z.object({ key: z.string() }),
  call: ({ key }) => inStore(async (kept) => (await kept.get(`kept:${key}`)) ?? "nothing"),
});

const who = tool({ call: (_, ctx) => `${ctx.principal?.subject ?? "nobody"} at ${process.pid}` });

const note = resource("note://{id}", { mimeType: "text/plain", read: ({ id }) => `Note ${id}` });

const multiply = tool({ input: z.object({ a: z.number(), b: z.number() }), call: ({ a, b }) => signed(String(a * b)) });

const server = createServer({
  name: NAME,
  version: "1.0.0",
  tools: { add, count, ask, think, change, job, hold, outage, keep, recall, who, ...(isOther && { multiply }) },
  resources: { note },
  ...(store && { store }),
  extensions: [tasks({ pollIntervalMs: 200, lease: Number(LEASE), maxRunning: Number(MAX_RUNNING) })],
  // The same for all of them.
  stateKeys: [new Uint8Array(32).fill(7)],
  onError: (error) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`),
});

/** @param {{ header(name: string): string | undefined }} request */
const caller = (request) => {
  const subject = /^Bearer (\w+)$/.exec(request.header("authorization") ?? "")?.[1];
  return subject === undefined ? undefined : { issuer: "https://as.example", subject, scopes: [] };
};

const listening = await listen(server, {
  port: Number(PORT),
  ...(WHO && { auth: caller }),
  sessions: { max: 100_000 },
  keepAlive: 5_000,
});
process.stdout.write(`${listening.url}\n`);
process.once("SIGTERM", () => void listening.close().then(() => process.exit(0)));

/** @template T @param {(kept: import("mcparley/server").Store) => Promise<T>} act */
async function inStore(act) {
  if (!store) throw new ToolError("There is no store.");
  try {
    return await act(store);
  } catch (error) {
    // The request may have been executed; a repetition has no further effect.
    if (error instanceof LocalError) throw new ToolError("The store is out of reach. Try again.", { cause: error });
    throw error;
  }
}

/**
 * A store whose operations on tasks fail while the tool `outage` is active. The first one that fails is done, and only its reply
 * is lost.
 *
 * @param {import("mcparley/server").Store} whole
 * @returns {import("mcparley/server").Store}
 */
function losingTasks(whole) {
  return new Proxy(whole, {
    get:
      (_, /** @type {keyof typeof whole} */ member) =>
      async (/** @type {string} */ name, /** @type {never[]} */ ...rest) => {
        const act = /** @type {(...given: unknown[]) => Promise<unknown>} */ (whole[member]);
        if (!name?.includes(":task")) return act.call(whole, name, ...rest);
        if (steps.left-- === 0) {
          steps.until = Date.now() + steps.ms;
          const done = await act.call(whole, name, ...rest);
          // A subscription whose reply is lost does not exist.
          if (typeof done === "function") await done();
        } else if (Date.now() >= steps.until) return act.call(whole, name, ...rest);
        throw new LocalError("store_unavailable", "The store was made unavailable.");
      },
  });
}

/** @param {string} url */
async function connectRedis(url) {
  const client = createClient({ url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
