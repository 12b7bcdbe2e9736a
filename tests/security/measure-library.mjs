// @ts-check
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connect } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { z } from "zod";

/*
 * Measures what one call costs a server whose tool takes an array of a zod union of 30 objects. These are the figures of
 * docs/servers/input-schemas.md. Run it after a build: node --expose-gc tests/security/measure-library.mjs
 */

const numbers = Array.from({ length: 30 }, (_, index) => index);
/** @param {number} number @param {number} count of properties beside `kind` */
const object = (number, count) => {
  const texts = Array.from({ length: count }, (_, index) => [`text${number}_${index}`, z.string()]);
  return z.object({ kind: z.literal(`kind ${number}`), ...Object.fromEntries(texts) });
};
const small = numbers.map((number) => object(number, number === 29 ? 0 : 1));
const large = numbers.map((number) => object(number, number === 29 ? 0 : 50));
/** @param {number} length */
const empty = (length) => Array.from({ length }, () => ({}));
/** Items that match the last object only. @param {number} length */
const last = (length) => Array.from({ length }, () => ({ kind: "kind 29" }));

/** @type {[name: string, union: z.ZodObject[], items: object[]][]} */
const cases = [
  ["2 properties, values below the threshold", small, empty(540)],
  ["2 properties, items that pass the JSON Schema", small, last(4000)],
  ["51 properties, values below the threshold", large, empty(30)],
  ["51 properties, items that pass the JSON Schema", large, last(600)],
];

const chosen = cases[Number(process.argv[2] ?? -1)];
if (chosen) await measure(chosen);
else {
  // Each in a process of its own, because the largest resident set is that of a whole process.
  for (const index of cases.keys()) {
    spawnSync(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), String(index)], { stdio: "inherit" });
  }
}

/** @param {typeof cases[number]} chosen */
async function measure([name, union, items]) {
  const input = z.object({ items: z.array(z.union(union)) });
  const server = createServer({ name: "t", version: "1.0.0", tools: { t: tool({ input, call: () => "accepted" }) } });
  const client = await connect(server);
  await client.callToolResult("t", { items: items.slice(0, 2) });
  globalThis.gc?.();
  const [cpu, { maxRSS }] = [process.cpuUsage(), process.resourceUsage()];
  const { isError = false } = await client.callToolResult("t", { items });
  const { user, system } = process.cpuUsage(cpu);
  const memory = process.resourceUsage().maxRSS - maxRSS;
  const figures = `${JSON.stringify({ items }).length} bytes, ${((user + system) / 1000).toFixed(0)} ms of CPU`;
  process.stdout.write(`${name}: ${figures}, ${(memory / 1024).toFixed(0)} MiB, tool error: ${String(isError)}\n`);
  await client.close();
}
