// @ts-check
import { readFileSync, writeFileSync } from "node:fs";
import { hostileCases } from "../../tests/json-schema/hostile-cases.mjs";
import { fail, job } from "../load/job.mjs";

/** The program that validates one hostile value once, and reports CPU time and peak memory beyond the value's own. */
try {
  const { file, name } = job;
  const { compileJsonSchema } = await import(file);
  const found = hostileCases.find((one) => one.name === name);
  if (!found) throw new Error(`There is no hostile case "${name}".`);
  const validate = compileJsonSchema(found.schema);
  // The value is parsed, so that its strings and objects have the memory layout of a request.
  const value = JSON.parse(JSON.stringify(found.value()));
  globalThis.gc?.();
  globalThis.gc?.();
  resetPeak();
  const memory = process.memoryUsage();
  const before = process.cpuUsage();
  const { issues } = validate(value);
  const { user, system } = process.cpuUsage(before);
  const heap = process.memoryUsage().heapUsed - memory.heapUsed;
  const resident = peak() - memory.rss;
  const isExhausted = issues?.length === 1 && String(issues[0].message).includes("too complex");
  if (!isExhausted && (issues === undefined) !== found.valid) throw new Error("The verdict is wrong.");
  const sample = {
    cpu: (user + system) / 1_000,
    heap: Math.max(heap, resident, 0) / 2 ** 20,
    exhausted: Number(isExhausted),
  };
  process.send?.(sample);
} catch (error) {
  fail(error);
}

/** Resets the kernel's record of the peak. On other systems than Linux the peak since the start of the process is used. */
function resetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Without the reset the figure is too high, and never too low.
  }
}

/** Returns the peak resident memory in bytes. */
function peak() {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    if (kibibytes !== undefined) return Number(kibibytes) * 1024;
  } catch {
    // The system is not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}
