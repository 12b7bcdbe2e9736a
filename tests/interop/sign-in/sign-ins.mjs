// @ts-check
import { createServer } from "node:net";
import { once } from "node:events";
import { clients } from "./clients.mjs";
import { startIssuer } from "./issuers.mjs";

/**
 * @import { Issuer, RunningIssuer } from "./issuers.mjs"
 * @import { ByHand } from "./clients.mjs"
 */

/** A step of a conversation. @typedef {"sign-in" | "call" | "renewal" | "sign-out"} Step */

/**
 * One of our clients at an issuer that announces these methods.
 *
 * @typedef {object} SignIn
 * @property {string} client
 * @property {string} registration `dynamic`, or `by hand, METHOD`
 * @property {readonly string[]} methods
 */

/** The outcome: the failure of the step that failed, or the reason why it was not run. @typedef {SignIn & { issuer: string, failed?: { step: Step, reason: string }, notRun?: string }} SignInRow */

const [post, basic] = ["client_secret_post", "client_secret_basic"];
const orders = [
  [post, basic],
  [basic, post],
];
/** The methods by which a client that registers itself must use each method. */
const announced = [...orders, [basic], ["none", post, basic], [basic, post, "none"]];

/** All conversations with one issuer. @returns {SignIn[]} */
export function signIns() {
  const registrations = [
    ...announced.map((methods) => ({ registration: "dynamic", methods })),
    ...["none", post, basic].flatMap((method) =>
      orders.map((methods) => ({ registration: `by hand, ${method}`, methods })),
    ),
  ];
  return Object.keys(clients).flatMap((client) => registrations.map((one) => ({ client, ...one })));
}

/** Runs all conversations with one issuer. @param {Issuer} issuer @param {string} tools @returns {Promise<SignInRow[]>} */
export async function runSignIns(issuer, tools) {
  const running = await startIssuer(issuer, tools);
  try {
    /** @type {SignInRow[]} */
    const rows = [];
    for (const signIn of signIns())
      rows.push({ issuer: issuer.name, ...signIn, ...(await runSignIn(signIn, running)) });
    return rows;
  } finally {
    running.close();
  }
}

/** @param {SignIn} signIn @param {RunningIssuer} issuer @returns {Promise<Pick<SignInRow, "failed">>} */
async function runSignIn({ client: name, registration, methods }, { url, control }) {
  await control({ methods, reset: true, expire: true });
  const byHand = await registerByHand(registration, control);
  const open = clients[name];
  if (!open) throw new Error(`There is no client ${name}.`);
  const client = await open(url, byHand);
  /** @type {Step} */
  let step = "sign-in";
  try {
    await client.signIn();
    step = "call";
    expectEqual(await client.call(), "3", "the result");
    step = "renewal";
    await control({ expire: true });
    expectEqual(await client.call(), "3", "the result");
    expectEqual(client.visits(), 1, "the number of opened pages");
    step = "sign-out";
    expectEqual(await client.signOut(), "revoked", "the outcome");
    const { registrations, tokenRequests, accessTokens } = await control();
    expectEqual(accessTokens, 0, "the number of valid tokens");
    expectEqual(registrations, byHand ? 0 : 1, "the number of registrations");
    // A client by hand tries the other method once, if the announced order suggests the wrong one.
    if (tokenRequests > (byHand ? 3 : 2)) throw new Error(`The token endpoint received ${tokenRequests} requests.`);
    return {};
  } catch (error) {
    return { failed: { step, reason: error instanceof Error ? error.message : String(error) } };
  } finally {
    await client.close();
  }
}

/** @param {string} registration @param {RunningIssuer["control"]} control @returns {Promise<ByHand>} */
async function registerByHand(registration, control) {
  const [, method] = registration.split(", ");
  if (method === undefined) return undefined;
  const id = `by-hand-${method}`;
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  await control({ client: { id, method, redirectUri } });
  return { id, redirectUri, ...(method !== "none" && { secret: `secret-of-${id}` }) };
}

/** Returns a port of this machine that is free. @returns {Promise<number>} */
async function freePort() {
  const listening = createServer().listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (listening.address());
  listening.close();
  await once(listening, "close");
  return port;
}

/** @param {string | number} value @param {string | number} expected @param {string} name */
function expectEqual(value, expected, name) {
  if (value !== expected) throw new Error(`Expected ${name} to be ${expected}, got ${value}.`);
}

/** Returns one line for each issuer, client and registration. @param {readonly SignInRow[]} rows */
export function signInTable(rows) {
  return rows
    .map(({ issuer, client, registration, methods, failed, notRun }) => {
      const outcome = notRun === undefined ? (failed ? `FAIL at the ${failed.step}` : "ok") : `not run: ${notRun}`;
      return [client.padEnd(8), issuer.padEnd(19), registration.padEnd(28), methods.join(" ").padEnd(44), outcome].join(
        "  ",
      );
    })
    .join("\n");
}
