// @ts-check
import { hostileText, units } from "../../tests/hostile/texts.mjs";
import { fail, job } from "../load/job.mjs";
import { residentOf, resetPeak } from "./resident.mjs";

/** @typedef {{ around: { head?: string, tail?: string }, name: string, unit: string, size: number, cpu: number, heap: number }} Measured */

/** Bytes of the texts that are all measured. The shorter ones are below limits of the length, which the longer ones exceed. */
const smallSizes = [2 ** 14, 2 ** 18];
/** Bytes of the longest text, if the reader receives texts of any length. */
const defaultMaxBytes = 2 ** 23;
/** The number of texts that are measured with the full length: the worst ones of each small length. */
const longTexts = 2;
/** CPU time in milliseconds after which the other texts are not measured. */
const tooLong = 10_000;

/**
 * The program that reads hostile texts with one function. It measures short forms of all texts, and long forms of those that took the
 * longest. It reports the CPU time of the text that took the longest, also for its shorter forms, and the largest peak of memory beyond
 * the text itself.
 */
try {
  const { readers } = await import(job.file);
  const reader = readers.find((/** @type {{ name: string }} */ { name }) => name === job.name);
  if (!reader) throw new Error(`There is no reader "${job.name}".`);
  const read = await reader.load();
  const { maxBytes = defaultMaxBytes, around = [{}] } = reader;
  // The code is compiled, as in a process that has read other texts.
  for (const unit of Object.values(units)) await read(hostileText({ unit }, 1_000));
  const texts = around.flatMap((/** @type {{ head?: string, tail?: string }} */ ends) =>
    Object.entries(units).map(([name, unit]) => ({ around: ends, name, unit })),
  );
  /** @type {Measured[]} */
  const all = [];
  /** @type {Set<Measured>} */
  const worst = new Set();
  for (const size of smallSizes.filter((small) => small <= maxBytes)) {
    const measured = [];
    for (const text of texts) measured.push(await measure(read, text, size));
    all.push(...measured);
    for (const one of measured.toSorted((a, b) => b.cpu - a.cpu).slice(0, longTexts)) worst.add(one);
  }
  for (const text of worst) all.push(await measure(read, text, maxBytes));
  const longest = all.reduce((first, second) => (second.cpu > first.cpu ? second : first));
  const [half, quarter, eighth] = await shorter(read, longest);
  const sample = { cpu: longest.cpu, half, quarter, eighth, heap: Math.max(...all.map(({ heap }) => heap)) };
  const { head = "", tail = "" } = longest.around;
  process.send?.({ text: `${head}(${longest.name})${tail}`, bytes: longest.size, sample });
} catch (error) {
  fail(error);
}

/** Returns the CPU times of shorter forms of a text. @param {(text: string) => unknown} read @param {Measured} longest */
async function shorter(read, longest) {
  const times = [];
  for (const part of [2, 4, 8]) times.push((await measure(read, longest, longest.size / part)).cpu);
  return times;
}

/** @param {(text: string) => unknown} read @param {Pick<Measured, "around" | "name" | "unit">} parts @param {number} size @returns {Promise<Measured>} */
async function measure(read, { around, name, unit }, size) {
  // The parent waits for each message a limited time.
  process.send?.({ isRunning: true });
  const text = hostileText({ ...around, unit }, size);
  resetPeak();
  const { rss } = process.memoryUsage();
  const before = process.cpuUsage();
  await read(text);
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1_000;
  const peak = residentOf()?.peak ?? process.resourceUsage().maxRSS * 1024;
  if (cpu > tooLong) throw new Error(`${name} of ${size} bytes take ${cpu.toFixed(0)} ms.`);
  if (size > 2 ** 18) globalThis.gc?.();
  return { around, name, unit, size, cpu, heap: Math.max(0, peak - rss) / 2 ** 20 };
}
