// @ts-check
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "mcparley/client";

/** @import { Client, ConnectOptions, ConnectTarget } from "mcparley/client" */

/**
 * A conversation with each of the five example servers. It is the same for all libraries, and throws if the server behaves
 * differently. `opened` connects a client that is closed after the conversation.
 *
 * @typedef {{ program: string; revision: string }} Served
 *
 * @typedef {(target: ConnectTarget, options?: ConnectOptions) => Promise<Client>} Connect
 * @type {Record<string, (served: Served, opened: Connect) => Promise<void>>}
 */
const conversations = {
  async hello(served, opened) {
    const client = await opened(started(served), { revision: served.revision });
    assert.equal(await client.callTool("hello", { name: "Ada" }), "Hello, Ada!");
    await assert.rejects(client.callTool("hello", { name: 7 }));
  },

  async weather(served, opened) {
    const api = await weatherApi();
    try {
      const client = await opened(started(served, { WEATHER_API: api.url }), { revision: served.revision });
      /** @type {number[]} */
      const reports = [];
      const onProgress = (/** @type {{ progress: number }} */ { progress }) => void reports.push(progress);
      const forecast = await client.callTool("forecast", { city: "Oslo" }, { onProgress });
      assert.deepEqual(forecast, { celsius: [4, 5, 6] });
      assert.deepEqual(reports, [1, 2, 3]);
      await assert.rejects(client.callTool("forecast", { city: "Atlantis" }), /There is no forecast for "Atlantis"\./);
      await assert.rejects(client.callTool("forecast", { city: "Oslo", days: 8 }));
      const controller = new AbortController();
      const call = client.callTool("forecast", { city: "Slow" }, { signal: controller.signal });
      await api.waiting;
      controller.abort();
      await assert.rejects(call);
      await api.aborted;
    } finally {
      api.close();
    }
  },

  async travel(served, opened) {
    const client = await opened(started(served), { revision: served.revision });
    const { messages } = await client.getPrompt("packing", { city: "Oslo" });
    assert.deepEqual(messages, [
      { role: "user", content: { type: "text", text: "What should I pack for a weekend in Oslo?" } },
    ]);
    const ofPrompt = await client.complete({ type: "ref/prompt", name: "packing" }, { name: "city", value: "Ber" });
    assert.deepEqual(ofPrompt.values, ["Bergen", "Berlin"]);
    const template = /** @type {const} */ ({ type: "ref/resource", uri: "guide://{city}" });
    const ofTemplate = await client.complete(template, { name: "city", value: "O" });
    assert.deepEqual(ofTemplate.values, ["Oslo"]);
    const { contents } = await client.readResource("guide://Oslo");
    assert.equal(/** @type {{ text: string }} */ (contents[0]).text, "The guide of Oslo.");
  },

  async restaurant(served, opened) {
    /** @type {string[]} */
    const questions = [];
    const client = await opened(started(served), {
      revision: served.revision,
      elicit: ({ message }) => {
        questions.push(message);
        return { action: "accept", content: questions.length === 1 ? { guests: 4 } : { outside: true } };
      },
    });
    assert.equal(await client.callTool("book", { date: "2026-12-04" }), "Booked 4 seats outside on 2026-12-04.");
    assert.deepEqual(questions, ["How many guests on 2026-12-04?", "Should the 4 guests sit outside?"]);
  },

  async whoami({ program, revision }, opened) {
    const port = await freePort();
    const env = { ...process.env, PORT: String(port), MCP_KEY: key };
    const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "exit");
    try {
      const origin = `http://127.0.0.1:${port}`;
      const page = await reached(`${origin}/`, child);
      assert.equal(await page.text(), "Connect to /mcp.");
      const url = `${origin}/mcp`;
      await assert.rejects(connect(url, { revision }), { code: "unauthorized" });
      const wrong = { authorization: "Bearer another-key-of-the-same-size" };
      await assert.rejects(connect({ url, headers: wrong }, { revision }), { code: "unauthorized" });
      const client = await opened({ url, headers: { authorization: `Bearer ${key}` } }, { revision });
      assert.equal(await client.callTool("whoami"), "You are alice.");
    } finally {
      child.kill();
      await ended;
    }
  },
};

const key = "a-random-key-for-the-comparison";

/**
 * Runs the conversation of a server, and closes its clients.
 *
 * @param {string} server
 * @param {Served} served
 */
export async function converse(server, served) {
  /** @type {Client[]} */
  const clients = [];
  const opened = async (/** @type {ConnectTarget} */ target, /** @type {ConnectOptions | undefined} */ options) => {
    const client = await connect(target, options);
    clients.push(client);
    return client;
  };
  try {
    const conversation = conversations[server];
    if (!conversation) throw new Error(`There is no conversation with ${server}.`);
    await conversation(served, opened);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

/** @param {Served} served @param {Record<string, string>} env */
function started({ program }, env = {}) {
  return { command: process.execPath, args: [program], env };
}

/**
 * A weather service: 4, 5, 6 ... degrees in Oslo, no answer for Slow, and 404 for all other cities. `waiting` resolves at the first request for
 * Slow, and `aborted` when that request is closed by its client.
 */
async function weatherApi() {
  const events = new EventEmitter();
  const waiting = once(events, "waiting");
  const aborted = once(events, "aborted");
  const http = createServer((request, response) => {
    const [, city, day] = (request.url ?? "").split("/");
    if (city === "Slow") {
      response.once("close", () => events.emit("aborted"));
      events.emit("waiting");
    } else if (city === "Oslo") response.end(String(Number(day) + 3));
    else response.writeHead(404).end();
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (http.address());
  const close = () => {
    http.close();
    http.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, waiting, aborted, close };
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, "close");
  return port;
}

/**
 * Requests a page until the server listens. Throws if the program ends, with the end of its stderr.
 *
 * @param {string} url
 * @param {import("node:child_process").ChildProcessByStdio<null, null, import("node:stream").Readable>} child
 */
async function reached(url, child) {
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}. ${stderr.slice(-500)}`);
    try {
      return await fetch(url);
    } catch {
      await delay(50);
    }
  }
}
