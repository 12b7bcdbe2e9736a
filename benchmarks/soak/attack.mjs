// @ts-check
import { once, setMaxListeners } from "node:events";
import { createServer } from "node:net";
import { callAttackers } from "./attackers/calls.mjs";
import { connectionAttackers } from "./attackers/connections.mjs";
import { sessionAttackers } from "./attackers/sessions.mjs";
import { Site } from "./attackers/site.mjs";
import { streamAttackers } from "./attackers/streams.mjs";

/** @import { Attacker } from "./attackers/site.mjs" */

/**
 * The counts of one attacker.
 *
 * @typedef {object} Attacked
 * @property {string} name
 * @property {string} address
 * @property {readonly string[]} reaches
 * @property {number} waves
 * @property {Record<string, number>} counts
 * @property {Record<string, number>} peaks The highest number of "sessions" or "streams" that were open at a time.
 * @property {readonly string[]} sessions Ids of its newest sessions.
 * @property {Record<string, number>} surprises
 */

/*
 * Attacks the soak's server at the port of the first argument, until "stop" arrives from the parent process. Sends "ready" before the attack, and its counts after it. It is a
 * process of its own, so that its work does not slow down the ordinary visitors.
 */

const all = [...sessionAttackers, ...streamAttackers, ...callAttackers, ...connectionAttackers];
const ending = new AbortController();
// Each pause of an attacker listens for the end.
setMaxListeners(0, ending.signal);
process.on("message", (message) => {
  if (message === "stop") ending.abort();
});
process.on("disconnect", () => process.exit());

const addresses = all.map((_, index) => `127.0.0.${index + 2}`);
for (const address of addresses) await requireAddress(address);
process.send?.("ready");
const reports = await Promise.all(all.map((attacker, index) => run(attacker, String(addresses[index]))));
process.send?.(reports);

/** Throws if this machine cannot connect from an address. @param {string} address */
async function requireAddress(address) {
  const probe = createServer().listen(0, address);
  try {
    await once(probe, "listening");
  } catch (cause) {
    const cure = `On macOS, run: sudo ifconfig lo0 alias ${address} up. Or use --without-attack.`;
    throw new Error(`This machine has no address ${address} to attack from. ${cure}`, { cause });
  }
  probe.close();
}

/** @param {Attacker} attacker @param {string} address @returns {Promise<Attacked>} */
async function run(attacker, address) {
  const site = new Site({ port: Number(process.argv[2]), address, attacker, signal: ending.signal });
  const { name, reaches } = attacker;
  try {
    const wave = attacker.prepare(site);
    while (!site.isOver) {
      await wave();
      site.waves++;
      await site.pause(attacker.pause);
    }
  } catch (error) {
    site.surprise(`stopped: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { waves, counts, peaks, sessions, surprises } = site;
  return { name, address, reaches, waves, counts, peaks, sessions, surprises };
}
