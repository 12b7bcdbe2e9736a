// @ts-check
import { hostileText, units } from "../../tests/hostile/texts.mjs";
import { fail, job } from "../load/job.mjs";
import { residentOf, resetPeak } from "./resident.mjs";

/** The sizes of a text in MiB, the largest first. */
const sizes = [8, 4, 2, 1, 0.25];
/** CPU time in milliseconds below which a text was refused for its length, so that a shorter one can take longer. */
const refused = 1;

/** CPU time in milliseconds after which the other texts are not measured. */
const tooLong = 3_000;

/**
 * The program that reads all hostile texts with one function. It reports the CPU time of the text that took the longest, also for its
 * shorter forms, and the largest peak of memory beyond the text itself.
 */
try {
  const { readers } = await import(job.file);
  const reader = readers.find((/** @type {{ name: string }} */ { name }) => name === job.name);
  if (!reader) throw new Error(`There is no reader "${job.name}".`);
  const read = await reader.load();
  // The code is compiled, as in a process that has read other texts.
  for (const unit of Object.values(units)) await read(hostileText({ unit }, 1_000));
  let worst = { cpu: 0, cpu4: 0, cpu2: 0, cpu1: 0, heap: 0 };
  let text = "";
  for (const around of reader.around ?? [{}]) {
    for (const [name, unit] of Object.entries(units)) {
      // The parent waits for each message a limited time.
      process.send?.({ isRunning: true });
      const times = new Map();
      for (const size of sizes) {
        const { cpu, heap } = await measure(read, hostileText({ ...around, unit }, size * 2 ** 20));
        if (times.size === 0) globalThis.gc?.();
        times.set(size, cpu);
        if (cpu > tooLong) throw new Error(`${name} take ${cpu.toFixed(0)} ms.`);
        worst.heap = Math.max(worst.heap, heap);
        if (cpu > refused && (size <= 1 || cpu < worst.cpu)) break;
      }
      const cpu = Math.max(...times.values());
      if (cpu <= worst.cpu) continue;
      const [cpu4 = NaN, cpu2 = NaN, cpu1 = NaN] = [4, 2, 1].map((size) => times.get(size));
      worst = { ...worst, cpu, cpu4, cpu2, cpu1 };
      text = `${around.head ?? ""}(${name})${around.tail ?? ""}`;
    }
  }
  process.send?.({ text, sample: worst });
} catch (error) {
  fail(error);
}

/** @param {(text: string) => unknown} read @param {string} text */
async function measure(read, text) {
  resetPeak();
  const { rss } = process.memoryUsage();
  const before = process.cpuUsage();
  await read(text);
  const { user, system } = process.cpuUsage(before);
  const peak = residentOf()?.peak ?? process.resourceUsage().maxRSS * 1024;
  return { cpu: (user + system) / 1_000, heap: Math.max(0, peak - rss) / 2 ** 20 };
}
