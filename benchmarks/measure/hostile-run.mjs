// @ts-check
import { hostileCases } from "../../tests/json-schema/hostile-cases.mjs";
import { fail, job } from "../load/job.mjs";
import { residentOf, resetPeak } from "./resident.mjs";

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
  // On other systems than Linux this is the peak since the start of the process, which is too high and never too low.
  const peak = residentOf()?.peak ?? process.resourceUsage().maxRSS * 1024;
  const resident = peak - memory.rss;
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
