// @ts-check
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { connect } from "mcparley/client";
import { openSession, post, requestOf, token } from "./messages.mjs";

/**
 * @import { Client, Progress } from "mcparley/client"
 * @import { Wire } from "./wire.mjs"
 *
 * @typedef {object} Target a program that is running, and the revision to use with it
 * @property {string} url
 * @property {Wire} wire
 * @property {string} revision
 * @property {boolean} isModern
 * @property {boolean} compresses
 */

const endless = { pages: 10_000 };
/** Milliseconds for one check. A check without a result in this time has failed. */
const limit = 20_000;

/**
 * The checks of a program. Each throws if it fails. Those with "session" use the revisions with sessions only.
 *
 * @type {Readonly<Record<string, (target: Target) => Promise<void>>>}
 */
export const checks = {
  /** Finds the revision, and lists the tools. */
  tools: (target) =>
    withClient(target, async (client) => {
      assert.equal(client.server.revision, target.revision);
      const tools = await client.listTools().all();
      assert.deepEqual(tools.map(({ name }) => name).toSorted(), ["add", "clear", "copy", "state", "whoami"]);
    }),

  /** The first event of a call that does not end arrives, and all events of another one. */
  progress: (target) =>
    withClient(target, async (client) => {
      await untilFirstProgress(client);
      /** @type {number[]} */
      const seen = [];
      const onProgress = (/** @type {Progress} */ { progress }) => void seen.push(progress);
      assert.equal(await client.callTool("copy", { pages: 3 }, { onProgress }), "Copied 3 pages.");
      assert.deepEqual(seen, [1, 2, 3]);
    }),

  /** The handler ends after its call is cancelled. */
  cancel: (target) =>
    withClient(target, async (client) => {
      const before = (await client.callTool("state")).running;
      await untilFirstProgress(client, async () => assert.equal((await client.callTool("state")).running, before + 1));
      await until(async () => (await client.callTool("state")).running === before);
    }),

  /** A legacy call continues after its client has disconnected. On Workers, `waitUntil` keeps it alive. */
  async detach(target) {
    if (target.isModern) return;
    const session = await openSession(target);
    const before = await copiedIn(target);
    const params = { name: "copy", arguments: { pages: 10 }, _meta: { progressToken: "p" } };
    const call = post({ jsonrpc: "2.0", id: 2, method: "tools/call", params }, session);
    const disconnect = await target.wire.start(new URL(target.url).pathname, call);
    disconnect();
    await until(async () => (await copiedIn(target)) === before + 1);
  },

  /** The user is asked during a call, and the answer arrives. */
  elicit: async (target) => {
    for (const [action, text] of /** @type {const} */ ([
      ["decline", "The notes were kept."],
      ["accept", "All notes were deleted."],
    ])) {
      const elicit = () => (action === "accept" ? { action, content: {} } : { action });
      await withClient(target, async (client) => assert.equal(await client.callTool("clear"), text), { elicit });
    }
  },

  /** A subscriber is notified of a change that another client causes. */
  listen: (target) =>
    withClient(target, (listener) =>
      withClient(target, async (client) => {
        const events = new EventEmitter();
        const change = once(events, "change");
        const subscription = await listener.listen(
          { uris: ["notes://all"] },
          (event) => void events.emit("change", event),
        );
        await client.callTool("add", { text: "Buy milk." });
        assert.deepEqual(await change, [{ kind: "updated", uri: "notes://all" }]);
        const { contents } = await listener.readResource("notes://all");
        assert.match(String("text" in (contents[0] ?? {}) && /** @type {any} */ (contents[0]).text), /Buy milk\./);
        await subscription.close();
      }),
    ),

  /** DELETE ends a session: the next request with its id is answered with 404. Modern revisions have no sessions. */
  async end(target) {
    if (target.isModern) return;
    const { wire, url } = target;
    const { pathname } = new URL(url);
    const session = await openSession(target);
    assert.ok("mcp-session-id" in session, "The server opened no session.");
    const ended = await wire.send(pathname, { method: "DELETE", headers: { ...token, ...session } });
    assert.ok([200, 204].includes(ended.status), `DELETE is answered with ${ended.status}: ${ended.text}`);
    const ping = post({ jsonrpc: "2.0", id: 2, method: "ping" }, session);
    assert.equal((await wire.send(pathname, ping)).status, 404);
  },

  /** The user of the framework is the principal. */
  user: (target) =>
    withClient(target, async (client) => assert.equal(await client.callTool("whoami"), "You are alice.")),

  /** A request without credentials is answered with 401. */
  async "HTTP 401"(target) {
    const { wire, url, revision } = target;
    const { headers, body } = requestOf(target);
    const { authorization: _, ...anonymous } = headers;
    const answer = await wire.send(new URL(url).pathname, { headers: anonymous, body });
    assert.equal(answer.status, 401, answer.text);
    assert.match(String(answer.headers["www-authenticate"]), /^Bearer/);
    await assert.rejects(connect({ url, fetch: wire.fetch }, { revision }), { code: "unauthorized" });
  },

  /** A foreign name in `Host` or `Origin` is answered with 403. */
  async "HTTP 403"(target) {
    const { pathname } = new URL(target.url);
    const { headers, body } = requestOf(target);
    for (const foreign of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
      const answer = await target.wire.send(pathname, { headers: { ...headers, ...foreign }, body });
      assert.equal(answer.status, 403, `${JSON.stringify(foreign)} is answered with ${answer.status}.`);
    }
    const named = await target.wire.send(pathname, { headers: { ...headers, host: "notes.example.com" }, body });
    assert.equal(named.status, 200, named.text);
  },

  /** A body of 5 MiB is answered with 413. */
  async "HTTP 413"(target) {
    const { headers, body } = requestOf(target);
    const padded = body.replace("{", `{"padding":"${"x".repeat(5 * 1024 * 1024)}",`);
    const { pathname } = new URL(target.url);
    const init = { headers, body: padded };
    // Some frameworks close the connection before the body was sent. The response may then be lost, except if nothing is sent.
    const sent = target.wire.send(pathname, init).then(({ status }) => status);
    assert.equal(await sent.catch(() => target.wire.announce(pathname, init)), 413);
  },

  /** The framework answers other paths. */
  async "HTTP 404"(target) {
    const { headers, body } = requestOf(target);
    const { status, text } = await target.wire.send("/elsewhere", { headers, body });
    assert.equal(status, 404, text);
    assert.ok(!text.includes("jsonrpc"), text);
  },

  /** Middleware that compresses does so with whole responses, so that "progress" proves something. */
  async gzip(target) {
    if (!target.compresses || !target.isModern) return;
    const { headers, body } = requestOf(target);
    const { pathname } = new URL(target.url);
    const whole = await target.wire.send(pathname, { headers: { ...headers, "accept-encoding": "gzip" }, body });
    assert.equal(whole.headers["content-encoding"], "gzip");
  },
};

/**
 * Ends a program with SIGTERM while a client has a subscription. The program must end by itself, with its status.
 *
 * @param {Target} target @param {() => Promise<number | null>} stop @param {number} [status]
 */
export async function checkStop(target, stop, status = 0) {
  await withClient(target, async (client) => {
    await client.listen({ uris: ["notes://all"] }, () => {});
    assert.equal(await stop(), status);
  });
}

/** Runs a check with its time limit. Returns the reason of a failure. @param {(target: Target) => Promise<void>} check @param {Target} target @returns {Promise<string | undefined>} */
export async function runCheck(check, target) {
  const timer = new AbortController();
  const late = wait(limit, undefined, { signal: timer.signal }).then(() => assert.fail(`No result in ${limit} ms.`));
  try {
    await Promise.race([check(target), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    timer.abort();
    await late.catch(() => {});
  }
}

/**
 * @param {Target} target @param {(client: Client) => Promise<void>} use
 * @param {NonNullable<Parameters<typeof connect>[1]>} [options]
 */
async function withClient({ url, wire, revision, isModern }, use, options = {}) {
  // Modern clients negotiate, as most do.
  const client = await connect(
    { url, headers: token, fetch: wire.fetch },
    { ...options, revision: isModern ? "auto" : revision },
  );
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

/** Cancels a call that never ends, when its first report of progress arrives. @param {Client} client @param {() => Promise<void>} [use] */
async function untilFirstProgress(client, use = async () => {}) {
  const cancelled = new AbortController();
  const events = new EventEmitter();
  const first = once(events, "progress");
  const onProgress = () => void events.emit("progress");
  const call = client.callTool("copy", endless, { onProgress, signal: cancelled.signal });
  const rejected = assert.rejects(call, { code: "aborted" });
  await Promise.race([first, rejected.then(() => assert.fail("The call ended without progress."))]);
  await use();
  cancelled.abort();
  await rejected;
}

/** Resolves once a condition is met. @param {() => Promise<boolean>} condition */
async function until(condition) {
  const end = Date.now() + limit;
  while (!(await condition())) {
    assert.ok(Date.now() < end, "The condition was not met.");
    await wait(20);
  }
}

/** @param {Target} target */
async function copiedIn(target) {
  let copied = 0;
  await withClient(target, async (client) => void ({ copied } = await client.callTool("state")));
  return copied;
}
