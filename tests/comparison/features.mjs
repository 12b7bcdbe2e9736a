// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { connect } from "mcparley/client";

/**
 * Facts about a server, found by using it over HTTP: each row of the table in `docs/start/why-mcparley.md` that a program can
 * decide. The values are the cells of the table.
 *
 * @typedef {{ name: string; find: (url: string) => Promise<string> }} Feature
 * @type {readonly Feature[]}
 */
const features = [
  { name: "Revisions over HTTP", find: revisionsOf },
  { name: "Elicitation up to 2025-11-25", find: (url) => asks(url, ["2025-11-25", "2025-06-18"]) },
  { name: "Elicitation on 2026-07-28", find: (url) => asks(url, ["2026-07-28"]) },
  { name: "Foreign `Host` on loopback", find: (url) => outcomeOf(url, { host: "evil.example.com" }) },
  { name: "Foreign `Origin` on loopback", find: (url) => outcomeOf(url, { origin: "https://evil.example.com" }) },
  { name: "Body of 20 MiB", find: (url) => outcomeOf(url, {}, 20 * 1024 * 1024) },
  { name: "Error text of a failed tool reaches the client", find: leaks },
  { name: "Result that does not match `outputSchema`", find: sendsWrongResult },
];

/** Returns the facts about the server of a program, by name. @param {string} program @returns {Promise<Record<string, string>>} */
export async function featuresOf(program) {
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  try {
    const [url] = /** @type {[string]} */ (
      await Promise.race([
        once(createInterface(child.stdout), "line"),
        ended.then(([code]) => Promise.reject(new Error(`${program} ended with ${code}.`))),
      ])
    );
    /** @type {Record<string, string>} */
    const found = {};
    for (const { name, find } of features) found[name] = await find(url);
    return found;
  } finally {
    child.kill();
    await ended;
  }
}

const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/** @param {string} url */
async function revisionsOf(url) {
  const supported = [];
  for (const revision of revisions) {
    const works = await use(url, { revision }, (client) => client.callTool("echo", { text: "a" })).catch(
      () => undefined,
    );
    if (works === "a") supported.push(revision);
  }
  return supported.length === revisions.length ? `all ${supported.length}` : supported.join(", ");
}

/** Whether a tool can ask the user on one of the revisions. @param {string} url @param {readonly string[]} revisions */
async function asks(url, revisions) {
  const elicit = () => ({ action: /** @type {const} */ ("accept"), content: { name: "Ada" } });
  for (const revision of revisions) {
    const answer = await use(url, { revision, elicit }, (client) => client.callTool("ask")).catch(() => undefined);
    if (answer === "Hello Ada") return "yes";
  }
  return "no";
}

/** @param {string} url */
async function leaks(url) {
  const failure = await use(url, {}, (client) => client.callTool("fail")).catch((error) => error);
  if (!(failure instanceof Error)) throw new Error(`The tool "fail" of ${url} did not fail.`);
  return JSON.stringify([failure.message, failure]).includes("secret") ? "yes" : "no";
}

/** @param {string} url */
async function sendsWrongResult(url) {
  // The client would check the result too, so its observer of the transport is `fetch`.
  let sent = "";
  const observed = async (/** @type {any} */ input, /** @type {any} */ init) => {
    const response = await fetch(input, init);
    if (!String(init?.body).includes("tools/call")) return response;
    sent = await response.text();
    return new Response(sent, response);
  };
  await use({ url, fetch: observed }, {}, (client) => client.callTool("wrong")).catch(() => undefined);
  return sent.includes('"three"') && !sent.includes('"isError":true') && !sent.includes('"error"') ? "sent" : "refused";
}

/**
 * Whether a raw request for `initialize` is accepted.
 *
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {number} padding bytes of white space in front of the message
 */
async function outcomeOf(url, headers, padding = 0) {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: "1" } };
  const body = " ".repeat(padding) + JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const sent = request(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
  });
  /** @type {Promise<string>} */
  const outcome = new Promise((resolve) => {
    sent.once("response", ({ statusCode = 0 }) => resolve(statusCode < 400 ? "accepted" : "refused"));
    // A server may close the connection before all of a refused body is sent.
    sent.on("error", () => resolve("refused"));
  });
  sent.end(body);
  const status = await outcome;
  sent.destroy();
  return status;
}

/**
 * @template T
 * @param {any} target
 * @param {import("mcparley/client").ConnectOptions} options
 * @param {(client: import("mcparley/client").Client) => Promise<T>} work
 */
async function use(target, options, work) {
  const client = await connect(target, { timeout: { idle: 30_000 }, ...options });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
